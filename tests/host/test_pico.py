"""The emulated Pico: where its firmware comes from, its chips, and a few tests on it. All tests run on it with --runtime
pico or --all; the examples in test_examples.py."""

import json
import subprocess
from pathlib import Path

import pytest

from tools import environment, jobs, runtimes
from tools.pico import fat, firmware
from tools.pico.available import needs_pico, on_the_pico

ROOT = environment.ROOT
# Of tests/test_lock.py, those that say most in the least time.
A_FEW = ("test_first_come_first_served", "test_one_holder_at_a_time", "test_bad_arguments")


def uf2(family: int, contents: bytes) -> bytes:
    """An image of one block."""
    head = b"UF2\n" + bytes(24) + family.to_bytes(4, "little")
    return (head + contents.ljust(476, b"\0"))[:512]


@pytest.fixture
def no_cache(monkeypatch, tmp_path):
    monkeypatch.setattr(firmware, "CACHE", tmp_path / "cache")
    monkeypatch.delenv(firmware.VARIABLE, raising=False)
    return tmp_path


def test_without_an_image_one_line_says_how_to_get_one(no_cache):
    assert firmware.find() is None
    told = firmware.missing()
    assert told is not None and told.startswith("no firmware image: set PICO_UF2 to ")
    assert "\n" not in told


def test_the_newest_image_of_the_cache_is_taken(no_cache):
    firmware.CACHE.mkdir()
    for version in ("v1.9.4", "v1.28.0", "v1.26.1"):
        (firmware.CACHE / f"RPI_PICO-20250911-{version}.uf2").touch()
    found = firmware.find()
    assert found is not None and found.name == "RPI_PICO-20250911-v1.28.0.uf2"


def test_what_is_no_image_for_a_pico_is_refused(no_cache, monkeypatch):
    def told(contents):
        path = no_cache / f"{abs(hash(contents))}.uf2"
        path.write_bytes(contents)
        monkeypatch.setenv(firmware.VARIABLE, str(path))
        return firmware.missing() or ""

    monkeypatch.setenv(firmware.VARIABLE, "/no/such/file.uf2")
    assert firmware.missing() == "PICO_UF2 names /no/such/file.uf2, which is no file"
    assert "is not a .uf2 image" in told(b"#!/bin/sh")
    assert "another chip than the RP2040" in told(uf2(0xE48BFF59, b"MicroPython"))
    assert "is not MicroPython" in told(uf2(firmware.RP2040, b"blink"))
    assert "is not MicroPython; it is CircuitPython, for which there is PICO_CIRCUITPYTHON_UF2" in told(
        uf2(firmware.RP2040, b"Adafruit CircuitPython 10.2.1 on 2026-04-06")
    )


def test_an_image_tells_what_it_is(tmp_path):
    image = tmp_path / "firmware.uf2"
    image.write_bytes(uf2(firmware.RP2040, b"MicroPython\0v1.26.1 on 2025-09-11\0"))
    assert firmware.describe(image) == "MicroPython 1.26.1"


@pytest.mark.parametrize("runtime", ["pico", "pico-circuitpython"])
def test_a_few_tests_of_the_lock(runtime):
    """Through the harness, as --runtime does it."""
    board = runtimes.ALL[runtime]
    assert isinstance(board, runtimes.Pico)
    needs_pico(board.firmware)
    import tempfile

    from tools import assertions, testfile

    file = testfile.read(ROOT / "tests" / "test_lock.py")
    chosen = [name for name in A_FEW if name in file.tests]
    assert chosen, "tests/test_lock.py has none of the tests that were chosen; choose others"
    with tempfile.TemporaryDirectory(prefix="buslock-pico-") as folder:
        (Path(folder) / "test_lock.py").write_text(assertions.rewrite(file.source))
        request = runtimes.Request(Path(folder), file.path.parent, "test_lock", file.clock, chosen)
        job = jobs.Job(runtimes.ALL[runtime], request, time_limit=file.time_limit)
        job.run()
    assert {name: (job.result(name).outcome, job.result(name).text) for name in chosen} == dict.fromkeys(
        chosen, ("passed", "")
    )


