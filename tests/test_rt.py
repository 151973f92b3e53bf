"""`_rt`: what it needs of each runtime's asyncio is there, it says so when it is not, and its clock may wrap."""

import asyncio
import gc
import os
import sys
import time

from buslock import DeadlineExceeded, Lazy, Lock, LockTimeout, _rt, deadline
from support import clock
from support.small import SMALL
from support.turns import raises, raises_async, turns

CLOCK = "wrap"

CPYTHON = sys.implementation.name == "cpython"


def ticks_add(ticks, ms):
    return _rt.ticks_add(ticks, ms) if CPYTHON else asyncio.core.ticks_add(ticks, ms)


def period():
    """That of the ticks of this runtime."""
    return ticks_add(0, -1) + 1


class Waiter:
    """What `_rt` wants to know of a task that waits."""

    def __init__(self):
        self.task = _rt.current_task()
        self.loop = _rt.loop_id()

    def remove(self, task):
        pass


def advance_to_wrap(before_ms):
    """Blocks until the ticks wrap in `before_ms`; where they cannot wrap in a test, it does nothing."""
    if period() < 1 << 40:
        clock.advance((-before_ms - _rt.ticks_ms()) % period())


class Without:
    """An asyncio, or a part of it, that lacks one name."""

    def __init__(self, real, name, **others):
        for key in dir(real):
            if key != name and not key.startswith("__"):
                setattr(self, key, others.get(key) or getattr(real, key))


def error_without(name):
    """The ImportError of importing `_rt` where asyncio lacks the name; None if that works."""
    if CPYTHON:
        asyncio_without = Without(asyncio, None, Task=Without(asyncio.Task, name))
    else:
        asyncio_without = Without(asyncio, None, core=Without(asyncio.core, name))
    saved = {
        key: sys.modules.pop(key) for key in ("buslock._rt", "buslock._rt_cpython", "asyncio") if key in sys.modules
    }
    sys.modules["asyncio"] = asyncio_without
    try:
        __import__("buslock._rt", None, None, ("ticks_ms",))
    except ImportError as error:
        return error
    finally:
        sys.modules.update(saved)
        sys.modules["buslock"]._rt = saved["buslock._rt"]
    return None


async def test_asyncio_has_the_internals_that_are_needed():
    """Each runtime's asyncio behaves in the points that are not documented and that the library relies on."""

    async def sleeper():
        try:
            await asyncio.sleep(10)
        except asyncio.CancelledError:
            seen.append("cancelled")
            raise

    seen = []
    task = asyncio.create_task(sleeper())
    await turns()
    if CPYTHON:
        assert task.cancelling() == 0
        task.cancel()
        assert task.cancelling() == 1
        assert task.uncancel() == 0
    else:
        core = asyncio.core
        # A sleeping task is in the heap, with the time at which it is due; one that is cancelled carries the exception.
        assert task.data is None
        assert core.ticks_diff(task.ph_key, core.ticks()) == 10000
        assert core.current_task() is core.cur_task
        task.cancel()
        assert task.data is core.CancelledError
        assert core.ticks_diff(task.ph_key, core.ticks()) <= 0
    await raises_async(asyncio.CancelledError, task)
    assert seen == ["cancelled"]


def test_import_without_an_internal_raises():
    """Where asyncio lacks something that is needed, the import raises ImportError with its name and the version."""
    names = ("_task_queue", "_io_queue", "cur_task", "ticks", "ticks_add", "ticks_diff", "sleep_ms", "Task")
    if CPYTHON:
        names = ("uncancel",)
    assert error_without("something that is not needed") is None
    for name in names:
        error = error_without(name)
        assert error is not None, name
        assert name in str(error)
        assert sys.version in str(error)


async def test_ticks_wrap_in_these_tests():
    """The clock of these tests does wrap, where it can: the ticks get smaller while the time goes on."""
    advance_to_wrap(5)
    before = _rt.ticks_ms()
    await asyncio.sleep(0.01)
    after = _rt.ticks_ms()
    assert _rt.ticks_diff(after, before) in (10, 11)  # CPython's timers are not on whole milliseconds
    assert after < before or period() >= 1 << 40


def unload(kept):
    """Room for others, on a board: what has been imported besides."""
    for name in list(sys.modules):
        if name.startswith("buslock.") and name not in kept:
            del sys.modules[name]
            delattr(sys.modules["buslock"], name.split(".")[1])


