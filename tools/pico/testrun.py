"""The process of the runtime `pico`: tests of one module on the emulated board.

    python -m tools.pico.testrun KIND FOLDER ORIGIN MODULE CLOCK TEST...     KIND is micropython or circuitpython

Prints the lines of tests/runner.py as they come. SIGINT becomes Ctrl-C on the board, which then tells where it hangs.
"""

import asyncio
import signal
import sys
from pathlib import Path

from tools.pico import firmware, flash

ROOT = flash.ROOT
TESTS = ROOT / "tests"


def files(folder: Path, origin: Path, module: str) -> dict[str, bytes]:
    """The board's file system: the rewritten module, what it may import, the runner, the library."""
    board = {
        **flash.library(),
        **flash.tree(ROOT / "lib" / "buslock_sim", "/lib/buslock_sim"),
        **flash.tree(ROOT / "boards", "/boards"),
        **flash.tree(TESTS / "support", "/tests/support", leave_out=("clock_cpython.py",)),
        **flash.one(TESTS / "runner.py", "/tests/runner.py"),
        **flash.one(folder / f"{module}.py", f"/tests/{module}.py"),
    }
    for path in origin.glob("*.py"):  # modules beside it that it may import
        if not path.name.startswith("test_") and path.name not in ("conftest.py", "runner.py"):
            board.update(flash.one(path, f"/tests/{path.name}"))
    if (ROOT / "examples").is_dir():
        board.update(flash.tree(ROOT / "examples", "/examples"))
    return board


def circuitpython_files(folder: Path, origin: Path, module: str) -> dict[str, bytes]:
    """The same for CircuitPython, as sources."""
    from tools.pico import circuitpython

    board = {
        **circuitpython.files(),
        **circuitpython.tree(TESTS / "support", "/tests/support"),
        "/tests/runner.py": (TESTS / "runner.py").read_bytes(),
        f"/tests/{module}.py": (folder / f"{module}.py").read_bytes(),
    }
    for path in origin.glob("*_rig.py"):
        board[f"/tests/{path.name}"] = path.read_bytes()
    return board


def make_board(kind: str, folder: Path, origin: Path, module: str):
    wanted = firmware.CIRCUITPYTHON if kind == "circuitpython" else firmware.MICROPYTHON
    image = firmware.find(wanted)
    if image is None:
        sys.exit(firmware.missing(wanted) or "no firmware image")
    if kind == "circuitpython":
        from tools.pico.circuitpython import CircuitPythonPico

        return CircuitPythonPico(image, circuitpython_files(folder, origin, module))
    from tools.pico.board import Pico

    return Pico(image, files(folder, origin, module))


async def run(arguments: list[str]) -> int:
    kind, folder, origin, module, clock, *tests = arguments
    pico = make_board(kind, Path(folder), Path(origin), module)
    asyncio.get_running_loop().add_signal_handler(signal.SIGINT, pico.interrupt)
    await pico.boot()
    code = f"import sys\nsys.path.append('/tests')\nimport runner\nrunner.run({module!r}, {tests!r}, {clock!r})\n"
    try:
        _, errors = await pico.run_code(code, output=_pass_on)
    finally:
        pico.stop()
    if errors and "SystemExit" not in errors:
        print(errors, flush=True)
        return 1
    return 1 if errors else 0


def _pass_on(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(asyncio.run(run(sys.argv[1:])))
