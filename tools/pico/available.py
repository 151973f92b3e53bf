"""For host tests: skips those that need the emulated Pico when there is none, all with one and the same line."""

import pytest

from tools.pico import firmware


def needs_pico() -> None:
    missing = firmware.missing()
    if missing:
        pytest.skip(missing)