TROUBLE = """
from support.outcome import skip

def test_passes():
    print("printed")

def test_fails():
    assert _check_("==", (1), (2), '1 == 2'), _note_()

def test_skips():
    skip("nothing to do")

BALLAST = bytearray(100_000)

def test_with_ballast():
    assert len(BALLAST) == 100_000

def test_fits_without_it():
    bytearray(130_000)

def test_fits_nowhere():
    bytearray(300_000)

def test_hangs():
    while True:
        pass
"""


def test_what_tests_report_from_the_board(tmp_path, monkeypatch):
    needs_pico()
    (tmp_path / "test_trouble.py").write_text(TROUBLE)
    monkeypatch.setattr(runtimes.ALL["pico"], "patience", 1.0)
    monkeypatch.setattr(jobs, "LOAD_LIMIT", 300.0)
    monkeypatch.setattr(jobs, "INTERRUPT_LIMIT", 30.0)
    tests = ["test_passes", "test_fails", "test_skips"]
    tests += ["test_with_ballast", "test_fits_without_it", "test_fits_nowhere", "test_hangs"]
    job = jobs.Job(
        runtimes.ALL["pico"], runtimes.Request(tmp_path, tmp_path, "test_trouble", "real", tests), time_limit=5.0
    )
    job.run()
    outcomes = ["passed", "failed", "skipped", "passed", "passed", "failed", "failed"]
    assert [job.result(test).outcome for test in tests] == outcomes
    assert "MemoryError" in job.result("test_fits_nowhere").text
    assert job.result("test_passes").output == "printed\n"
    assert "left:  1" in job.result("test_fails").text
    assert job.result("test_skips").text == "nothing to do"
    assert "did not end" in job.result("test_hangs").text
    assert "KeyboardInterrupt" in job.result("test_hangs").text, "it tells where it hangs"


CHIPS = """
import time
from machine import Pin, SoftI2C
from boards import pico

def told(f):
    start = time.ticks_us()
    try:
        r = f()
    except OSError as e:
        r = "OSError %d" % e.errno
    return r, time.ticks_diff(time.ticks_us(), start) // 1000

i2c = pico.i2c()
print("sensor", told(lambda: i2c.readfrom_mem(0x48, 0, 2)))
print("nobody", told(lambda: i2c.readfrom_mem(0x30, 0, 2)))
print("no data", told(lambda: i2c.writeto(0x51, b"abc")))
print("stretched", told(lambda: i2c.readfrom_mem(0x52, 3, 2)))
print("hangs", told(lambda: i2c.readfrom_mem(0x53, 0, 2)))
time.sleep_ms(300)
print("again", told(lambda: i2c.readfrom_mem(0x48, 0, 2)))
print("scan", [hex(a) for a in i2c.scan()])
print("bits", told(lambda: SoftI2C(sda=Pin(4), scl=Pin(5), freq=400000).readfrom_mem(0x76, 0xF7, 3))[0])
uart = pico.uart(115200)
uart.write(b"hello\\n")
time.sleep_ms(10)
print("uart", uart.read())
spi, cs, got = pico.spi(), Pin(pico.SPI_CS, Pin.OUT, value=1), bytearray(2)
spi.write_readinto(b"\\x01\\x02", got)
print("spi", got)
cs(0)
spi.write_readinto(b"\\x01\\x02", got)
cs(1)
print("spi selected", got)
"""


def test_chips_on_the_pins(tmp_path):
    """Times are those of the board: in ms, a NACK at once, 4 stretched bytes of 2 ms, and the firmware's 50 ms."""
    program = tmp_path / "chips.py"
    program.write_text(CHIPS)
    done = on_the_pico(program)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[1:] == [
        r"sensor (b'\n\xc0', 0)",
        "nobody ('OSError 5', 0)",
        "no data (0, 0)",
        r"stretched (b'\x03\x04', 10)",
        "hangs ('OSError 110', 50)",
        r"again (b'\n\xc0', 0)",
        "scan ['0x20', '0x3c', '0x48', '0x50', '0x51', '0x52', '0x53', '0x76']",
        r"bits b'\x01\x8b\xcd'",
        r"uart b'pong hello\n'",
        r"spi bytearray(b'\xff\xff')",
        r"spi selected bytearray(b'\xfe\xfd')",
    ]


