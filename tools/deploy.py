"""Copies the library onto a board, compiled to .mpy, and checks that it has arrived.

python3 tools/deploy.py                              everything, on the only board there is
python3 tools/deploy.py --only i2c                   what I2C needs (lock, i2c, spi, uart, a module, or program.py)
python3 tools/deploy.py --run examples/read_registers.py      and then the example, with what it prints
python3 tools/deploy.py --list                       the boards that are there
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
if __name__ == "__main__":
    sys.path[0] = str(ROOT)

from tools import environment  # noqa: E402

HELP = "Copies the library onto a board, compiled to .mpy, checks that it has arrived, and can run an example there."
LOCK = "pico.deploy"


def add_arguments(parser):
    parser.add_argument("--port", help="the board's serial port, if there are several or it is not found")
    only = "copy what this needs: lock, i2c, spi, uart, a module, or a program's file; may be given more than once"
    parser.add_argument("--only", action="append", default=[], metavar="NAME", help=only)
    parser.add_argument("--source", action="store_true", help="copy .py files instead of .mpy")
    parser.add_argument("--run", type=Path, metavar="PROGRAM", dest="program", help="run this on the board afterwards")
    parser.add_argument("--list", action="store_true", help="show the boards that are there, and end")


def run(args) -> int:
    """As a command of tools/dev.py."""
    return subprocess.run([sys.executable, str(Path(__file__).resolve()), *sys.argv[2:]]).returncode


def deploy(args, say) -> int:
    """The whole of it, in the Python of .venv. DeployError and BuildError say what is wrong."""
    from tools.deploy_board import Board, DeployError, choose, ports

    found = ports()
    if args.list:
        print("\n".join(map(str, found)) or "no board found")
        return 0
    if args.program and not args.program.is_file():
        raise DeployError(f"there is no program {args.program}")
    files, modules = _build(args, say)  # before anything is asked of the board
    board = Board(choose(args.port, found))
    try:
        say(f"{board.port}: {board.info}")
        board.check()
        install(board, files, say)
        _show(board, modules, say)
        if args.program:
            return _run_program(board, args.program, say)
    finally:
        board.close()
    return 0


def _build(args, say) -> tuple[dict[str, bytes], list[str]]:
    from tools import deploy_build

    modules = deploy_build.chosen(args.only)
    files = deploy_build.sources(modules)
    if not args.source:
        files = deploy_build.compiled(files)
    kind = "source files" if args.source else ".mpy files"
    say(f"{len(files)} {kind}, {sum(map(len, files.values())) / 1024:.1f} KB")
    return files, modules


def install(board, files: dict[str, bytes], say) -> None:
    """Copies `files`, {"buslock/lock.mpy": data}, after checking that the board can read them."""
    from tools.deploy_board import DeployError
    from tools.deploy_build import MPY_VERSION
    from tools.deploy_copy import Copy

    reads = board.info.mpy & 0xFF
    if any(name.endswith(".mpy") for name in files) and reads != MPY_VERSION:
        raise DeployError(
            f"{board.info} reads .mpy files of version {reads or 'none'}, and mpy-cross makes version {MPY_VERSION}: "
            "copy sources with --source, or flash a newer MicroPython"
        )
    copied = Copy(board, "buslock", {name.removeprefix("buslock/"): data for name, data in files.items()}, say).run()
    say("copied, and read back as sent" if copied else "the board has exactly this already")


def _show(board, modules, say) -> None:
    """Imports it there: another buslock may be found first."""
    from tools.deploy_board import DeployError

    found, version = board.run("import buslock\nprint(buslock.__file__, buslock.__version__)").split()
    if not found.startswith("/lib/buslock/"):
        raise DeployError(
            f"`import buslock` on the board finds {found}, version {version}, and not what was copied to /lib: "
            "delete that one, or use firmware without a frozen buslock"
        )
    say(f"`import buslock` finds version {version} in /lib/buslock, {len(modules)} modules")


def _run_program(board, program: Path, say) -> int:
    from tools.deploy_boards import put_boards

    put_boards(board, program, say)
    say(f"running {program}; Ctrl-C ends it")

    def output(data: bytes):
        sys.stdout.buffer.write(data.replace(b"\r\n", b"\n").replace(b"\x04", b""))
        sys.stdout.flush()

    errors = board.follow(program.read_text(encoding="utf-8"), output)
    if errors:
        print(errors.replace("\r\n", "\n"), end="", file=sys.stderr)
    return 1 if errors else 0


def _say(text: str, passing: bool = False) -> None:
    """A line; a `passing` one is overwritten by the next, on a terminal."""
    if passing and sys.stdout.isatty():
        print(f"\r\x1b[K{text}", end="", flush=True)
    else:
        erase = "\r\x1b[K" if sys.stdout.isatty() else ""
        print(f"{erase}{text if passing else '-- ' + text}", flush=True)


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="tools/deploy.py", description=HELP)
    add_arguments(parser)
    args = parser.parse_args(argv)
    environment.ensure(LOCK)
    if Path(sys.prefix).resolve() != environment.VENV.resolve():
        here = [str(environment.python()), str(Path(__file__).resolve()), *argv]
        sys.exit(subprocess.run(here).returncode if os.name == "nt" else os.execv(here[0], here))
    from tools.deploy_board import DeployError
    from tools.deploy_build import BuildError

    try:
        return deploy(args, _say)
    except (DeployError, BuildError) as e:
        print(f"\n{e}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\ninterrupted; the board has the package it had, or none: start again", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
