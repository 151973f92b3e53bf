"""The harness of the device-side tests, tried on modules that fail in every way."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tools import runtimes, testfile

RUNTIMES = [runtime.name for runtime in runtimes.ALL.values() if runtime.default]  # those of boards: test_pico.py

SAMPLE = """\
import asyncio
import sys

from support.outcome import skip

TIME_LIMIT = 1
SLOW = ("test_slow",)


def test_passes():
    print("printed by the first")


def test_values():
    print("printed by the second")
    left = [1, 2]
    assert len(left) == 3, "too short"


async def test_deep():
    async def inner():
        raise ValueError("from inside")

    await inner()


def test_skips():
    skip("no moon tonight")


def test_hangs():
    while True:
        pass


async def test_hangs_waiting():
    await asyncio.Event().wait()


def test_passes_after_a_hang():
    pass


def test_crashes():
    print("about to crash")
    if sys.implementation.name == "cpython":
        import os

        os.abort()
    import uctypes

    uctypes.bytearray_at(1, 100)[0] = 1


async def test_leaves_a_task():
    async def sleeper():
        await asyncio.sleep(100)

    asyncio.create_task(sleeper())


async def test_leaves_a_parked_task():
    async def parked():
        await asyncio.Event().wait()

    asyncio.create_task(parked())
    await asyncio.sleep(0)


async def test_error_that_nobody_sees():
    async def failing():
        raise ValueError("unseen")

    asyncio.create_task(failing())


def test_exits():
    sys.exit(0)


async def test_never_awaits():
    asyncio.sleep(0)


async def test_passes_last():
    task = asyncio.create_task(asyncio.Event().wait())
    await asyncio.sleep(0)
    task.cancel()


def test_slow():
    pass
