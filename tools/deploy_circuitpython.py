"""The library laid out as CircuitPython's community bundle wants a library: prepared, not published.

python3 tools/deploy_circuitpython.py [FOLDER]      writes build/circuitpython
CIRCUITPYTHON_MPY_CROSS=mpy-cross.static-… python3 tools/deploy_circuitpython.py --mpy     and mpy/buslock for lib on CIRCUITPY

buslock/                          the package, at the top; without what only CPython uses
examples/buslock_simpletest.py    one short program that says how it is used
pyproject.toml, requirements.txt  from which circup knows what else to install
mpy/buslock/                      with --mpy: compiled, by the mpy-cross of CircuitPython that the variable names
README.md, LICENSE, REUSE.toml, LICENSES/MIT.txt  who may use it, as the bundle's checks read it
"""

import argparse
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
if __name__ == "__main__":
    sys.path[0] = str(ROOT)

from tools import deploy_build, package  # noqa: E402

REQUIREMENTS = ("adafruit-circuitpython-asyncio", "adafruit-circuitpython-ticks")
SIMPLETEST = '''\
# SPDX-License-Identifier: MIT
"""Two tasks read the same sensor, each when it likes; the bus sees to it that one speaks at a time."""

import asyncio

import board

from buslock import BusError, I2CBus

bus = I2CBus(board.I2C)  # made on first use
sensor = bus.device(0x48)


async def read(name, register, every_s):
    for _ in range(3):
        try:
            print(name, await sensor.read_register(register, 2))
        except BusError as error:
            print(name, error)
        await asyncio.sleep(every_s)


async def main():
    await asyncio.gather(read("temperature", 0x00, 0.2), read("identity", 0x0F, 0.3))


asyncio.run(main())
'''
PYPROJECT = """\
[build-system]
requires = ["setuptools"]
build-backend = "setuptools.build_meta"

[project]
name = "circuitpython-buslock"
description = "I2C, SPI and UART shared between asyncio tasks"
version = "{version}"
readme = "README.md"
license = {{ text = "MIT" }}
keywords = ["circuitpython", "asyncio", "i2c", "spi", "uart", "lock"]
dependencies = [{dependencies}]

[tool.setuptools]
packages = ["buslock"]
"""


REUSE = """\
version = 1

[[annotations]]
path = "**"
SPDX-FileCopyrightText = "{holder}"
SPDX-License-Identifier = "MIT"
"""


def write(folder: Path) -> None:
    """Writes the layout; what was in the folder's `buslock` and `examples` before is removed."""
    for name in ("buslock", "examples"):
        shutil.rmtree(folder / name, ignore_errors=True)
        (folder / name).mkdir(parents=True)
    for name, data in deploy_build.sources(deploy_build.modules()).items():
        (folder / name).write_bytes(data)
    (folder / "examples" / "buslock_simpletest.py").write_text(SIMPLETEST)
    dependencies = ", ".join(f'"{name}"' for name in REQUIREMENTS)
    (folder / "pyproject.toml").write_text(PYPROJECT.format(version=package.version(), dependencies=dependencies))
    (folder / "requirements.txt").write_text("".join(f"{name}\n" for name in REQUIREMENTS))
    for name in ("README.md", "LICENSE"):
        shutil.copyfile(ROOT / name, folder / name)
    (folder / "LICENSES").mkdir(exist_ok=True)
    shutil.copyfile(ROOT / "LICENSE", folder / "LICENSES" / "MIT.txt")
    (folder / "REUSE.toml").write_text(REUSE.format(holder=copyright_line().removeprefix("Copyright (c) ")))


def write_mpy(folder: Path) -> None:
    """The compiled package. It is loaded five times as fast as the sources, and keeps as much RAM."""
    files = deploy_build.compiled(deploy_build.sources(deploy_build.modules()), circuit=True)
    shutil.rmtree(folder / "mpy", ignore_errors=True)
    (folder / "mpy" / "buslock").mkdir(parents=True)
    for name, data in files.items():
        (folder / "mpy" / name).write_bytes(data)


def copyright_line() -> str:
    """Of LICENSE."""
    lines = (ROOT / "LICENSE").read_text(encoding="utf-8").splitlines()
    return next(line for line in lines if line.startswith("Copyright"))


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="tools/deploy_circuitpython.py", description="Writes a bundle's layout.")
    parser.add_argument("folder", type=Path, nargs="?", default=ROOT / "build" / "circuitpython")
    parser.add_argument(
        "--mpy", action="store_true", help=f"the .mpy files, too; {deploy_build.CIRCUITPYTHON_VARIABLE}"
    )
    args = parser.parse_args(argv)
    write(args.folder)
    package = args.folder / "buslock"
    if args.mpy:
        try:
            write_mpy(args.folder)
        except deploy_build.BuildError as e:
            sys.exit(str(e))
        package = args.folder / "mpy" / "buslock"
    print(f"-- copy {package} into lib on CIRCUITPY, or give {args.folder} to circuitpython-build-bundles")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
