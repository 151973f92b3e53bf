"""The CPython half of `_rt`, with the same names. Boards do not need this file."""

import asyncio
import inspect
import sys
import threading
import time
from asyncio import CancelledError, create_task  # noqa: F401

from . import _rt

OUTSIDE = _rt.OUTSIDE

if not hasattr(asyncio.Task, "uncancel"):
    raise ImportError("buslock needs CPython 3.11 or newer (asyncio.Task.uncancel); this is " + sys.version)

_PERIOD = 1 << 30  # wraps like MicroPython's ticks on a 32-bit board


class _Done:
    def __await__(self):
        return iter(())


DONE = _Done()


class given:
    def __init__(self, result):
        self._result = result

    def __await__(self):
        return self._result
        yield


Given = given
ONE_LOOP = False


def current_task():
    try:
        return asyncio.current_task() or OUTSIDE
    except RuntimeError:
        return OUTSIDE


def task_in(loop):
    return current_task() if loop_id() is loop else None


def loop_id():
    """The running loop; None outside."""
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def ticks_ms():
    # The loop's clock, so that a loop with a virtual clock is believed.
    loop = loop_id()
    return int((time.monotonic() if loop is None else loop.time()) * 1000) % _PERIOD


def thread_id():
    return threading.get_ident()


def awaited(x):
    return x


def is_running(loop):
    return loop.is_running()


def ticks_us():
    return time.monotonic_ns() // 1000


US_STEP_MS = 0  # what ticks_us() goes on by, where that is more than it says
event_ticks = ticks_us  # of a trace
EVENT_UNIT = "us"
EVENT_WRAP = _PERIOD


def ticks_diff_us(end, start):
    return end - start


def ticks_add(ticks, ms):
    return (ticks + ms) % _PERIOD


def ticks_diff(end, start):
    return (end - start + _PERIOD // 2) % _PERIOD - _PERIOD // 2


async def sleep_ms(ms):
    await asyncio.sleep(ms / 1000)


def is_awaitable(x):
    return inspect.isawaitable(x)


def ended(task):
    return task is OUTSIDE or task.done()


def task_name(task):
    """The name given to the task, else that of its coroutine function."""
    if task is OUTSIDE:
        return "(no task)"
    name = task.get_name()
    return task.get_coro().__name__ if name.startswith("Task-") else name


def can_resume(task):
    """False if the task belongs to a closed loop."""
    return not task.get_loop().is_closed()


async def park(waiter, ms):
    loop = asyncio.get_running_loop()
    waiter.future = future = loop.create_future()
    timer = None if ms is None else loop.call_later(ms / 1000, _time_out, future)
    try:
        # Cancelled here: the future is cancelled too, so wake() says False from then on.
        await future
    finally:
        if timer is not None:
            timer.cancel()


def _time_out(future):
    if not future.done():
        future.set_result(None)


SHOWS_PARKED = False


def parked_waiter(task):
    return None


def wake(waiter, loop):
    future = waiter.future
    if future.cancelled() or future.get_loop().is_closed() or loop is not loop_id():
        return False
    if not future.done():  # done: timed out, but not yet run, so it still sees the grant
        future.set_result(None)
    return True


def on_its_way(waiter):
    """True if a parked task was cancelled, or its time is over, and it has not run since: it waits for nothing."""
    return waiter.future.done()


class Alarm:
    """Cancels the running task after `ms`; Task.cancelling() tells this cancel from any other."""

    def __init__(self, ms):
        loop = asyncio.get_running_loop()
        self._task = task = asyncio.current_task()
        self._before = task.cancelling()
        self._rang = False
        # With 0 it rings before a sleep(0) of the task is over.
        self._timer = loop.call_later(ms / 1000, self._ring) if ms else loop.call_soon(self._ring)

    def _ring(self):
        self._rang = True
        self._task.cancel()

    def stop(self, exc):
        self._timer.cancel()
        if not self._rang:
            return False
        return self._task.uncancel() <= self._before and isinstance(exc, CancelledError)


async def settle():
    """Nothing is left behind by an alarm here."""
