"""Virtual time under CPython's asyncio: a loop whose time() is the virtual clock, and whose selector moves it."""

import asyncio
import math
import selectors

from support.outcome import Stuck

PERIOD_MS = 1 << 30  # of buslock._rt.ticks_ms
GRACE_S = 1.0  # real time in which another thread may still wake a loop that has nothing to wait for


def start_ms(wrap):
    return PERIOD_MS - 1000 if wrap else 1000000


def install(clock):
    """Every loop made from now on runs on this clock, those of asyncio.run() included."""

    def new_event_loop():
        return Loop(clock)

    asyncio.new_event_loop = asyncio.events.new_event_loop = new_event_loop


def install_real(clock):
    class RealLoop(asyncio.SelectorEventLoop):
        def time(self):
            return super().time() + clock.ahead_ms / 1000

    asyncio.new_event_loop = asyncio.events.new_event_loop = RealLoop


def ticks():
    """As `_rt` counts them in a loop."""
    loop = asyncio.new_event_loop()
    try:
        return int(loop.time() * 1000)
    finally:
        loop.close()


class Loop(asyncio.SelectorEventLoop):
    def __init__(self, clock):
        self._clock = clock
        super().__init__(Selector(clock))
        # Of this clock. The machine's, a nanosecond, is nothing to a float of more than 8 million seconds, and a timer
        # that is due now would never be.
        self._clock_resolution = 1e-6

    def time(self):
        return self._clock.us / 1000000 + self._clock.ahead_ms / 1000


class Selector(selectors.DefaultSelector):
    def __init__(self, clock):
        super().__init__()
        self._clock = clock

    def select(self, timeout=None):
        ready = super().select(0)
        if ready or timeout == 0:
            return ready
        if timeout is None:
            ready = super().select(GRACE_S)
            if not ready:
                raise Stuck("every task waits for something that can never come")
            return ready
        # Rounded up, or the timer would not be due by the loop's reckoning and be waited for again.
        self._clock.add_us(math.ceil(timeout * 1000000))
        return ready
