"""The programs of examples/, to their end: on the desk, and on the emulated Pico with their chips on its pins."""

import os
import re
import subprocess

import pytest

from tools import deploy_build, environment
from tools.pico import firmware
from tools.pico.available import needs_pico, on_the_pico

ROOT = environment.ROOT
# What a run prints among other things, wherever it runs: regular expressions.
EXPECTED = {
    "calibration": (r"calibration is now b'\\x124Vx'", "the transaction saw the same in both"),
    "contention": (r"sensor: \d+ readings, \d+ missed", r"~end \d+"),
    "conversion": ("second has 21.50 C", "the expander was written while a conversion ran"),
    "display_sd": (r"block 103 is right, and [1-9]\d* frames meanwhile", "chip selects left active: 0, errors: 0"),
    "flash_display": (
        r"log: sector 1 is right; [1-9]\d* frames while it was erased",
        r"settings: sector 2 is right; [1-9]\d* frames while it was erased",
    ),
    "gps_and_modem": (
        r"modem  AT\+COPS\? \['\+COPS: 0,0,\"net\"', 'OK'\]",
        r"modem  AT\+WHAT \['ERROR'\]",
        r"[1-9]\d* positions meanwhile",
    ),
    "modbus_master": (
        "node 18 failed: rs485: silence for 100 ms after 0 bytes",
        r"node 1(?P<n>[789]) \[1(?P=n)00, 1(?P=n)01, 1(?P=n)02\]",  # in real time: a busy desk answers others too late
        r"silences \d+, invalid replies \d+",
    ),
    "multiplexer": (r"behind channel 0: \['0x48'\]", "inside   18.00 C", "outside  31.50 C"),
    "other_core": ("interrupt asked: pressure 101325", "other core asked: pressure 101325"),
    "read_registers": ("thermometer: one conversion", "21.50 C", "0x0117", "missed its deadline of 100 ms", "101325"),
    "recovery": ("failed: .*timed out", "pressure 101325\nrecoveries: 1"),
    "stepper_drivers": (
        "driver 2 failed: steppers: an invalid reply",
        *(f"driver {n}: version 0x21, current 16/32" for n in range(4)),
    ),
    "thermometer_eeprom": ("228 bytes written, read back the same", "thermometer: 21.50 C, read while"),
    "unmodified_driver": ("temperature 21.5", "NotCovered: i2c0/0x48 is in use by task 'main'"),
}
WITHOUT_A_FLAG = ("no ThreadSafeFlag here",)  # what other_core says on CPython, and with Adafruit's asyncio
# rp2040py has the RP2040's first core only: the program runs as on a port without threads, its interrupt asks.
ON_THE_PICO = {"other_core": ('import sys\nsys.modules["_thread"] = None\n', EXPECTED["other_core"][:1])}


def seen(expected, done: subprocess.CompletedProcess) -> None:
    assert done.returncode == 0, done.stdout + done.stderr
    for pattern in expected:
        assert re.search(pattern, done.stdout), f"{pattern!r} is not in\n{done.stdout}{done.stderr}"


def test_no_example_is_forgotten():
    assert sorted(path.stem for path in (ROOT / "examples").glob("*.py")) == sorted(EXPECTED)


@pytest.mark.parametrize("example", EXPECTED)
@pytest.mark.parametrize("runtime", ["micropython", "micropython-adafruit", "cpython"])
def test_on_the_desk(runtime, example, request):
    if runtime != "micropython" and not request.config.getoption("--all"):
        pytest.skip("the examples run on MicroPython; on the other runtimes of the desk with --all")
    environment.ensure("demo", "adafruit")
    folders = [str(ROOT / "lib"), str(ROOT)]
    if runtime == "cpython":
        command, variables = [str(environment.python())], {"PYTHONPATH": os.pathsep.join(folders)}
    else:
        own = [str(environment.FOLDERS["adafruit"])] if runtime == "micropython-adafruit" else []
        command, variables = environment.vm(), {"MICROPYPATH": ":".join([*own, *folders, ".frozen"])}
    done = subprocess.run(
        [*command, str(ROOT / "examples" / f"{example}.py")],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        timeout=120,
    )
    seen(WITHOUT_A_FLAG if example == "other_core" and runtime != "micropython" else EXPECTED[example], done)


@pytest.mark.parametrize("example", EXPECTED)
def test_on_the_emulated_pico(example, request, tmp_path):
    """The chips that an example names in its first lines are on the pins; what breaks a chip's rules is an error."""
    needs_pico()
    if example != "read_registers" and not request.config.getoption("--all"):
        pytest.skip("examples/read_registers.py runs on the emulated Pico; the others with --all")
    before, expected = ON_THE_PICO.get(example, ("", EXPECTED[example]))
    program = tmp_path / f"{example}.py"
    program.write_text(before + (ROOT / "examples" / program.name).read_text())
    seen(expected, on_the_pico(program))


@pytest.mark.parametrize("example", EXPECTED)
def test_on_circuitpython(example, request):
    """On busio's peripherals. From sources it takes minutes each, so here they are compiled."""
    needs_pico(firmware.CIRCUITPYTHON)
    if not request.config.getoption("--all"):
        pytest.skip("examples/read_registers.py runs on CircuitPython in test_pico.py; the others with --all")
    if not os.environ.get(deploy_build.CIRCUITPYTHON_VARIABLE):
        pytest.skip(f"{deploy_build.CIRCUITPYTHON_VARIABLE} names no mpy-cross of CircuitPython")
    expected = WITHOUT_A_FLAG if example == "other_core" else EXPECTED[example]
    seen(expected, on_the_pico(ROOT / "examples" / f"{example}.py", firmware.CIRCUITPYTHON))
