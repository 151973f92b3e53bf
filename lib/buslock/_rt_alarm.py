"""The part of `_rt` that a deadline needs: an alarm that interrupts the running task."""

import sys
from asyncio import CancelledError, core

if sys.implementation.name == "circuitpython":

    def awaited(x):
        if not hasattr(x, "__await__"):  # an AttributeError there, and a TypeError everywhere else
            raise TypeError("%r cannot be awaited" % (x,))
        return x

else:

    def awaited(x):
        return x


class Alarm:
    """Cancels the running task after `ms`, with a mark by which `stop` knows this cancel from any other."""

    def __init__(self, ms):
        self._ms = ms
        self._task = core.cur_task
        self._queue = core._task_queue
        self._timer = core.Task(self._ring())
        self._queue.push(self._timer, core.ticks_add(core.ticks(), ms))

    async def _ring(self):
        while True:
            try:
                mark = CancelledError(None, self)
                CancelledError()  # where memory is short it may share its arguments with the one before
                if len(mark.args) == 2:
                    break
            except MemoryError:
                pass
            await core.sleep_ms(1)
        foreign = False
        waited = None  # the task that was let run once
        while True:
            task = self._task
            while isinstance(task.data, core.Task):
                task = task.data
            data = task.data
            if data is CancelledError:
                foreign = True
            elif not isinstance(data, CancelledError):
                # With 0 the block ends at its first wait, whatever that is.
                if waited is task or not self._ms or data is not None or core.ticks_diff(task.ph_key, core.ticks()) > 0:
                    break
                # It is on its way to run, perhaps with the cancel of a child that it awaited: let it run once.
                waited = task
            # Another cancel is on its way and must not be replaced; look again when it has arrived.
            await core.sleep_ms(0)
        self._timer = None
        self._task.cancel()
        if not foreign:  # else the clean-up after the foreign cancel is cut short, and that cancel remains what it was
            # wait_for() takes the first argument of a CancelledError for a result of its own unless it is None.
            task.data = mark

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
