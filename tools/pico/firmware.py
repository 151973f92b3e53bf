"""Where the Pico's firmware comes from, and what is missing when there is none.

No image is kept in this project. It comes from the file named in PICO_UF2 (PICO_CIRCUITPYTHON_UF2 for CircuitPython's),
or from rp2040py's cache, or, when somebody asks for the Pico by name, from rp2040py's download into that cache.
"""

import functools
import importlib
import importlib.util
import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from tools import environment
from tools.pico import compiled

VERSION = "1.28.0"  # that is downloaded; others work too
CACHE = Path.home() / ".cache" / "rp2040py"
DOWNLOAD_LIMIT = 60  # seconds
RP2040 = 0xE48BFF56  # the family in the header of a .uf2 block


@dataclass(frozen=True)
class Kind:
    """One of the two firmwares."""

    name: str
    variable: str
    pattern: str  # of its files in rp2040py's cache
    source: str

    @property
    def how(self) -> str:
        return f"set {self.variable} to a {self.name} image for the Pico ({self.pattern.replace('*', '…')} from {self.source})"


MICROPYTHON = Kind("MicroPython", "PICO_UF2", "RPI_PICO-*.uf2", "micropython.org/download/RPI_PICO")
CIRCUITPYTHON = Kind(
    "CircuitPython",
    "PICO_CIRCUITPYTHON_UF2",
    "adafruit-circuitpython-raspberry_pi_pico-*.uf2",
    "circuitpython.org/board/raspberry_pi_pico",
)
VARIABLE = MICROPYTHON.variable
NAME_ONE = MICROPYTHON.how
DOWNLOADS = ", or let `python3 tools/pico/script.py PROGRAM.py` download one"


class FirmwareError(Exception):
    """An image was named that cannot be used; the message says why."""


def find(kind: Kind = MICROPYTHON) -> Path | None:
    """The image; None if there is none. FirmwareError if the variable names something else than an image."""
    named = os.environ.get(kind.variable)
    if named:
        path = Path(named)
        if not path.is_file():
            raise FirmwareError(f"{kind.variable} names {named}, which is no file")
        describe(path, kind)
        return path
    cached = sorted(CACHE.glob(kind.pattern), key=_version_of_name)
    return cached[-1] if cached else None


@functools.cache
def describe(image: Path, kind: Kind = MICROPYTHON) -> str:
    """The firmware's name for itself, "MicroPython 1.26.1"; FirmwareError if it is not of that kind or not for a Pico."""
    data = image.read_bytes()
    if data[:4] != b"UF2\n":
        raise FirmwareError(f"{image} is not a .uf2 image")
    if int.from_bytes(data[28:32], "little") != RP2040:
        raise FirmwareError(
            f"{image} is for another chip than the RP2040; take an image named {kind.pattern.replace('*', '…')}"
        )
    flash = b"".join(data[i + 32 : i + 32 + 256] for i in range(0, len(data), 512))
    # CircuitPython's names MicroPython, too.
    found = next((it for it in (CIRCUITPYTHON, MICROPYTHON) if it.name.encode() in flash), None)
    if found is not kind:
        hint = f"; it is {found.name}, for which there is {found.variable}" if found else ""
        raise FirmwareError(f"{image} is not {kind.name}{hint}")
    version = re.search(rb"\bv?(\d+\.\d+\.\d+[\w.-]*) on \d{4}-\d\d-\d\d", flash)
    return f"{kind.name} {version[1].decode() if version else '(version unknown)'}"


def missing(kind: Kind = MICROPYTHON) -> str | None:
    """None if the Pico can be emulated now, else one line that says how to get there.

    The first time there is an image, this installs the emulator.
    """
    try:
        if find(kind) is None:
            return f"no firmware image: {kind.how}{DOWNLOADS if kind is MICROPYTHON else ''}"
    except FirmwareError as e:
        return str(e)
    if os.name != "posix":
        return "the emulated Pico needs Linux or macOS"
    return install()


def install() -> str | None:
    """Installs rp2040py into .venv unless it is there; None, or what went wrong."""
    try:
        environment.ensure("pico")
        compiled.make()
    except SystemExit as e:
        return " ".join(str(e).split())
    importlib.invalidate_caches()
    return None


def download() -> Path | None:
    """Lets rp2040py download an image into its cache; None if that does not work."""
    if install() is not None:
        return None
    environment.say(f"downloading MicroPython {VERSION} for the Pico")
    code = (
        "from rp2040py.utils.firmware_retrieve import MICROPYTHON, retrieve\n"
        f"raise SystemExit(retrieve(MICROPYTHON, {VERSION!r}) is None)"
    )
    try:
        done = subprocess.run(
            [str(environment.python()), "-c", code], timeout=DOWNLOAD_LIMIT, capture_output=True, cwd=environment.VENV
        )
    except subprocess.TimeoutExpired:
        return None
    return find() if done.returncode == 0 else None


def _version_of_name(path: Path) -> tuple[int, ...]:
    version = re.search(r"v(\d+)\.(\d+)\.(\d+)", path.name)
    return tuple(map(int, version.groups())) if version else ()
