"""The process of the runtime `pico`: tests of one module on the emulated board.

    python -m tools.pico.testrun KIND FOLDER ORIGIN MODULE CLOCK TEST...     KIND is micropython or circuitpython

Prints the lines of tests/runner.py as they come. SIGINT becomes Ctrl-C on the board, which then tells where it hangs.

The emulated board is a process, and a fork of it is a copy of the board. The module is loaded once, and each test runs on
a copy of the board that has just loaded it, so that no test has less memory than another. Whatever does not fit like that
is tried again with less: half of the tests and what they use of the module (prune.py), in the end a single one.
"""

import asyncio
import json
import os
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable
from pathlib import Path

from tools.pico import firmware, flash, prune

ROOT = flash.ROOT
TESTS = ROOT / "tests"
MARK = "@@buslock "  # as in tests/runner.py
FULL = "MemoryError"
# What ticks_ms() shows at power-on: virtual time is 2**26 ms ahead of it, and its ticks wrap in a minute.
WRAP_START_MS = (1 << 30) - (1 << 26) - 60000


def files(sources: dict[str, Path], shown_as: dict[str, Path]) -> dict[str, bytes]:
    """The board's file system: the test module and what is beside it, the runner, the library."""
    board = {
        **flash.library(),
        **flash.tree(ROOT / "lib" / "buslock_sim", "/lib/buslock_sim"),
        **flash.tree(ROOT / "boards", "/boards"),
        **flash.tree(TESTS / "support", "/tests/support", leave_out=("clock_cpython.py",)),
        **flash.one(TESTS / "runner.py", "/tests/runner.py"),
    }
    for name, path in sources.items():
        board.update(flash.one(path, f"/tests/{name}", shown_as[name]))
    if (ROOT / "examples").is_dir():
        board.update(flash.tree(ROOT / "examples", "/examples"))
    return board


def circuitpython_files(sources: dict[str, Path], shown_as=None) -> dict[str, bytes]:
    """The same for CircuitPython, as sources."""
    from tools.pico import circuitpython

    return {
        **circuitpython.files(),
        **circuitpython.tree(TESTS / "support", "/tests/support"),
        "/tests/runner.py": (TESTS / "runner.py").read_bytes(),
        **{f"/tests/{name}": path.read_bytes() for name, path in sources.items()},
    }


def beside(origin: Path) -> dict[str, Path]:
    """Modules that a test module may import."""
    left_out = ("conftest.py", "runner.py")
    return {p.name: p for p in origin.glob("*.py") if not p.name.startswith("test_") and p.name not in left_out}


class Boards:
    """Copies of one emulated board."""

    def __init__(self, kind: str, sources: dict[str, Path], clock: str):
        wanted = firmware.CIRCUITPYTHON if kind == "circuitpython" else firmware.MICROPYTHON
        image = firmware.find(wanted)
        if image is None:
            sys.exit(firmware.missing(wanted) or "no firmware image")
        if kind == "circuitpython":
            from tools.pico.circuitpython import CircuitPythonPico as Board

            self._files = circuitpython_files
        else:
            from tools.pico.board import Pico as Board

            self._files = files
        self.sources = sources
        self.pico = Board(image, self._files(sources, sources))
        if clock == "wrap":
            self.pico.set_ms(WRAP_START_MS)
        self.pico.mcu.pio = []  # the emulator asks each after every instruction, and no test uses them
        self._alive, self._lives = os.pipe()
        self._child = 0
        self._interrupted = False

    def boot(self) -> None:
        async def boot():
            await self.pico.boot()
            await self.pico.pause()

        asyncio.run(boot())

    def put(self, changed: dict[str, Path]) -> None:
        """Other files on the disk; for a board that has only booted."""
        self.pico.put(self._files({**self.sources, **changed}, self.sources))

    def run(self, code: str, afresh: bool) -> str:
        """Runs code to its end, and returns its traceback."""

        async def run():
            loop = asyncio.get_running_loop()
            loop.add_signal_handler(signal.SIGINT, self.pico.interrupt)
            loop.add_reader(self._alive, os._exit, 1)  # nothing is ever written there: the first process has ended
            await self.pico.resume()
            try:
                _, errors = await self.pico.run_code(code, output=_pass_on, afresh=afresh)
            finally:
                await self.pico.pause()
                loop.remove_reader(self._alive)
            return errors

        return asyncio.run(run())

    def fork(self, work: Callable[[], int], output: int | None = None) -> int:
        """The process id of a copy that does the work, and ends with the status that it returns."""
        sys.stdout.flush()
        pid = os.fork()
        if pid:
            self._child = pid
            signal.signal(signal.SIGINT, lambda *_: self._interrupt())
            return pid
        status = 1
        try:
            if self._lives is not None:
                os.close(self._lives)
                self._lives = None
            self._child = 0
            if output is not None:
                os.dup2(output, 1)
            status = work()
            sys.stdout.flush()
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)

    def wait(self, pid: int) -> int:
        _, status = os.waitpid(pid, 0)
        self._child = 0
        return 1 if self._interrupted else os.waitstatus_to_exitcode(status)

    def _interrupt(self) -> None:
        """Whoever asks where a test hangs starts another process for those that are left."""
        self._interrupted = True
        if self._child:
            os.kill(self._child, signal.SIGINT)


