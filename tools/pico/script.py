"""Runs a program on real Pico firmware in the emulator, with the library, boards and the chips of tools/pico/desk.py.

    python3 tools/pico/script.py examples/read_registers.py
    python3 tools/pico/script.py --circuitpython examples/read_registers.py

The first time it installs the emulator, and downloads the firmware unless PICO_UF2 names an image. CircuitPython's is
the one that PICO_CIRCUITPYTHON_UF2 names.
"""

import argparse
import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
if __name__ == "__main__":
    sys.path[0] = str(ROOT)

from tools import environment  # noqa: E402
from tools.pico import firmware  # noqa: E402

HELP = "Runs a program on real Pico firmware in an emulator, with the library and simulated chips on its pins."


def add_arguments(parser):
    parser.add_argument("program", type=Path)
    parser.add_argument("--circuitpython", action="store_true", help="on CircuitPython's firmware")
    parser.add_argument(
        "--package", type=Path, metavar="JSON", help="only the sources of that package-….json, not .mpy"
    )
    parser.add_argument("--limit", type=float, metavar="S", help="stop it after this many seconds of real time")


def run(args) -> int:
    """As a command of tools/dev.py."""
    options = [] if args.limit is None else ["--limit", str(args.limit)]
    options += ["--circuitpython"] if args.circuitpython else []
    options += ["--package", str(args.package)] if args.package else []
    return subprocess.run([sys.executable, str(Path(__file__).resolve()), str(args.program), *options]).returncode


def installed(package: Path) -> dict[str, bytes]:
    """What mip makes of a package file."""
    urls = json.loads(package.read_text(encoding="utf-8"))["urls"]
    return {f"/lib/{name}": (package.parent / url).read_bytes() for name, url in urls}


def make_board(image: Path, program: Path, circuit: bool, package: Path | None = None):
    from tools.pico.desk import desk_for

    if circuit:
        from tools.pico import circuitpython

        files = {**circuitpython.files(), "/program.py": program.read_bytes()}
        return circuitpython.CircuitPythonPico(image, files, desk_for(program, circuit))
    from tools.pico import flash
    from tools.pico.board import Pico

    files = {
        **(installed(package) if package else flash.library(as_deployed=True)),
        **flash.tree(ROOT / "boards", "/boards"),
        "/program.py": program.read_bytes(),
    }
    return Pico(image, files, desk_for(program))


async def run_on_board(pico, limit: float | None) -> int:
    """1 if the program ended with an exception or broke the rules of a chip, 2 if it did not end in time."""
    await pico.boot()
    try:
        code = "exec(compile(open('/program.py').read(), '/program.py', 'exec'))\n"  # CircuitPython has no execfile
        _, errors = await pico.run_code(code, output=lambda text: print(text, end="", flush=True), limit=limit)
    except TimeoutError:
        print(f"-- not at its end after {limit:g} s ({pico.seconds:.1f} s of the board's time)", file=sys.stderr)
        return 2
    finally:
        pico.stop()
    if errors and "SystemExit" not in errors:
        print(errors, end="", file=sys.stderr)
        return 1
    for text in pico.desk.violations():
        print(f"-- against the rules: {text}", file=sys.stderr)
    return 1 if pico.desk.violations() else 0


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="tools/pico/script.py", description=HELP)
    add_arguments(parser)
    args = parser.parse_args(argv)
    if not args.program.is_file():
        parser.error(f"there is no {args.program}")
    kind = firmware.CIRCUITPYTHON if args.circuitpython else firmware.MICROPYTHON
    try:
        image = firmware.find(kind) or (None if args.circuitpython else firmware.download())
    except firmware.FirmwareError as e:
        sys.exit(str(e))
    if image is None:
        tried = "" if args.circuitpython else ", and the download did not work"
        sys.exit(f"no firmware image{tried}: {kind.how}")
    failed = firmware.install()
    if failed:
        sys.exit(failed)
    if args.circuitpython:
        environment.ensure("adafruit")
    if Path(sys.prefix).resolve() != environment.VENV.resolve():
        here = [str(environment.python()), str(Path(__file__).resolve()), *argv]
        os.execv(here[0], here)
    environment.say(f"{args.program} on {firmware.describe(image, kind)}, Raspberry Pi Pico emulated by rp2040py")
    return asyncio.run(run_on_board(make_board(image, args.program, args.circuitpython, args.package), args.limit))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
