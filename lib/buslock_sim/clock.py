"""The simulator's time, in microseconds.

now_us() tells the time and busy_us(us) is called for time spent on the wire: the length of a transfer, a stretched
clock, a time-out. use() chooses what they do:

    use("instant")     now_us() is real time, transfers take none of it (the default)
    use("real")        transfers block for as long as they would on hardware
    use(VirtualClock())   or any object with now_us() and busy_us(us): time that a test moves by hand
"""

import time


class _Instant:
    instant = True

    def __init__(self):
        self._us = 0
        self._last = _ticks()

    def now_us(self):
        # Ticks wrap; their differences add up to a time that does not.
        now = _ticks()
        self._us += _diff(now, self._last)
        self._last = now
        return self._us

    def busy_us(self, us):
        pass


class _Real(_Instant):
    instant = False

    def busy_us(self, us):
        if hasattr(time, "sleep_us"):
            time.sleep_us(us)
        else:
            time.sleep(us / 1000000)


class VirtualClock:
    """Time that moves only when it is told to, and by the length of the transfers."""

    def __init__(self, us=0):
        self._us = us

    def now_us(self):
        return self._us

    def busy_us(self, us):
        self._us += us

    def advance(self, ms):
        """Move on by ms milliseconds."""
        self._us += ms * 1000


if hasattr(time, "ticks_us"):
    _ticks = time.ticks_us
    _diff = time.ticks_diff
else:

    def _ticks():
        return time.monotonic_ns() // 1000

    def _diff(now, last):
        return now - last


_source = _Instant()


def use(source):
    """Take the time from source from now on; returns what it was taken from before."""
    global _source
    before = _source
    if source == "instant":
        source = _Instant()
    elif source == "real":
        source = _Real()
    elif not hasattr(source, "now_us") or not hasattr(source, "busy_us"):
        raise TypeError("a clock is 'instant', 'real' or an object with now_us() and busy_us(us)")
    _source = source
    return before


def now_us():
    """Microseconds since some start; never wraps."""
    return _source.now_us()


def busy_us(us):
    """Let us microseconds pass on the wire."""
    _source.busy_us(us)


def instant():
    """True if what goes over a wire takes no time."""
    return getattr(_source, "instant", False)