class Run:
    """The tests of one module."""

    def __init__(self, kind: str, folder: str, origin: str, module: str, clock: str):
        self.source = Path(folder) / f"{module}.py"
        self.boards = Boards(kind, {**beside(Path(origin)), self.source.name: self.source}, clock)
        self._begin = (
            f"import sys\nsys.path.append('/tests')\nimport runner\nmodule = runner.begin({module!r}, {clock!r})\n"
        )
        self._wrapping = clock.endswith("+wrapping")

    def run(self, tests: list[str]) -> int:
        self.boards.boot()
        status = self._attempt(tests, whole=True)
        if not status:
            _emit("end")
        return status

    def _attempt(self, tests: list[str], whole: bool) -> int:
        """Runs the tests, with the whole module or what they use of it; those without memory again, with less."""
        lines = Lines(tests, whole, last=not whole and len(tests) == 1)
        status = self._follow(lines, lambda: self._together(tests, whole))
        if lines.loaded or len(tests) == 1:
            parts = [[test] for test in lines.left]
        else:
            half = len(lines.left) // 2
            parts = [part for part in (lines.left[:half], lines.left[half:]) if part]
        for part in parts:
            status = status or self._attempt(part, whole=False)
        return status

    def _together(self, tests: list[str], whole: bool) -> int:
        """On a copy of the board that has just booted: loads the module, and runs each test on a copy of that."""
        if not whole:
            self._prune({test.partition("[")[0] for test in tests})
        status = self._told(self._begin, True)
        for test in tests:
            one = f"if module: runner.run_one(module, {test!r}, {self._wrapping})"
            status = status or self.boards.wait(
                self.boards.fork(lambda one=one, test=test: self._told(one, False, test))
            )
        return status

    def _prune(self, tests: set[str]) -> None:
        sources = {name: path.read_text(encoding="utf-8") for name, path in self.boards.sources.items()}
        with tempfile.TemporaryDirectory(prefix="buslock-pico-") as folder:
            pruned = {}
            for name, source in prune.for_some(sources, self.source.stem, tests).items():
                pruned[name] = Path(folder) / name
                pruned[name].write_text(source, encoding="utf-8")
            self.boards.put(pruned)

    def _told(self, code: str, afresh: bool, test: str | None = None) -> int:
        """Runs the code; its traceback, if it has one, is an event too."""
        errors = self.boards.run(code, afresh and self.boards.pico.starts_afresh)
        if errors and "SystemExit" not in errors:
            _emit("traceback", text=errors, test=test)
        return 1 if errors and FULL not in errors else 0

    def _follow(self, lines: "Lines", work: Callable[[], int]) -> int:
        """Passes on what a copy prints."""
        reading, writing = os.pipe()
        pid = self.boards.fork(work, writing)
        os.close(writing)
        with open(reading, encoding="utf-8", errors="replace", newline="") as file:
            for line in file:
                lines.came(line)
        return self.boards.wait(pid)


class Lines:
    """What a copy prints is passed on, but not that there was no memory for a test; unless that was the last attempt."""

    def __init__(self, tests: list[str], whole: bool, last: bool):
        self.tests, self.whole, self.last = tests, whole, last
        self.left: list[str] = []  # for want of memory
        self.loaded = False

    def came(self, line: str) -> None:
        _, mark, text = line.partition(MARK)
        if not mark:
            _pass_on(line)
            return
        event = json.loads(text)
        kind, full = event["event"], FULL in event.get("text", "")
        if kind == "ready":
            self.loaded = True
        elif full and not self.last:
            self.left += [event["test"]] if event.get("test") else self.tests
            return
        elif kind == "traceback":
            if full:
                _emit("test-fail", test=self.tests[0], text=event["text"], ms=0)
            else:
                _pass_on(event["text"] + "\n")
            return
        elif kind in ("load-fail", "load-skip") and not self.whole:
            for test in self.tests:
                _emit(kind.replace("load", "test"), **{**event, "test": test})
            return
        _pass_on(line)


def _emit(kind: str, **values) -> None:
    _pass_on(MARK + json.dumps({**values, "event": kind}) + "\n")


def _pass_on(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(Run(*sys.argv[1:6]).run(sys.argv[6:]))
