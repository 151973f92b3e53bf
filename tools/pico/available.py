"""For host tests: skips those that need the emulated Pico when there is none, all with one and the same line."""

import pytest

from tools.pico import firmware


def needs_pico(kind: firmware.Kind = firmware.MICROPYTHON) -> None:
    missing = firmware.missing(kind)
    if missing:
        pytest.skip(missing)
