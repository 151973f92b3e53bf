"""The command `test`: ruff, the type checker, and the tests on every runtime."""

import subprocess
import time
import xml.etree.ElementTree as ElementTree

from tools import environment

HELP = """Runs ruff, the checks of types and pytest. All arguments go to pytest; those that select tests (paths, -k,
--runtime) leave the checkers out. Useful ones: --runtime NAME (micropython, micropython-adafruit, cpython; may be
repeated), -k EXPRESSION, tests/test_lock.py, tests/test_lock.py::cpython::test_fifo, -x, and --all for the slow tests
too, and --wrapping to run each test a second time, with ticks that wrap in the middle of it."""
NOT_SELECTING = ("--all", "-v", "-vv", "-q", "-x", "-s")
REPORT = environment.VENV / "test-report.xml"
CHECKERS = {
    "ruff": ["ruff", "check", "."],
    "types of the stubs, and of programs that use them": ["basedpyright", "--level", "error"],
    "types of the sources": ["tools.types.sources"],
    "types of the stubs against the modules": ["tools.types.stubtest"],
    "types of the peripherals on esp32": ["basedpyright", "--level", "error", "-p", "tools/types/esp32.json"],
}


def add_arguments(parser):
    parser.set_defaults(takes_rest=True)
    parser.usage = "tools/dev.py test [--runtime NAME] [-k EXPRESSION] [--all] [PATH ...] [any other option of pytest]"


def run(args) -> int:
    environment.ensure("demo", "dev", "adafruit")
    if all(word in NOT_SELECTING for word in args.rest):
        environment.ensure("stubs-rp2", "stubs-esp32")
        checked = _check()
    else:
        environment.say("some tests only: ruff and the type checker are left out")
        checked = {}
    bad = [name for name, good in checked.items() if not good]
    _head("tests")
    REPORT.unlink(missing_ok=True)
    report = [f"--junit-xml={REPORT}"] if bad else []
    tested = subprocess.run(_module("pytest", *report, *args.rest), cwd=environment.ROOT).returncode == 0
    if bad:
        # The last line counts everything, so that nobody takes pytest's own for the whole result.
        passed, failed, skipped = _counts()
        print(f"\nfailed before the tests, see above: {', '.join(bad)}")
        print(f"{passed + len(checked) - len(bad)} passed, {failed + len(bad)} failed, {skipped} skipped", flush=True)
    return 0 if tested and not bad else 1


def _head(title: str) -> None:
    print(f"\n==== {title} ====", flush=True)


def _module(*arguments: str) -> list[str]:
    return [str(environment.python()), "-m", *arguments]


def _check() -> dict[str, bool]:
    """Runs all checkers at the same time, and shows them one by one."""
    start = time.monotonic()
    running = {
        name: subprocess.Popen(
            _module(*arguments), cwd=environment.ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        for name, arguments in CHECKERS.items()
    }
    good = {}
    for name, process in running.items():
        _head(name)
        output, _ = process.communicate()
        good[name] = process.returncode == 0
        print(f"{output.rstrip()}\n{'ok' if good[name] else 'FAILED'} ({time.monotonic() - start:.1f} s)", flush=True)
    return good


def _counts() -> tuple[int, int, int]:
    """Passed, failed and skipped, from pytest's report; all 0 if it did not get as far as writing one."""
    if not REPORT.exists():
        return 0, 0, 0
    total = failed = skipped = 0
    for suite in ElementTree.parse(REPORT).getroot().iter("testsuite"):
        total += int(suite.get("tests", 0))
        failed += int(suite.get("failures", 0)) + int(suite.get("errors", 0))
        skipped += int(suite.get("skipped", 0))
    return total - failed - skipped, failed, skipped
