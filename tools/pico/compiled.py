"""Makes the emulator four times faster where there is a C compiler and Python's headers.

rp2040py's wheel is built for Python's stable ABI, in which the emulator's own calls go through Python's attributes. The
wheel has the C sources too: built for this one Python they call each other directly. Python takes such a module before
the wheel's.
"""

import os
import shlex
import shutil
import subprocess
import sysconfig
import tempfile
from pathlib import Path

from tools import environment

SUFFIX = sysconfig.get_config_var("EXT_SUFFIX") or ".so"
OPTIONS = ("-O2", "-fno-strict-aliasing", "-fwrapv", "-w")


def make() -> None:
    """Builds them after each installation of the emulator; without a compiler it stays as it is."""
    stamp = environment.VENV / ".compiled-pico"
    installed = (environment.VENV / ".installed-pico").read_text()
    if stamp.exists() and stamp.read_text() == installed:
        return
    folder = next(environment.VENV.glob("lib/python*/site-packages/rp2040py/native"), None)
    compiler = shlex.split(sysconfig.get_config_var("LDSHARED") or "")
    headers = Path(sysconfig.get_paths()["include"])
    if folder and compiler and shutil.which(compiler[0]) and (headers / "Python.h").exists():
        for old in folder.glob(f"*{SUFFIX}"):
            old.unlink()  # of another version
        environment.say("compiling the emulator for this Python (half a minute, once)")
        _build(folder, [*compiler, *OPTIONS, "-fPIC", f"-I{headers}"])
    stamp.write_text(installed)


def _build(folder: Path, command: list[str]) -> None:
    """All of the modules or none."""
    with tempfile.TemporaryDirectory(dir=folder) as made:
        running = []
        for source in sorted(folder.glob("*.c")):
            target = Path(made) / f"{source.stem}{SUFFIX}"
            running.append(subprocess.Popen([*command, "-o", str(target), str(source)], stderr=subprocess.DEVNULL))
        if all([process.wait() == 0 for process in running]):  # noqa: C419 - wait for each
            for target in Path(made).iterdir():
                os.replace(target, folder / target.name)
