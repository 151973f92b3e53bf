"""A clock for tests: the real one, or a virtual one that moves only when every task waits.

A module with `CLOCK = "virtual"` runs on virtual time: when no task is ready, the clock jumps to the next deadline
instead of waiting for it. A test of an hour's timeout takes no time and has one outcome. When nothing is left that
could ever wake a task, the loop raises Stuck. `CLOCK = "wrap"` is the same, and the runtime's ticks wrap one second
after the start, where they can (CPython's as `_rt` counts them, and Adafruit's; the 62 bits of the desk's MicroPython
never do).

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

    def __init__(self, start_ms):
        self.start_us = self.us = start_ms * 1000

    def ms(self):
        return self.us // 1000

    def add_us(self, us):
        self.us += us


def is_virtual():
    return _virtual is not None


def now():
    return now_us() // 1000


def now_us():
    if _virtual:
        return _virtual.us
    return time.monotonic_ns() // 1000 if CPYTHON else time.ticks_us()


def restart():
    """The virtual clock shows what it showed at first; for programs that run many things, each as if it were alone."""
    _virtual.us = _virtual.start_us


def advance(ms):
    busy_us(ms * 1000)


def busy_us(us):
    if _virtual:
        _virtual.add_us(us)
    elif CPYTHON:
        time.sleep(us / 1000000)
    else:
        time.sleep_us(us)


def install(wrap=False):
    """Makes this process's time virtual; done by the runner before it imports the tests."""
    global _virtual
    if CPYTHON:
        from support import clock_cpython as runtime
    else:
        from support import clock_micropython as runtime
    _virtual = Virtual(runtime.start_ms(wrap))
    runtime.install(_virtual)
