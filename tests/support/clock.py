"""A clock for tests: the real one, or a virtual one that moves only when every task waits.

A module with `CLOCK = "virtual"` runs on virtual time: when no task is ready, the clock jumps to the next deadline
instead of waiting for it. A test of an hour's timeout takes no time and has one outcome. When nothing is left that
could ever wake a task, the loop raises Stuck. `CLOCK = "wrap"` is the same, and the runtime's ticks wrap one second
after the start, where they can (CPython's as `_rt` counts them, and Adafruit's; the 62 bits of the desk's MicroPython
never do).

With `tools/dev.py test --wrapping` each test runs twice on the clock it asks for: to see how long it takes, and again with
ticks that wrap when half of that has passed.

    now()        milliseconds; only differences mean something
    advance(ms)  a blocking sleep: what a driver does with time.sleep_ms

The module itself is also a clock for buslock_sim.clock.use(): on virtual time the runner sees to that.
"""

import sys
import time

CPYTHON = sys.implementation.name == "cpython"

_virtual = None


class Virtual:
    """Virtual time, counted in microseconds."""

    ahead_ms = 0  # of ticks, see wrap_in

    def __init__(self, start_ms):
        self.start_us = self.us = start_ms * 1000

    def ms(self):
        return self.us // 1000 + self.ahead_ms

    def add_us(self, us):
        self.us += us


def is_virtual():
    return _virtual is not None


def now():
    return now_us() // 1000


def now_us():
    if _virtual:
        return _virtual.us
    return time.ticks_us() if hasattr(time, "ticks_us") else time.monotonic_ns() // 1000


def restart():
    """The virtual clock shows what it showed at first; for programs that run many things, each as if it were alone."""
    _virtual.us = _virtual.start_us


def advance(ms):
    busy_us(ms * 1000)


def busy_us(us):
    if _virtual:
        _virtual.add_us(us)
    elif hasattr(time, "sleep_us"):
        time.sleep_us(us)
    else:
        time.sleep(us / 1000000)


def install(wrap=False):
    """Makes this process's time virtual; done by the runner before it imports the tests."""
    global _virtual
    _virtual = Virtual(_runtime().start_ms(wrap))
    _runtime().install(_virtual)


class Real:
    """The real clock, with ticks that are ahead of it."""

    ahead_ms = 0


_real = Real()


def install_real():
    """Ticks, and the time of a loop, can be put ahead of the real ones from now on, see wrap_in."""
    _runtime().install_real(_real)


def wrap_in(ms):
    """Ticks wrap when so much time has passed."""
    clock = _virtual or _real
    clock.ahead_ms = 0
    clock.ahead_ms = _runtime().PERIOD_MS - ms - _runtime().ticks() % _runtime().PERIOD_MS


def _runtime():
    if CPYTHON:
        from support import clock_cpython as runtime
    else:
        from support import clock_micropython as runtime
    return runtime


def begin():
    """A test begins, and no loop runs: where virtual time must not go too far, it goes back."""
    if _virtual and sys.implementation.name == "circuitpython":
        _runtime().go_back(_virtual)
