"""One fair line of parked tasks with deadlines. Whatever waits in this package waits here."""

from ._rt import current_task, loop_id, park, ticks_diff, ticks_ms, wake

_waiting = {}  # task: its Waiter, while it is parked


def check_ms(ms):
    """None (no limit) or 0..2**28-1 milliseconds; TypeError, ValueError."""
    if ms is not None and (type(ms) is not int or not 0 <= ms < 1 << 28):
        from .refusals import bad_ms

        raise bad_ms(ms)
    return ms


def left_of(ms, start):
    """What is left of a time that began at `start`; None stays None."""
    return max(0, ms - ticks_diff(ticks_ms(), start)) if ms else ms


class Waiter:
    """A parked task. `holder` is the task that will hold what it waits for, `hold` the object it will hold it with."""

    granted = False
    error = None  # what it is to raise instead

    def __init__(self, hold, holder):
        self.hold = hold
        self.holder = holder
        self.task = current_task()
        self.loop = loop_id()
        self.since = ticks_ms()

    def remove(self, task):
        """Called by Task.cancel(). The task leaves the line by itself when it runs; until then wake() refuses it."""


class WaitQueue:
    """Base of all that is waited for. What derives from it says who holds it and how it is granted:

    _label()            its name in messages: 'i2c0/0x48'
    _holders()          the tasks that hold it now
    _advance()          grant it to those in front, as far as it goes
    _give_back(waiter)  a waiter was granted it and was cancelled before it ran: pass it on
    """

    _line = ()  # its Waiters in order of arrival; a list once there was one
    _limit = None  # max_waiters
    _since = None  # ticks of the last hand-over
    _counts = None  # a dict, where statistics are kept

    def __init__(self, max_waiters=None):
        self._loop = loop_id()
        if max_waiters is not None:
            self._limit = check_ms(max_waiters)

    def _append(self, waiter):
        waiter.queue = self
        if not self._line:
            self._line = []
        self._line.append(waiter)

    def _grant(self):
        """The first in line leaves it as a holder. None: it will never see that; look at the next."""
        waiter = self._line.pop(0)
        if not wake(waiter):
            return None
        waiter.granted = True
        self._since = ticks_ms()
        return waiter

    def _count(self, event):
        counts = self._counts
        if counts is not None:
            counts[event] = counts.get(event, 0) + 1


async def wait(queue, hold, holder, ms):
    """Stand in line until granted; the Waiter.

    LockTimeout after `ms`, QueueFull, WouldDeadlock, CancelledError: in each case nothing is owned, and what was
    granted in the same moment has gone to the next in line.
    """
    line = queue._line
    if queue._limit is not None and len(line) >= queue._limit and ms != 0:
        from .refusals import full

        queue._count("rejections")
        raise full(queue, hold)
    if ms != 0:
        for task in queue._holders():
            if task in _waiting:
                from .cycles import check

                check(queue)
        task = current_task()
        waiter = Waiter(hold, holder)
        queue._append(waiter)
        if queue._counts is not None:
            from .tablestats import arrived

            arrived(queue)
        _waiting[task] = waiter
        left = ms
        try:
            while left is None or left > 0:
                # Cancelled here: either still in line, and it leaves; or granted already, and the grant is passed on.
                await park(waiter, left)
                waited = ticks_diff(ticks_ms(), waiter.since)
                if waiter.granted:
                    queue._count(len(bin(waited)) if waited else 2)  # a histogram in powers of two
                    return waiter
                if waiter.error is not None:
                    from .refusals import fresh

                    raise fresh(waiter.error)
                if ms is not None:
                    left = ms - waited
        except BaseException:
            if waiter.error is None:
                queue._count("cancellations")
            if waiter.granted:
                waiter.queue._give_back(waiter)
            raise
        finally:
            _waiting.pop(task, None)
            queue = waiter.queue  # hold_all's gate may have moved it to the line of its key
            if not waiter.granted and waiter in queue._line:
                # Those behind it may now come through.
                queue._line.remove(waiter)
                queue._advance()
    from .refusals import timed_out

    queue._count("timeouts")
    raise timed_out(queue, hold, ms)
