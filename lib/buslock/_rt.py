"""The only file that knows which runtime it is on: MicroPython, CircuitPython (Adafruit's asyncio), CPython.

MicroPython's asyncio keeps ready and sleeping tasks in one heap, `core._task_queue`, ordered by `task.ph_key`.
`task.data` says what a task waits for: None in that heap, something with `remove(task)` elsewhere, a CancelledError
when a cancel is on its way. These names are private to asyncio, so they are checked below.
"""

import sys

RUNTIME = sys.implementation.name


class _Outside:
    """Stands for code that runs in no task: module level, the REPL. It counts as a task that has ended."""


OUTSIDE = _Outside()

if RUNTIME == "cpython":
    from ._rt_cpython import *  # noqa: F403
else:
    from asyncio import CancelledError, core, create_task  # noqa: F401

    for _name in ("_task_queue", "_io_queue", "cur_task", "ticks", "ticks_add", "ticks_diff", "sleep_ms", "Task"):
        if not hasattr(core, _name):
            raise ImportError(
                "buslock needs asyncio.core.%s; this is %s %s: use MicroPython 1.22 or newer, or Adafruit's asyncio"
                % (_name, RUNTIME, sys.version)
            )

    # What __aenter__ and __aexit__ return when there is nothing to wait for: an exhausted native iterator allocates
    # nothing, however often it is awaited.
    DONE = iter(())

    _Coroutine = type((lambda: (yield))())

    if hasattr(core, "_never"):
        _never = core._never  # CircuitPython reschedules a task that merely yields
    else:

        def _never():
            yield

    async def given(result):
        """The awaitable of an `__aenter__` that has `result` at hand."""
        return result

    def current_task():
        return core.cur_task or OUTSIDE

    def loop_id():
        """Changes when `new_event_loop()` has replaced the loop."""
        return core._task_queue

    def ticks_ms():
        return core.ticks()

    ticks_add = core.ticks_add
    ticks_diff = core.ticks_diff
    sleep_ms = core.sleep_ms

    def is_awaitable(x):
        return isinstance(x, _Coroutine) or isinstance(x, core.Task) or hasattr(x, "__await__")

    def ended(task):
        return task is OUTSIDE or task.done()

    def task_name(task):
        """'display' for a task made by `create_task(display())`: the name of its coroutine function."""
        if task is OUTSIDE:
            return "(no task)"
        text = repr(getattr(task, "coro", task))
        parts = text.split("'")
        return parts[1] if len(parts) > 2 else text

    def can_resume(task):
        """False if the task sleeps in the queue of a loop that was replaced, and so never runs again."""
        while isinstance(task.data, core.Task):
            task = task.data
        data = task.data
        if data is core._io_queue or task is core.cur_task:
            return True
        if hasattr(data, "remove"):
            # Whoever owns that queue may still wake it, unless it is a line of ours (see wake) or the old loop's poll.
            return getattr(data, "loop", core._task_queue) is core._task_queue and not hasattr(data, "poller")
        # The heap can only be read by emptying it. Nothing runs in between, and equal keys keep their order.
        queue = core._task_queue
        tasks = []
        while queue.peek():
            t = queue.pop()
            tasks.append((t, t.ph_key, t.data))
        found = False
        for t, key, data in tasks:
            queue.push(t, key)
            t.data = data
            found = found or t is task
        return found

    def park(waiter, ms):
        """Awaitable: parks the running task for `ms`, or for ever when None, or until `wake(waiter)`."""
        if ms is None:
            core.cur_task.data = waiter  # its cancel calls waiter.remove(task)
            return _never()
        return core.sleep_ms(ms)

    def wake(waiter):
        """Let a parked task run now. False if it will not see this: it was cancelled, or its loop is gone."""
        task = waiter.task
        queue = core._task_queue
        if waiter.loop is not queue:
            return False
        data = task.data
        if data is waiter:
            queue.push(task)
        elif data is not None:
            return False  # pushing it again would erase the CancelledError
        elif core.ticks_diff(task.ph_key, core.ticks()) > 0:
            queue.remove(task)
            queue.push(task)
        return True

    class Alarm:
        """Cancels the running task after `ms`, with a mark by which `stop` knows this cancel from any other."""

        def __init__(self, ms):
            self._task = core.cur_task
            self._queue = core._task_queue
            self._timer = core.Task(self._ring())
            self._queue.push(self._timer, core.ticks_add(core.ticks(), ms))

        async def _ring(self):
            while True:
                task = self._task
                while isinstance(task.data, core.Task):
                    task = task.data
                data = task.data
                if data is not CancelledError and not isinstance(data, CancelledError):
                    break
                # Another cancel is on its way and must not be replaced; look again when it has arrived.
                await core.sleep_ms(0)
            self._timer = None
            self._task.cancel()
            # wait_for() takes the first argument of a CancelledError for a result of its own unless it is None.
            task.data = CancelledError(None, self)

        def stop(self, exc):
            """Ends the alarm. True if `exc` is the cancel that it sent."""
            if self._timer is not None and self._queue is core._task_queue:
                self._queue.remove(self._timer)
            self._timer = None
            return isinstance(exc, CancelledError) and len(exc.args) == 2 and exc.args[1] is self

    class _Turn:
        """One turn of the scheduler, in which `wait_for` takes this task for one that is being cancelled already."""

        state = True

        def __iter__(self):
            return self

        __await__ = __iter__

        def __next__(self):
            if self.state:
                self.state = False
                core._task_queue.push(core.cur_task)
                core.cur_task.data = False  # not None, and no exception either
                return
            core.cur_task.data = None
            raise StopIteration

    async def settle():
        """After an alarm. A `wait_for` that it interrupted leaves a task behind, which ends a few turns later and then
        cancels the task that it believes to wait still; unless that is not to be cancelled then."""
        for _ in range(8):
            # Cancelled here: that cancel is a foreign one, and goes on.
            await _Turn()
