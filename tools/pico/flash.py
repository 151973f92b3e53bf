"""The Pico's file system: a littlefs image made from files of the checkout, their sources compiled to .mpy."""
# pyright: reportMissingImports=false

import hashlib
import os
from pathlib import Path

from tools import deploy_build, environment

ROOT = environment.ROOT
# Where MicroPython's RPI_PICO firmware has its file system in the 2 MB of flash.
START = 0xA0000
BLOCK = 4096
BLOCKS = 352
DISK_VERSION = 0x00020000  # of littlefs, as this firmware writes it
CACHE = environment.VENV / "mpy"


def image(files: dict[str, bytes]) -> bytes:
    """A file system with {"/lib/buslock/lock.mpy": data}."""
    from littlefs import LittleFS, UserContext

    context = UserContext(buffsize=BLOCK * BLOCKS)
    fs = LittleFS(context=context, block_size=BLOCK, block_count=BLOCKS, prog_size=256, disk_version=DISK_VERSION)
    for path, data in sorted(files.items()):
        fs.makedirs(path.rsplit("/", 1)[0] or "/", exist_ok=True)
        with fs.open(path, "wb") as file:
            file.write(data)
    fs.unmount()
    return bytes(context.buffer)


def library(names=None, as_deployed: bool = False) -> dict[str, bytes]:
    """The library, or some modules of it, below /lib; tracebacks show the files of the checkout.

    `as_deployed`: exactly the files that tools/deploy.py copies, which have shorter names in them. They are kept in RAM.
    """
    names = deploy_build.modules() if names is None else names
    if as_deployed:
        files = deploy_build.compiled(deploy_build.sources(names))
        return {f"/lib/{name}": data for name, data in files.items()}
    return _compiled({f"/lib/{name}": ROOT / "lib" / name for name in deploy_build.sources(names)})


def tree(folder: Path, target: str, leave_out=()) -> dict[str, bytes]:
    """The .py files below a folder, compiled, below `target`."""
    found = {}
    for path in sorted(folder.rglob("*.py")):
        inside = path.relative_to(folder)
        if inside.name not in leave_out and not any(part.startswith((".", "__py")) for part in inside.parts):
            found[f"{target}/{inside.as_posix()}"] = path
    return _compiled(found)


def one(path: Path, target: str, shown_as: Path | None = None) -> dict[str, bytes]:
    """One file, compiled, as `target`."""
    return _compiled({target: path}, {target: str(shown_as or path)})


def _compiled(paths: dict[str, Path], shown_as=None) -> dict[str, bytes]:
    """Files of the checkout are compiled once: a program for each takes longer than the board does for a test."""
    found = {}
    CACHE.mkdir(exist_ok=True)
    for target, path in paths.items():
        source, shown = path.read_bytes(), (shown_as or {}).get(target, str(path))
        name = target.removesuffix(".py") + ".mpy"
        kept = CACHE / hashlib.sha256(f"{deploy_build.MPY_VERSION} {shown}\n".encode() + source).hexdigest()
        if kept.exists():
            found[name] = kept.read_bytes()
            continue
        (found[name],) = deploy_build.compiled({target: source}, {target: shown}).values()
        if path.is_relative_to(ROOT):
            part = kept.with_suffix(f".{os.getpid()}")
            part.write_bytes(found[name])
            part.replace(kept)
    return found
