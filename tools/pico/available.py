"""For host tests: skips those that need the emulated Pico when there is none, all with one and the same line; and runs
programs on it."""

import subprocess
import sys
from pathlib import Path

import pytest

from tools import environment
from tools.pico import firmware

LIMIT = 600


def needs_pico(kind: firmware.Kind = firmware.MICROPYTHON) -> None:
    missing = firmware.missing(kind)
    if missing:
        pytest.skip(missing)


def on_the_pico(program: Path, kind: firmware.Kind = firmware.MICROPYTHON) -> subprocess.CompletedProcess:
    needs_pico(kind)
    script = [str(environment.ROOT / "tools" / "pico" / "script.py"), str(program)]
    script += ["--circuitpython"] if kind is firmware.CIRCUITPYTHON else []
    return subprocess.run([sys.executable, *script], capture_output=True, text=True, timeout=LIMIT)