"""

CONFTEST = f"import sys\n\nsys.path.insert(0, {str(runtimes.ROOT)!r})\n\nfrom tools.collection import *\n"

# What each test of the sample must say; None: it passes.
SAYS = {
    "test_passes": None,
    "test_values": [
        "line 17, in test_values",
        "assert len(left) == 3\n  left:  2\n  right: 3\n  too short",
        "printed by the second",
    ],
    "test_deep": ["line 24, in test_deep", "line 22, in inner", "ValueError: from inside"],
    "test_hangs": ["did not end within 1 s", "in test_hangs", "KeyboardInterrupt"],
    "test_hangs_waiting": ["did not end within 1 s"],
    "test_passes_after_a_hang": None,
    "test_crashes": ["in the middle of the test, with signal SIG", "about to crash"],
    "test_leaves_a_task": ["left something behind", "a task is left", "sleeper"],
    "test_leaves_a_parked_task": ["left something behind", "a task is left", "parked"],
    "test_error_that_nobody_sees": ["left something behind", "ValueError: unseen", "in failing"],
    "test_exits": ["SystemExit"],
    "test_never_awaits": ["left something behind", "never awaited"],
    "test_passes_last": None,
}


def make_folder(folder: Path) -> Path:
    (folder / "tests").mkdir()
    (folder / "tests" / "conftest.py").write_text(CONFTEST)
    return folder


@pytest.fixture
def folder(tmp_path) -> Path:
    return make_folder(tmp_path)


def run_pytest(folder: Path, *arguments: str) -> str:
    environment = {**os.environ, "COLUMNS": "200", "NO_COLOR": "1"}
    environment.pop("PYTEST_ADDOPTS", None)
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--rootdir", str(folder), *arguments, "tests"]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120)
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def report(tmp_path_factory) -> str:
    folder = make_folder(tmp_path_factory.mktemp("harness"))
    (folder / "tests" / "test_sample.py").write_text(SAMPLE)
    return run_pytest(folder, "-v", "-rfs")


def available(name: str) -> None:
    if missing := runtimes.ALL[name].missing():
        pytest.skip(missing)


def failure(report: str, test: str, runtime: str) -> str:
    """The part of the report on one failure."""
    found = re.search(rf"_+ {test} \[{runtime}\] _+\n(.*?)\n(_{{3,}} test_|={{3,}} |-{{3,}} generated)", report, re.S)
    assert found, f"no failure of {test} on {runtime} in:\n{report}"
    return found[1]


@pytest.mark.parametrize("runtime", RUNTIMES)
@pytest.mark.parametrize("test", SAYS)
def test_outcome(report, test, runtime):
    available(runtime)
    expected = SAYS[test]
    item = f"tests/test_sample.py::{runtime}::{test}"
    if expected is None:
        assert f"{item} PASSED" in report
    else:
        assert f"{item} FAILED" in report
        text = failure(report, test, runtime)
        for part in expected:
            assert part in text
        assert "printed by the first" not in text
        assert "buslock-tests-" not in text, "the rewritten copy is named in place of the file"


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_skip_says_why(report, runtime):
    available(runtime)
    assert f"tests/test_sample.py::{runtime}::test_skips SKIPPED" in report
    assert "no moon tonight" in report


def test_slow_tests_are_left_out_and_named(report):
    assert "::test_slow" not in report
    assert "slow tests were left out; run them too with --all" in report


def test_short_summary_names_the_error(report):
    assert "::cpython::test_values - AssertionError: assert len(left) == 3" in report


def test_all_runs_slow_tests_and_runtime_selects(folder):
    (folder / "tests" / "test_two.py").write_text("SLOW = True\n\n\ndef test_slow():\n    pass\n")
    out = run_pytest(folder, "-v", "--all", "--runtime", "cpython")
    assert "test_two.py::cpython::test_slow PASSED" in out
    assert "1 passed" in out


def test_runtimes_of_a_module_and_ordinary_modules(folder):
    (folder / "tests" / "test_one.py").write_text('RUNTIMES = ("cpython",)\n\n\ndef test_one():\n    pass\n')
    (folder / "tests" / "test_host.py").write_text(
        "HOST = True\n\n\ndef test_ordinary(tmp_path):\n    assert tmp_path.exists()\n"
    )
    out = run_pytest(folder, "-v")
    assert "test_one.py::cpython::test_one PASSED" in out
    assert "test_host.py::test_ordinary PASSED" in out
    assert "2 passed" in out


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_a_test_of_each(folder, runtime):
    available(runtime)
    source = 'EACH = {"over": ("lock", "key")}\n\n\nasync def test_fifo(over):\n    assert over == "key"\n'
    (folder / "tests" / "test_one.py").write_text(source)
    out = run_pytest(folder, "-v", "--runtime", runtime)
    assert f"test_one.py::{runtime}::test_fifo[lock] FAILED" in out
    assert f"test_one.py::{runtime}::test_fifo[key] PASSED" in out
    assert "left:  'lock'" in out
    assert "line 5, in test_fifo" in out


def test_left_out_tests_are_skipped_with_their_reason(folder):
    source = """
LEFT_OUT = {"micropython": {"too little memory": ("test_large",)}, "cpython": "no pins"}

def test_large():
    raise AssertionError("it has run")

def test_small():
    pass
"""
    (folder / "tests" / "test_one.py").write_text(source)
    out = run_pytest(
        folder, "--runtime", "micropython", "--runtime", "micropython-adafruit", "--runtime", "cpython", "-rs"
    )
    assert "2 passed, 4 skipped" in out, "those of micropython-adafruit, which begins with micropython-, too"
    assert "too little memory" in out and "no pins" in out


def test_a_heap_of_its_own(folder):
    available("micropython")
    source = 'import gc\n\nHEAP = "512K"\n\n\ndef test_small():\n    assert gc.mem_free() < 512000\n'
    (folder / "tests" / "test_one.py").write_text(source)
    (folder / "tests" / "test_two.py").write_text(source.replace("HEAP", "OTHER").replace("< ", "> 20 * "))
    out = run_pytest(folder, "--runtime", "micropython")
    assert "2 passed" in out


def test_modules_that_want_to_be_alone_run_when_nothing_else_does(folder):
    log = folder / "log"
    body = f"""
import time

def test_one():
    with open({str(log)!r}, "a") as log:
        log.write(NAME + " starts\\n")
    time.sleep(0.3)
    with open({str(log)!r}, "a") as log:
        log.write(NAME + " ends\\n")
