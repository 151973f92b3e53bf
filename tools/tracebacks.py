"""Makes the traceback of any runtime read as if it came from the file in the checkout.

The tests run from a rewritten copy, from which MicroPython shows no lines at all and CPython the rewritten ones.
"""

import re
from pathlib import Path

FRAME = re.compile(r'^(?P<indent> *)File "(?P<file>[^"]+)", line (?P<line>\d+)(?P<rest>.*)$')
# Frames of the harness, and those of the loop that leads to the test: they say nothing about the failure.
HARNESS = re.compile(r"tests/runner\.py$|tests/support/loop\.py$|asyncio/(core|runners|base_events|events)\.py$")
FULL_LENGTH = 400  # lines


def present(text: str, moved: dict[str, str], root: Path) -> str:
    """`moved`: folders of rewritten files, and where their originals are."""
    out: list[str] = []
    frame_indent = None
    for line in text.splitlines():
        frame = FRAME.match(line)
        if frame is None:
            # CPython's source lines and markers are indented under their frame.
            if frame_indent is None or not line.startswith(" " * (frame_indent + 2)):
                frame_indent = None
                out.append(_relative(line, moved, root))
            continue
        frame_indent = len(frame["indent"])
        file = _original(frame["file"], moved)
        if HARNESS.search(file):
            continue
        number = int(frame["line"])
        shown = _short(file, root)
        # MicroPython writes "in name" after the number, as CPython does.
        out.append(f'{frame["indent"]}File "{shown}", line {number}{frame["rest"]}')
        source = _line(Path(file), number)
        if source:
            out.append(f"{frame['indent']}  {source}")
    if len(out) > FULL_LENGTH:
        half = FULL_LENGTH // 2
        out[half:-half] = [f"... {len(out) - 2 * half} lines ..."]
    return "\n".join(out)


def _original(file: str, moved: dict[str, str]) -> str:
    for folder, original in moved.items():
        if file.startswith(folder + "/"):
            return original + file[len(folder) :]
    return file


def _relative(line: str, moved: dict[str, str], root: Path) -> str:
    for folder, original in moved.items():
        line = line.replace(folder, original)
    return line.replace(f"{root}/", "")


def _short(file: str, root: Path) -> str:
    return file.removeprefix(f"{root}/")


def _line(path: Path, number: int) -> str:
    try:
        return path.read_text(encoding="utf-8").splitlines()[number - 1].strip()
    except (OSError, IndexError, UnicodeDecodeError):
        return ""