def test_importing_every_module_starts_nothing():
    """Importing the whole library creates no task and no event loop."""
    before = list(sys.modules)
    folder = _rt.__file__[: _rt.__file__.rfind("/")]
    names = [name.split(".")[0] for name in os.listdir(folder) if name.endswith((".py", ".mpy"))]
    assert "lock" in names
    for name in names:
        if name[:4] != "_rt_" or (name == "_rt_cpython") == CPYTHON:
            __import__("buslock." + name)
            gc.collect()
            if SMALL and gc.mem_free() < 60000:
                unload(before)
    if CPYTHON:
        assert _rt.loop_id() is None
    else:
        assert asyncio.core._task_queue.peek() is None
    assert _rt.current_task() is _rt.OUTSIDE


def test_ticks_diff_around_the_wrap():
    """Differences of ticks are right on both sides of the wrap, as far as half a period apart."""
    last = period() - 1
    assert ticks_add(last, 1) == 0
    assert _rt.ticks_diff(0, last) == 1
    assert _rt.ticks_diff(last, 0) == -1
    assert _rt.ticks_diff(499, ticks_add(499, -1000)) == 1000
    assert _rt.ticks_diff(ticks_add(499, -1000), 499) == -1000
    # The longest time that a caller may name, on the clock with the shortest period too.
    for start in (0, 1, last, last // 2):
        assert _rt.ticks_diff(ticks_add(start, (1 << 28) - 1), start) == (1 << 28) - 1


async def test_lock_timeout_across_the_wrap():
    """A wait that begins before the wrap of the ticks and ends after it takes its time, no more and no less."""
    lock = Lock()

    async def holder():
        async with lock:
            await asyncio.sleep(9)

    for before_ms in (0, 1, 15, 29, 30):
        advance_to_wrap(before_ms)
        task = asyncio.create_task(holder())
        await turns()
        start = clock.now()
        await raises_async(LockTimeout, lock.acquire(timeout_ms=30))
        assert clock.now() - start == 30
        task.cancel()
        await turns(2)


async def test_grant_across_the_wrap():
    """A release after the wrap wakes one that began to wait with a deadline before it."""
    lock = Lock()

    async def holder():
        async with lock:
            advance_to_wrap(10)
            await asyncio.sleep(0.02)

    task = asyncio.create_task(holder())
    await turns()
    start = clock.now()
    assert await lock.acquire(timeout_ms=1000)
    assert clock.now() - start < 1000
    lock.release()
    await task


async def test_deadline_across_the_wrap():
    """A deadline that begins before the wrap ends its block after it, at its time."""
    advance_to_wrap(15)
    start = clock.now()
    try:
        async with deadline(40):
            await asyncio.sleep(3)
        raise AssertionError("not interrupted")
    except DeadlineExceeded:
        pass
    assert clock.now() - start == 40


async def test_retry_time_across_the_wrap():
    """retry_ms of a Lazy is counted across the wrap."""
    calls = []

    def factory():
        calls.append(1)
        raise OSError(5, "no answer")

    advance_to_wrap(15)
    lazy = Lazy(factory, retry_ms=40)
    await raises_async(OSError, lazy.get())
    await asyncio.sleep(0.039)
    await raises_async(OSError, lazy.get())
    assert len(calls) == 1
    await asyncio.sleep(0.001)
    await raises_async(OSError, lazy.get())
    assert len(calls) == 2


async def test_current_task_and_its_name():
    """The current task is known inside a task, and messages call it by its coroutine function."""

    async def display():
        seen.append(_rt.current_task())
        assert _rt.task_name(seen[0]) == "display"
        assert not _rt.ended(seen[0])

    seen = []
    task = asyncio.create_task(display())
    await task
    assert seen == [task]
    assert _rt.ended(task)
    if CPYTHON:
        named = asyncio.create_task(turns(), name="the display")
        assert _rt.task_name(named) == "the display"
        await named


def test_outside_of_all_tasks():
    """Code that runs in no task counts as a task that has ended, with a name for messages."""
    assert _rt.current_task() is _rt.OUTSIDE
    assert _rt.ended(_rt.OUTSIDE)
    assert _rt.task_name(_rt.OUTSIDE) == "(no task)"
    lock = Lock()
    assert lock.try_acquire()
    assert not lock.try_acquire()
    lock.release()
    assert not lock.locked()


def test_loop_id_changes_with_the_loop():
    """A replaced loop is seen by its identity, which does not change while the loop lives."""

    async def look():
        seen.append(_rt.loop_id())
        await turns()
        seen.append(_rt.loop_id())

    seen = []
    for _ in range(2):
        if CPYTHON:
            asyncio.run(look())
        else:
            asyncio.new_event_loop()
            asyncio.core.cur_task = None
            asyncio.run(look())
    assert seen[0] is seen[1]
    assert seen[2] is seen[3]
    assert seen[0] is not seen[2]


async def test_done_can_be_awaited_again_and_again():
    """The awaitable of an entry that need not wait is one object, awaited as often as wanted, without a turn."""
    ran = []

    async def other():
        ran.append(1)

    task = asyncio.create_task(other())
    for _ in range(100):
        await _rt.DONE
    assert ran == []
    await task


async def test_wake_refuses_a_cancelled_task():
    """Waking a parked task that was cancelled is refused, and its CancelledError arrives all the same."""
    for ms in (None, 1000):
        seen = []

        async def parked():
            waiter = Waiter()
            waiters.append(waiter)
            try:
                await _rt.park(waiter, ms)
                seen.append("woken")
            except asyncio.CancelledError:
                seen.append("cancelled")
                raise

        waiters = []
        for cancel in (False, True):
            task = asyncio.create_task(parked())
            await turns()
            if cancel:
                task.cancel()
            assert _rt.wake(waiters.pop(), _rt.loop_id()) is not cancel
            await turns(2)
            assert task.done()
        assert seen == ["woken", "cancelled"]


async def test_wake_refuses_a_task_of_another_loop():
    """One that waits in a loop which was replaced is not brought into this one."""
    woken = []

    async def parked():
        waiter = Waiter()
        waiters.append(waiter)
        await _rt.park(waiter, None)
        woken.append(True)

    waiters = []
    task = asyncio.create_task(parked())
    await turns()
    assert not _rt.wake(waiters[0], object())
    await turns(2)
    assert not woken
    assert _rt.wake(waiters[0], _rt.loop_id())
    await task
    assert woken


async def test_wake_of_one_whose_time_is_over_still_counts():
    """A task whose time is over but that has not run yet can be woken: it will see what it was granted."""

    async def parked():
        waiter = Waiter()
        waiters.append(waiter)
        await _rt.park(waiter, 5)

    waiters = []
    task = asyncio.create_task(parked())
    await turns()
    clock.advance(10)
    assert _rt.wake(waiters[0], _rt.loop_id())
    await task


def test_what_can_be_awaited():
    """Coroutines and tasks are told from the objects that a factory returns."""

    async def coroutine():
        pass

    coro = coroutine()
    assert _rt.is_awaitable(coro)
    coro.close()
    for x in (None, 1, "text", b"", [], object(), coroutine, test_what_can_be_awaited):
        assert not _rt.is_awaitable(x)
    raises(AttributeError, lambda: _rt.no_such_name)


def test_one_loop_at_a_time():
    """Only CPython has threads with a loop each."""
    assert bool(_rt.ONE_LOOP) is not CPYTHON


def test_the_time_outside_of_a_loop():
    """Ticks can be asked for before there is a loop; so can microseconds, which are those of the machine."""
    first = _rt.ticks_ms()
    assert 0 <= _rt.ticks_diff(_rt.ticks_ms(), first) < 1000
    for _ in range(3):
        before = time.monotonic_ns() // 1000 if CPYTHON else time.ticks_us()
        us = _rt.ticks_us()
        after = time.monotonic_ns() // 1000 if CPYTHON else time.ticks_us()
        assert type(us) is int
        assert _rt.ticks_diff_us(us, before) >= 0
        assert _rt.ticks_diff_us(after, us) >= 0
    assert _rt.ticks_diff_us(5003, 5000) == 3
    assert _rt.ticks_diff_us(5000, 5003) == -3


def test_the_step_of_microseconds():
    """US_STEP_MS is what they go on by, where that is milliseconds."""
    steps = []
    for _ in range(10):
        start = us = _rt.ticks_us()
        while us == start:
            us = _rt.ticks_us()
        steps.append(_rt.ticks_diff_us(us, start))
    assert _rt.US_STEP_MS == min(steps) // 1000


async def test_sleep_ms():
    start = clock.now()
    await _rt.sleep_ms(5000)
    assert clock.now() - start == 5000
    await _rt.sleep_ms(0)
    assert clock.now() - start == 5000


def test_the_words_of_a_cpython_that_is_too_old():
    if CPYTHON:
        text = "buslock needs CPython 3.11 or newer (asyncio.Task.uncancel); this is " + sys.version
        assert str(error_without("uncancel")) == text
