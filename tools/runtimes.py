"""The runtimes that tests run on. To add one, write a class with the same methods and name it in ALL."""

import itertools
import os
import sys
from dataclasses import dataclass
from pathlib import Path

from tools import environment, testfile
from tools.pico import firmware

ROOT = environment.ROOT
RUNNER = ROOT / "tests" / "runner.py"


@dataclass
class Request:
    """What is asked of a runtime: tests of one module, which has been rewritten into a folder."""

    folder: Path  # of the rewritten module
    origin: Path  # the folder of the original, for modules beside it
    module: str
    clock: str
    tests: list[str]
    heap: str = testfile.HEAP

    def arguments(self) -> list[str]:
        return [str(RUNNER), str(self.folder), self.module, self.clock, *self.tests]


class Runtime:
    """Where a test runs: a way to start tests/runner.py in a process of its own."""

    name = ""
    default = True  # chosen without --runtime; one that is not default and not available is left out, with a line
    patience = 1.0  # factor on time limits

    def missing(self) -> str | None:
        """None if it can be used, else what is missing and how to get it."""
        raise NotImplementedError

    def command(self, request: Request) -> tuple[list[str], dict[str, str]]:
        """The command that runs the tests and prints the runner's lines, and variables for its environment."""
        raise NotImplementedError


def _path(request: Request, *more: Path | str) -> str:
    # The root is there for the package `boards`. Another copy of the library may come before the real one.
    tested = [os.environ["BUSLOCK_TESTED"]] if "BUSLOCK_TESTED" in os.environ else []
    return ":".join(map(str, (request.origin, ROOT / "tests", *tested, ROOT / "lib", ROOT, *more)))


class MicroPython(Runtime):
    name = "micropython"

    def missing(self) -> str | None:
        if environment.find_vm() is None:
            return "no MicroPython: `python3 tools/dev.py test` installs it, or says how to get one"
        return None

    def command(self, request):
        vm = environment.find_vm()
        assert vm is not None, "asked for although it is missing"
        # Tests of thousands of tasks do not fit into the VM's usual 2 MB.
        return [*vm, "-X", f"heapsize={request.heap}", *request.arguments()], {"MICROPYPATH": self.path(request)}

    def path(self, request):
        return _path(request, ".frozen")


class MicroPythonAdafruit(MicroPython):
    """The same VM with Adafruit's asyncio in the place of its own: what CircuitPython users have."""

    name = "micropython-adafruit"
    folder = environment.FOLDERS["adafruit"]

    def missing(self) -> str | None:
        if not (self.folder / "asyncio").exists():
            return "no Adafruit asyncio: `python3 tools/dev.py test` installs it"
        return super().missing()

    def path(self, request):
        return _path(request, self.folder, ".frozen")


class CPython(Runtime):
    name = "cpython"

    def missing(self):
        return None

    def command(self, request):
        command = [sys.executable, "-u", "-X", "utf8"]
        if "BUSLOCK_COVERAGE" not in os.environ:
            return [*command, *request.arguments()], {"PYTHONPATH": _path(request)}
        command += ["-m", "coverage", "run", "--parallel-mode"]
        return [*command, *request.arguments()], {"PYTHONPATH": _path(request, environment.FOLDERS["proof"])}


class Pico(Runtime):
    """Real Pico firmware in an emulator. All tests take minutes there, so they run only when they are asked for."""

    name = "pico"
    default = False
    patience = 40.0
    kind = "micropython"
    firmware = firmware.MICROPYTHON

    def missing(self):
        missing = firmware.missing(self.firmware)
        if missing or self._asked():
            return missing
        return "it is slow: tests/host/test_pico.py runs a few tests on it, --all or --runtime pico all of them"

    def _asked(self):
        return {"--all", f"--runtime={self.name}"} & set(sys.argv) or ("--runtime", self.name) in itertools.pairwise(
            sys.argv
        )

    def command(self, request):
        arguments = [self.kind, str(request.folder), str(request.origin), request.module, request.clock, *request.tests]
        return [str(environment.python()), "-u", "-m", "tools.pico.testrun", *arguments], {}


class PicoCircuitPython(Pico):
    """CircuitPython's firmware there. It compiles every source on the board, which has room for small modules only."""

    name = "pico-circuitpython"
    patience = 80.0
    kind = "circuitpython"
    firmware = firmware.CIRCUITPYTHON

    def missing(self):
        missing = super().missing()
        if missing and missing.startswith("it is slow"):
            return (
                "it is slow: tests/host/test_pico.py runs a few tests on it; --runtime pico-circuitpython takes files"
            )
        return missing

    def _asked(self):
        return f"--runtime={self.name}" in sys.argv or ("--runtime", self.name) in itertools.pairwise(sys.argv)


ALL: dict[str, Runtime] = {
    r.name: r for r in (MicroPython(), MicroPythonAdafruit(), CPython(), Pico(), PicoCircuitPython())
}
