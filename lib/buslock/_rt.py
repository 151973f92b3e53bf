"""The only file that knows which runtime it is on: MicroPython, CircuitPython (Adafruit's asyncio), CPython.

What is needed at every wait is here. Its other parts are read through this one only: `_rt_rare` has what few programs
need, `_rt_times`, `_rt_alarm` and `_rt_lost` what still fewer do, and `_rt_cpython` is the CPython half.

MicroPython's asyncio keeps ready and sleeping tasks in one heap, `core._task_queue`, ordered by `task.ph_key`.
`task.data` says what a task waits for: None in that heap, something with `remove(task)` elsewhere, a CancelledError
when a cancel is on its way. These names are private to asyncio, so the import fails where one is missing.
"""

import sys
from builtins import getattr, hasattr  # found sooner in the module itself

# Stands for the task of code that runs in none: module level, the REPL. It counts as a task that has ended.
OUTSIDE = "(no task)"

# The package: `later.refusals` is its module of that name, loaded when it is first needed.
later = sys.modules["buslock"]

if sys.implementation.name == "cpython":
    from ._rt_cpython import *  # noqa: F403
else:
    from asyncio import core

    try:
        ticks_ms = core.ticks
        ticks_diff = core.ticks_diff
        core.ticks_add, core.sleep_ms, core._task_queue, core._io_queue, core.cur_task, core.Task  # noqa: B018
    except AttributeError as missing:
        from .oldasyncio import refuse

        refuse(missing)

    # What __aenter__ and __aexit__ return when there is nothing to wait for: an exhausted native iterator allocates
    # nothing, however often it is awaited.
    DONE = iter(())

    async def given(result):
        """The awaitable of an `__aenter__` that has `result` at hand."""
        return result

    Given = type(given(None))
    ONE_LOOP = True  # no thread has a loop of its own

    def current_task():
        return core.cur_task or OUTSIDE

    def ended(task):
        return task is OUTSIDE or task.done()

    def task_in(loop):
        """The running task; None if `loop` is not its loop_id()."""
        return (core.cur_task or OUTSIDE) if core._task_queue is loop else None

    def loop_id():
        """Changes when `new_event_loop()` has replaced the loop."""
        return core._task_queue

    _ONCE = (None,)
    # What a task awaits that is parked for ever. An iterator is native, and smaller than a generator; but CircuitPython
    # reschedules a task that merely yields.
    _never = (lambda once: core._never()) if hasattr(core, "_never") else iter

    def park(waiter, ms):
        """Awaitable: parks the running task for `ms`, or for ever when None, or until `wake(waiter)`."""
        if ms is None:
            core.cur_task.data = waiter  # its cancel calls waiter.remove(task)
            return _never(_ONCE)
        return core.sleep_ms(ms)

    SHOWS_PARKED = True  # parked_waiter() finds who is parked for ever

    def parked_waiter(task):
        """What the task was parked with, if that was for ever; None."""
        data = getattr(task, "data", None)
        return data if data is not None and hasattr(data, "is_hold") else None

    def wake(waiter, loop):
        """Let a parked task run now. False if it will not see this: it was cancelled, or `loop` was replaced."""
        task = waiter.task
        queue = core._task_queue
        data = task.data
        if queue is not loop or data is not None and data is not waiter:
            return False  # pushing a cancelled task again would erase the CancelledError
        if data is None:
            if core.ticks_diff(task.ph_key, core.ticks()) <= 0:
                return True  # its time is over, but it has not run yet, so it still sees the grant
            queue.remove(task)
        queue.push(task)
        return True

    def __getattr__(name):
        return getattr(later._rt_rare, name)
