"""One fair line of parked tasks with deadlines. Whatever waits in this package waits here."""

from ._rt import current_task, loop_id, park, ticks_diff, ticks_ms, wake

_waiting = {}  # task: its Waiter, while it is parked
_stats = None  # the module tablestats, once it is needed


def check_ms(ms):
    """None (no limit) or 0..2**28-1 milliseconds; TypeError, ValueError."""
    if ms is not None and (type(ms) is not int or not 0 <= ms < 1 << 28):
        from .refusals import bad_ms

        raise bad_ms(ms)
    return ms


class Waiter:
    """A parked task in a line. A hold that has to wait is its own waiter: each allocation of a waiting task costs."""

    is_hold = False
    outcome = None  # what wait() returns, where that is not a hold
    granted = False
    cancelled = False
    error = None  # what it is to raise instead
    holder = None  # the task that is to hold it, where that is another one than waits

    def remove(self, task):
        """Called by Task.cancel(). The task leaves the line by itself when it runs; until then wake() refuses it."""


class WaitQueue:
    """Base of all that is waited for. What derives from it says who holds it and how it is granted:

    _label() or name    in messages: 'i2c0/0x48'
    _loop               loop_id() when holders and waiters were last known to be of this loop
    _holders()          the tasks that hold it now
    _stuck(waiting)     True if one of them is in `waiting`
    _advance()          grant it to those in front, as far as it goes
    _give_back(waiter)  a waiter was granted it and was cancelled before it ran: pass it on
    """

    _line = ()  # its Waiters in order of arrival; a list once there was one
    _limit = None  # max_waiters
    _since = None  # ticks of the last hand-over
    _counts = None  # a dict, where statistics are kept
    table = None  # the LockTable it belongs to

    def _append(self, waiter):
        waiter.queue = self
        # Attributes that are new may fail for want of memory: here, and not in the hand-over.
        waiter.granted = False
        self._since = self._since
        self._line = self._line or []
        self._line.append(waiter)

    def _grant(self):
        """The first in line leaves it as a holder. None: it will never see that; look at the next."""
        waiter = self._line.pop(0)
        if self._loop is not loop_id() or not wake(waiter):
            return None
        waiter.granted = True
        return waiter


async def wait(queue, hold, holder, ms):
    """Stand in line until granted; returns `hold`, or what the one who granted it has put in its place.

    LockTimeout after `ms`, QueueFull, WouldDeadlock, CancelledError: in each case nothing is owned, and what was
    granted in the same moment has gone to the next in line.
    """
    global _stats
    if ms == 0 or queue._limit is not None and len(queue._line) >= queue._limit:
        from .refusals import at_once

        raise at_once(queue, hold, ms)
    if queue._stuck(_waiting):
        from .cycles import check

        check(queue)
    task = current_task()
    waiter = Waiter() if hold is None else hold
    waiter.task = task
    waiter.queue = queue
    if holder is not task:
        waiter.holder = holder
    if queue._counts is not None and _stats is None:
        _stats = __import__("buslock.tablestats", None, None, ("arrived",))
    start = ticks_ms()
    left = ms
    try:
        queue._append(waiter)
        if queue._counts is not None:
            _stats.arrived(queue)
        _waiting[task] = waiter
        while left is None or left > 0:
            # Cancelled here: either still in line, and it leaves; or granted already, and the grant is passed on.
            await park(waiter, left)
            if waiter.granted:
                # Here, where a failure gives it back.
                queue = waiter.queue
                queue._since = ticks_ms()
                if queue._counts is not None:
                    _stats.gone(queue, waiter, start)
                return waiter.outcome if hold is None else hold
            if waiter.error is not None:
                break
            if left is not None:
                left = ms - ticks_diff(ticks_ms(), start)
    except BaseException:
        if waiter.granted:
            waiter.granted = False
            waiter.queue._give_back(waiter)
        waiter.cancelled = True
        raise
    finally:
        _waiting.pop(task, None)
        queue = waiter.queue  # hold_all's gate may have moved it to the line of its key
        if not waiter.granted and waiter in queue._line:
            # Those behind it may now come through.
            queue._line.remove(waiter)
            queue._advance()
        if not waiter.granted and queue._counts is not None:
            _stats.gone(queue, waiter, start)
    from .refusals import in_vain

    raise in_vain(queue, hold, waiter, ms)
