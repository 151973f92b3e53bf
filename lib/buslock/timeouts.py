"""A time limit for a block of code, which MicroPython's asyncio does not have; and for one awaitable."""

from ._rt import DONE, OUTSIDE, Alarm, awaited, current_task, settle, task_name
from .errors import DeadlineExceeded, Reentry
from .waitqueue import check_ms


class deadline:
    """`async with deadline(ms):` DeadlineExceeded if the block is not done after `ms` milliseconds; None is no limit.

    The block is interrupted where it waits. It runs in the task that entered it; deadlines nest; a cancellation by
    somebody else stays a cancellation, unless the deadline then interrupts the clean-up after it: that ends as
    DeadlineExceeded on boards, which cannot see a cancel that has arrived. With 0 the block ends at its first wait.
    """

    _alarm = None
    _used = False

    def __init__(self, ms):
        self._ms = check_ms(ms)

    def __aenter__(self):
        if self._used:
            raise Reentry("a deadline is for one block: make a new one")
        self._used = True
        if self._ms is not None:
            if current_task() is OUTSIDE:
                raise RuntimeError("deadline() needs a running task")
            self._alarm = None  # room for the attribute: an alarm that is not known would ring
            self._alarm = Alarm(self._ms)
        return DONE

    def __aexit__(self, exc_type, exc, tb):
        alarm = self._alarm
        if alarm is not None:
            self._alarm = None
            if alarm.stop(exc):
                return self._over()
        return DONE

    async def _over(self):
        await settle()  # cancelled here: nothing is owned
        raise DeadlineExceeded("deadline of %d ms is over in task '%s'" % (self._ms, task_name(current_task())))


async def wait_for_ms(awaitable, ms):
    """Result of `awaitable`; DeadlineExceeded after `ms` milliseconds. Runs in the caller's own task."""
    async with deadline(ms):
        return await awaited(awaitable)