@pytest.mark.parametrize("baudrate", [9600, 19200, 115200])
def test_the_drive_is_released_in_time(baudrate):
    """One character and at most half a millisecond after the last bit, in the board's time, with another task about; a node
    may answer after three and a half, or after 1.75 ms where those are less. (Garbage that is collected just then delays it.)"""
    needs_pico()
    done = subprocess.run(
        [str(environment.python()), str(ROOT / "tests" / "host" / "pico_drive.py"), str(baudrate)],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    released_us = json.loads(done.stdout)
    print(f"{baudrate} baud: DE is released {min(released_us)} to {max(released_us)} us after the last bit")
    assert len(released_us) == 12
    assert all(0 < us <= 10_000_000 / baudrate + 500 for us in released_us), released_us


def test_an_exception_of_a_program_is_shown(tmp_path):
    program = tmp_path / "wrong.py"
    program.write_text("print('so far')\nraise ValueError('and no further')\n")
    done = on_the_pico(program)
    assert done.returncode == 1
    assert "so far" in done.stdout
    assert "ValueError: and no further" in done.stderr


def test_circuitpython_needs_an_image_of_its_own(no_cache, monkeypatch):
    monkeypatch.delenv(firmware.CIRCUITPYTHON.variable, raising=False)
    told = firmware.missing(firmware.CIRCUITPYTHON) or ""
    assert told.startswith("no firmware image: set PICO_CIRCUITPYTHON_UF2 to a CircuitPython image for the Pico")
    assert "download one" not in told
    image = no_cache / "firmware.uf2"
    image.write_bytes(uf2(firmware.RP2040, b"MicroPython Adafruit CircuitPython 10.2.1 on 2026-04-06"))
    assert firmware.describe(image, firmware.CIRCUITPYTHON) == "CircuitPython 10.2.1"


def test_a_disk_that_is_too_small():
    with pytest.raises(fat.FatError, match="more than the 2048 KB"):
        fat.image({"/large": bytes(2 * 1024 * 1024)})
    with pytest.raises(fat.FatError):
        fat.image({f"/{number}": b"" for number in range(300)})  # the root has 512 entries, two for each


DISK = """
import os
print(sorted(os.listdir("/lib/with a long name")))
for name in ("1", "empty", "forty-one characters of a name.long.ext..py", "two clusters"):
    data = open("/lib/with a long name/" + name, "rb").read()
    print(len(data), data[-4:])
with open("/lib/with a long name/1") as f:
    print(f.read())
"""


def test_circuitpython_reads_the_disk(tmp_path):
    needs_pico(firmware.CIRCUITPYTHON)
    folder = "/lib/with a long name"
    files = {
        f"{folder}/1": b"one",
        f"{folder}/empty": b"",
        f"{folder}/forty-one characters of a name.long.ext..py": bytes(512),
        f"{folder}/two clusters": bytes(510) + b"last",
        **{f"{folder}/deeper/{number}": b"" for number in range(40)},  # more than one cluster of entries
    }
    (tmp_path / "disk.img").write_bytes(fat.image(files))
    (tmp_path / "program.py").write_text(DISK)
    done = subprocess.run(
        [str(environment.python()), "-c", READ_DISK, str(tmp_path)], capture_output=True, text=True, cwd=ROOT
    )
    assert done.returncode == 0, done.stderr
    names = ["1", "deeper", "empty", "forty-one characters of a name.long.ext..py", "two clusters"]
    expected = [repr(names), "3 b'one'", "0 b''", r"512 b'\x00\x00\x00\x00'", "514 b'last'", "one"]
    assert done.stdout.splitlines() == expected


READ_DISK = """
import asyncio, sys
from pathlib import Path
from tools.pico import firmware
from tools.pico.circuitpython import CircuitPythonPico
async def main():
    folder = Path(sys.argv[1])
    pico = CircuitPythonPico(firmware.find(firmware.CIRCUITPYTHON))
    disk = (folder / "disk.img").read_bytes()
    pico.mcu.flash[pico.layout.fs_start : pico.layout.fs_start + len(disk)] = disk
    await pico.boot()
    printed, errors = await pico.run_code((folder / "program.py").read_text())
    print(printed + errors, end="")
    pico.stop()
asyncio.run(main())
"""


def test_the_example_on_circuitpython():
    """On busio.I2C, and the library as the sources that its users copy."""
    done = on_the_pico(ROOT / "examples" / "read_registers.py", firmware.CIRCUITPYTHON)
    assert done.returncode == 0, done.stderr
    for expected in ("CircuitPython", "21.50 C", "0x0117", "missed its deadline of 100 ms", "101325"):
        assert expected in done.stdout
