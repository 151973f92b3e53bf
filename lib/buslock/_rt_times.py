"""The part of `_rt` that tells microseconds, and the times of a trace."""

import time
from asyncio import core

if hasattr(time, "ticks_us"):
    ticks_us = time.ticks_us
    ticks_diff_us = time.ticks_diff
    # The times of a trace: the finest that the port has, of which no number is too large for a small int.
    event_ticks = ticks_us
    EVENT_UNIT = "us"
    EVENT_WRAP = 1 << 30
else:  # CircuitPython
    event_ticks = core.ticks
    EVENT_UNIT = "ms"
    EVENT_WRAP = 1 << 29

    def ticks_us():
        return core.ticks() * 1000

    def ticks_diff_us(end, start):
        return core.ticks_diff(end // 1000, start // 1000) * 1000
