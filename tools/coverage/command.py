"""The command `coverage`: which lines and branches of the library the tests reach."""

import os
import shutil
import subprocess
from itertools import pairwise

from tools import environment, runtimes
from tools.coverage import marks

HELP = """Runs the tests of the library on CPython under coverage.py, with branches, and on MicroPython with a copy of the
library that notes its statements. Prints what no test has reached, and fails if that is anything. Arguments go to pytest
(paths, -k, --all); with them what is not reached is no failure."""
FOLDER = environment.ROOT / "build" / "coverage"
LIBRARY = environment.ROOT / "lib" / "buslock"
ON_BOARDS = ("micropython", "micropython-adafruit")

# What MicroPython on the desk cannot run: in these modules, the blocks below these lines. (What CPython cannot run is said
# by pyproject.toml, and at the lines.) Loading a module without memory is tried without marks only, which take some.
ELSEWHERE = (
    ("_rt.py", 'if sys.implementation.name == "cpython":'),
    ("_rt_alarm.py", 'if sys.implementation.name == "circuitpython":'),
    ("_rt_times.py", "else:  # CircuitPython"),
    ("_rt_rare.py", "else:  # CircuitPython"),
    ("_rt_rare.py", "except ImportError:  # a port without threads"),
    ("__init__.py", "except MemoryError:"),
    ("__init__.py", "def forget_unmade():  # pragma: no cover (CPython's memory cannot be filled)"),
)
UNMARKED = "tests/test_memory_loading.py"


def add_arguments(parser):
    parser.set_defaults(takes_rest=True)
    parser.usage = "tools/dev.py coverage [--runtime NAME] [PATH ...] [any other option of pytest]"


def run(args) -> int:
    environment.ensure("demo", "dev", "adafruit", "proof")
    wanted = [b for a, b in pairwise(args.rest) if a == "--runtime"]
    wanted += [word.partition("=")[2] for word in args.rest if word.startswith("--runtime=")]
    rest = [word for word in args.rest if not word.startswith("--runtime") and word not in wanted]
    whole = all(word == "--all" for word in rest)
    if not any(word.startswith("tests") for word in rest):
        rest += sorted(str(path.relative_to(environment.ROOT)) for path in environment.ROOT.glob("tests/test_*.py"))
    wanted = wanted or ["cpython", *ON_BOARDS]
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    good = True
    if "cpython" in wanted:
        good = _on_cpython(rest, whole)
    boards = [name for name in wanted if name in ON_BOARDS and runtimes.ALL[name].missing() is None]
    return 0 if _on_boards(boards, rest, whole) and good else 1


def _tests(runtime_names: list[str], rest: list[str], **variables: str) -> bool:
    chosen = [word for name in runtime_names for word in ("--runtime", name)]
    command = [str(environment.python()), "-m", "pytest", "-q", *chosen, *rest]
    return subprocess.run(command, cwd=environment.ROOT, env={**os.environ, **variables}).returncode == 0


def _on_cpython(rest: list[str], whole: bool) -> bool:
    variables = {"BUSLOCK_COVERAGE": "1", "COVERAGE_FILE": str(FOLDER / "data")}
    tested = _tests(["cpython"], rest, **variables)
    proof = {**os.environ, **variables, "PYTHONPATH": str(environment.FOLDERS["proof"])}
    for words in (["combine", "-q"], ["report", "--skip-covered", "--show-missing", f"--fail-under={100 * whole}"]):
        command = [str(environment.python()), "-m", "coverage", *words]
        tested = subprocess.run(command, cwd=environment.ROOT, env=proof).returncode == 0 and tested
    return tested


def _on_boards(names: list[str], rest: list[str], whole: bool) -> bool:
    if not names:
        return True
    folder = FOLDER / "marks"
    folder.mkdir()
    lines = marks.copy(LIBRARY, FOLDER / "lib")
    rest = [*rest, *[f"--deselect={UNMARKED}::{name}" for name in names]]
    tested = _tests(names, rest, BUSLOCK_TESTED=str(FOLDER / "lib"), BUSLOCK_MARKS=str(folder))
    wanted = {name: set(numbers) for name, numbers in lines.items() if name != "_rt_cpython.py"}
    for name, header in ELSEWHERE:
        wanted[name] -= set(marks.block((LIBRARY / name).read_text(encoding="utf-8"), header))
    total = sum(map(len, wanted.values()))
    nowhere = {(name, number) for name in wanted for number in wanted[name]}
    for runtime, modules in marks.missing(folder, lines).items():
        missing = {name: sorted(wanted[name] & set(modules[name])) for name in wanted}
        missed = sum(map(len, missing.values()))
        print(f"{runtime}: {total - missed} of {total} lines, {100 * (total - missed) / total:.1f} %")
        for name, numbers in missing.items():
            if numbers:
                print(f"    {name:16} {len(wanted[name]):4} lines, {len(numbers):3} missed: {ranges(numbers)}")
        nowhere &= {(name, number) for name, numbers in missing.items() for number in numbers}
    return tested and not (whole and nowhere)


def ranges(numbers: list[int]) -> str:
    found: list[list[int]] = []
    for number in numbers:
        if found and number == found[-1][1] + 1:
            found[-1][1] = number
        else:
            found.append([number, number])
    return ", ".join(f"{a}" if a == b else f"{a}-{b}" for a, b in found)
