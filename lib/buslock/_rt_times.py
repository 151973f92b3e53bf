"""The part of `_rt` that tells the times of a trace."""

import time
from asyncio import core

# The finest that the port has, of which no number is too large for a small int.
if hasattr(time, "ticks_us"):
    event_ticks = time.ticks_us
    EVENT_UNIT = "us"
    EVENT_WRAP = 1 << 30
else:  # CircuitPython
    event_ticks = core.ticks
    EVENT_UNIT = "ms"
    EVENT_WRAP = 1 << 29
