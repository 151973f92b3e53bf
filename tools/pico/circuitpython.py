"""CircuitPython's firmware on the emulated Pico. Its disk is FAT, and has sources: its .mpy files are its own, and are
made only where CIRCUITPYTHON_MPY_CROSS names the mpy-cross that can."""

import os
from pathlib import Path

from rp2040py.boards import FlashLayout  # pyright: ignore[reportMissingImports]

from tools import deploy_build, environment
from tools.pico import fat
from tools.pico.board import Pico

START = 0x100000  # of the disk in the flash of the RASPBERRY_PI_PICO firmware
BLOCK = 4096
LEFT_OUT = ("_rt_cpython", "clock_cpython")  # what only CPython uses


class CircuitPythonPico(Pico):
    layout = FlashLayout(fs_start=START, fs_blockcount=fat.SECTORS * fat.SECTOR // BLOCK, fs_blocksize=BLOCK)
    disk = staticmethod(fat.image)
    starts_afresh = False  # its soft reset leaves the raw REPL; each of our processes runs one program


def tree(folder: Path, target: str) -> dict[str, bytes]:
    """The .py files below a folder as they are, below `target`."""
    found = {}
    for path in sorted(folder.rglob("*.py")):
        inside = path.relative_to(folder)
        if path.stem not in LEFT_OUT and not any(part.startswith((".", "__py")) for part in inside.parts):
            found[f"{target}/{inside.as_posix()}"] = path.read_bytes()
    return found


def files() -> dict[str, bytes]:
    """The library, the simulator, the boards' files, and the two libraries of Adafruit that its users install."""
    adafruit = environment.FOLDERS["adafruit"]
    found = {
        **tree(environment.ROOT / "lib" / "buslock", "/lib/buslock"),
        **tree(environment.ROOT / "lib" / "buslock_sim", "/lib/buslock_sim"),
        **tree(environment.ROOT / "boards", "/boards"),
        **tree(adafruit / "asyncio", "/lib/asyncio"),
        "/lib/adafruit_ticks.py": (adafruit / "adafruit_ticks.py").read_bytes(),
    }
    return deploy_build.compiled(found, circuit=True) if os.environ.get(deploy_build.CIRCUITPYTHON_VARIABLE) else found
