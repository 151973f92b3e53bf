"""The part of `_rt` that tells the times of a trace."""

from asyncio import core

from ._rt import US_STEP_MS, ticks_us

# The finest that the port has, of which no number is too large for a small int.
if not US_STEP_MS:
    event_ticks = ticks_us
    EVENT_UNIT = "us"
    EVENT_WRAP = 1 << 30
else:  # CircuitPython
    event_ticks = core.ticks
    EVENT_UNIT = "ms"
    EVENT_WRAP = 1 << 29
