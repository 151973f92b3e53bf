"""Drivers as their authors wrote them, over simulated parts: each reads what its part has.

They run in processes of their own (tests/drivers/run.py), with stand-ins of the modules that they import first on the
path, so that neither Blinka nor anything else of their world is needed.
"""

import os
import re
import subprocess
import sys

import pytest

from tools import environment

HERE = environment.ROOT / "tests" / "drivers"
LIMIT = 60

# (driver, bus, what is asked of it, where it cannot run and why)
SMBUS = {"cpython": "on CPython it wants smbus or spidev"}
MONOTONIC = {"micropython": "it wants time.monotonic(), which Unix MicroPython has not"}
DRIVERS = (
    ("micropython-sht4x", "i2c", "SHT4X(i2c).measurements", {}),
    ("micropython-ahtx0", "i2c", "AHT20(i2c).temperature, .relative_humidity", {}),
    ("micropython-mcp9808", "i2c", "MCP9808(i2c).temperature", {}),
    ("micropython-mpu9250", "i2c", "MPU9250(i2c).acceleration, .magnetic", {}),
    ("micropython-scd30", "i2c", "SCD30(i2c, 0x61).read_measurement()", {}),
    ("bme280-upy", "i2c", "await BME280(i2cBus=i2c).readForcedAsync()", SMBUS),
    ("adafruit-circuitpython-bme280", "i2c", "Adafruit_BME280_I2C(i2c).temperature, .pressure", {}),
    ("adafruit-circuitpython-sht31d", "i2c", "SHT31D(i2c).temperature, .relative_humidity", {}),
    ("adafruit-circuitpython-scd4x", "i2c", "SCD4X(i2c).CO2, .temperature, .relative_humidity", {}),
    ("adafruit-circuitpython-ads1x15", "i2c", "AnalogIn(ADS1115(i2c), n).voltage", {}),
    ("adafruit-circuitpython-mcp230xx", "i2c", "MCP23017(i2c).get_pin(3), .gpioa, .gpiob", {}),
    ("adafruit-circuitpython-ds3231", "i2c", "DS3231(i2c).temperature, .lost_power", {}),
    ("adafruit-circuitpython-tca9548a", "i2c", "SHT31D(TCA9548A(i2c)[n]).temperature", {}),
    ("adafruit-circuitpython-pn532", "i2c", "PN532_I2C(i2c).read_passive_target()", MONOTONIC),
    ("adafruit-circuitpython-ssd1306", "i2c", "SSD1306_I2C(128, 32, i2c).show()", {}),
    ("adafruit-circuitpython-bme280", "spi", "Adafruit_BME280_SPI(spi, cs).temperature, .pressure", {}),
    ("adafruit-circuitpython-max31865", "spi", "MAX31865(spi, cs).temperature", {}),
    ("adafruit-circuitpython-ssd1306", "spi", "SSD1306_SPI(128, 32, spi, dc, None, cs).show()", {}),
)
RUNTIMES = ("micropython", "cpython")
PORTS = {"micropython": "rp2,circuitpython", "cpython": "blinka,rp2"}  # a run over each
# Drivers that share an address, and those that cannot run there, are left out.
TOGETHER = [driver for driver, bus, _, _ in DRIVERS if bus == "i2c" and driver != "adafruit-circuitpython-ds3231"]


@pytest.fixture(scope="module", autouse=True)
def _installed():
    environment.ensure("demo", "drivers")


def start(runtime, *arguments):
    """The command and the environment for a program of tests/drivers."""
    folders = [HERE / "shims", environment.FOLDERS["drivers"], HERE, environment.ROOT / "lib"]
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "MICROPY"))}
    if runtime == "cpython":
        return [sys.executable, "-X", "utf8", *arguments], {**clean, "PYTHONPATH": ":".join(map(str, folders))}
    path = ":".join(map(str, [*folders, ".frozen"]))
    return [*environment.vm(), "-X", "heapsize=16M", *arguments], {**clean, "MICROPYPATH": path}


def run(runtime, *arguments, limit=LIMIT):
    command, variables = start(runtime, *map(str, arguments))
    return subprocess.run(command, env=variables, capture_output=True, text=True, timeout=limit, cwd=environment.ROOT)


def names_of(done):
    assert done.returncode == 0, done.stdout + done.stderr
    return re.findall(r"^ok (\S+)", done.stdout, re.MULTILINE)


@pytest.mark.parametrize("runtime", RUNTIMES)
@pytest.mark.parametrize(("driver", "bus", "call", "missing"), DRIVERS, ids=[f"{d[0]}-{d[1]}" for d in DRIVERS])
def test_driver(driver, bus, call, missing, runtime):
    if runtime in missing:
        pytest.skip(missing[runtime])
    assert names_of(run(runtime, HERE / "run.py", bus, PORTS[runtime], driver)) == [driver] * 2


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_many_at_once_on_one_bus(runtime):
    """A task each: whoever comes between the two halves of another's transfer spoils a reading."""
    there = {driver for driver, _, _, missing in DRIVERS if runtime not in missing}
    names = [driver for driver in TOGETHER if driver in there]
    assert len(names) >= 12
    done = run(runtime, HERE / "run.py", "i2c", PORTS[runtime], *names)
    assert names_of(done) == names * 2
    assert done.stdout.count("longest i2c/") == 2  # the one that stops the loop is named


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_many_at_once_on_one_spi(runtime):
    names = [driver for driver, bus, _, _ in DRIVERS if bus == "spi"]
    assert names_of(run(runtime, HERE / "run.py", "spi", PORTS[runtime], *names)) == names * 2


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_without_the_locks_they_spoil_each_other(runtime):
    """The parts would notice: the same tasks, with the raw object and an await inside of each transfer's pair."""
    done = run(runtime, HERE / "raw.py")
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"wrong readings: [1-9]", done.stdout), done.stdout


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_bus_device_freezes_on_a_raw_bus_and_not_on_ours(runtime):
    """Task A keeps try_lock() across an await; task B enters an adafruit_bus_device.I2CDevice."""
    with pytest.raises(subprocess.TimeoutExpired) as frozen:
        run(runtime, HERE / "freeze.py", "raw", limit=6)
    said = (frozen.value.stdout or b"").decode()
    assert "the loop runs" in said
    assert "B has read" not in said
    done = run(runtime, HERE / "freeze.py", "ours")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "B is told: i2c: task 'keeper' has the wire" in done.stdout
    assert "B has read b'\\x05'" in done.stdout


def test_every_driver_is_pinned_and_in_the_table():
    pinned = re.findall(r"^(\S+)==(\S+)", (environment.LOCKS / "drivers.txt").read_text(), re.MULTILINE)
    versions = dict(pinned)
    assert {driver for driver, *_ in DRIVERS} <= set(versions)
    table = environment.ROOT / "README.md"
    rows = re.findall(r"^\| `([a-z0-9-]+)` \| ([0-9.]+) \|", table.read_text(), re.MULTILINE)
    assert all(versions[driver] == version for driver, version in rows if driver in versions)