"""
    for name, alone in (("a", True), ("b", False), ("c", False), ("d", True)):
        (folder / "tests" / f"test_{name}.py").write_text(f"ALONE = {alone}\nNAME = {name!r}\n{body}")
    out = run_pytest(folder, "--runtime", "cpython")
    assert "4 passed" in out
    lines = log.read_text().splitlines()
    assert {line[0] for line in lines[:4]} == {"b", "c"}
    assert lines[4:] == ["a starts", "a ends", "d starts", "d ends"]


def test_an_interrupted_run_leaves_no_process(folder):
    pid_file = folder / "pid"
    (folder / "tests" / "test_one.py").write_text(f"""
import os

def test_one():
    with open({str(pid_file)!r}, "w") as file:
        file.write(str(os.getpid()))
    while True:
        pass
""")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--rootdir", str(folder), "tests"]
    command += ["--runtime", "cpython"]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        try:
            deadline = time.monotonic() + 20
            while not (pid_file.exists() and pid_file.read_text()):
                assert time.monotonic() < deadline, "the test did not start"
                time.sleep(0.05)
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=20)
            # It was killed, and is there until whoever has inherited it has looked at how it ended.
            pid = int(pid_file.read_text())
            deadline = time.monotonic() + 20
            while is_there(pid):
                assert time.monotonic() < deadline, "its process runs on"
                time.sleep(0.05)
        finally:
            process.kill()


def is_there(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_module_that_cannot_be_imported(folder):
    (folder / "tests" / "test_one.py").write_text("import nothing_there\n\n\ndef test_one():\n    pass\n")
    out = run_pytest(folder, "--runtime", "cpython")
    assert "The module could not be imported." in out
    assert "No module named 'nothing_there'" in out


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("def test_a(tmp_path):\n    pass\n", ":1: test_a takes arguments"),
        ("EACH = {'x': ('a',)}\ndef test_a(x, y):\n    pass\n", ":2: test_a takes arguments"),
        ("EACH = {'x': ('a',)}\ndef test_a(*x):\n    pass\n", ":2: test_a takes arguments"),
        ("@mark\ndef test_a():\n    pass\n", "test_a is decorated"),
        ("SLOW = ('test_b',)\n", "SLOW names 'test_b', and there is no such test"),
        ("LEFT_OUT = {'pico': {'why': ('test_b',)}}\n", "LEFT_OUT names 'test_b', and there is no such test"),
        ("LEFT_OUT = {'pico': {'test_b': 'why'}}\n", "LEFT_OUT says why first"),
        ("CLOCK = 'moon'\n", "CLOCK is 'moon'"),
        ("RUNTIMES = 'cpython'\n", "RUNTIMES is a str"),
        ("TIME_LIMIT = 3 * HOUR\n", "TIME_LIMIT is read without running the module"),
        ("def test_a(:\n", ":1: "),
    ],
)
def test_mistakes_in_a_test_module_are_named(tmp_path, source, message):
    path = tmp_path / "test_x.py"
    path.write_text(source)
    with pytest.raises(testfile.TestFileError, match=re.escape(message)):
        testfile.read(path)


def test_unknown_runtime_is_a_collection_error(folder):
    (folder / "tests" / "test_one.py").write_text('RUNTIMES = ("abacus",)\n\n\ndef test_one():\n    pass\n')
    out = run_pytest(folder)
    assert "RUNTIMES names 'abacus'; known are micropython" in out
    assert "1 error" in out


WRAPPING = """\
import asyncio

from buslock._rt import ticks_ms

CLOCK = {clock!r}
wrapped = []


async def test_sleeps():
    first = ticks_ms()
    await asyncio.sleep(0.04)
    wrapped.append(ticks_ms() < first)


def test_both_runs():
    assert wrapped == [False, True]
"""


def test_ticks_wrap_in_the_middle_of_each_test(folder):
    for clock in ("real", "virtual", "wrap"):
        (folder / "tests" / f"test_{clock}.py").write_text(WRAPPING.format(clock=clock))
    report = run_pytest(
        folder, "--wrapping", "-v", "--runtime=micropython", "--runtime=micropython-adafruit", "--runtime=cpython"
    )
    chosen = [name for name in ("micropython", "micropython-adafruit", "cpython") if not runtimes.ALL[name].missing()]
    assert report.count("PASSED") == 3 * 2 * len(chosen), report
