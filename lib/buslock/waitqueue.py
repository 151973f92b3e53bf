"""One fair line of parked tasks with deadlines. Whatever waits in this package waits here."""

from builtins import len  # found sooner in the module itself

from ._rt import SHOWS_PARKED, current_task, later, park, parked_waiter, ticks_diff, ticks_ms, wake

# task: its Waiter, while it is parked; where the runtime shows it, only of those with a deadline. (MicroPython's dict
# fills up to the last place, and then looks everywhere for a task that is not in it.)
_waiting = {}
_NOBODY = ()
# Keys of a queue's counts. Those that are counted at every wait are ints, which are found sooner than strings; those
# from 0 on are the histogram: how many waits took so many bits of milliseconds.
WAITS = -1
LONGEST = -2
PEAK = -3
HOLD = -4


def check_ms(ms):
    """None (no limit) or 0..2**28-1 milliseconds; TypeError, ValueError."""
    if ms is not None and (type(ms) is not int or not 0 <= ms < 1 << 28):
        raise later.refusals.bad_ms(ms)
    return ms


class Waiter:
    """A parked task in a line. A hold that has to wait is its own waiter: each allocation of a waiting task costs."""

    is_hold = False
    outcome = None  # what wait() returns, where that is not a hold
    task = None  # the one that waits; None from the grant on
    error = None  # what it is to raise instead
    holder = None  # the task that is to hold it, where that is another one than waits
    behind = None  # of the wire: the key of the device with whose hold it was taken

    def remove(self, task):
        """Called by Task.cancel(). The task leaves the line by itself when it runs; until then wake() refuses it."""


class WaitQueue:
    """Base of all that is waited for. What derives from it says who holds it and how it is granted:

    _label() or name    in messages: 'i2c0/0x48'
    _loop               loop_id() when holders and waiters were last known to be of this loop
    _holders()          the tasks that hold it now
    _stuck(waiter_of)   false if surely none of them waits
    _advance()          grant it to those in front, as far as it goes
    _give_back(waiter)  a waiter was granted it and was cancelled before it ran: pass it on
    """

    _line = _NOBODY  # its Waiters in order of arrival; a list once there was one
    _limit = None  # max_waiters
    _since = None  # ticks of the last hand-over
    _before = None  # and of the one before that
    _counts = None  # a dict, where statistics are kept
    table = None  # the LockTable it belongs to
    _trace = None  # a Traced, where a Trace is kept


def waiter_of(task):
    """The Waiter of a task that stands in a line; None."""
    return _waiting and _waiting.get(task) or parked_waiter(task)


def grant(queue):
    """The first in line leaves it as a holder: its task. None: that will never see it; look at the next."""
    waiter = queue._line.pop(0)
    task = waiter.task
    if not wake(waiter, queue._loop):
        return None
    waiter.task = None
    if _waiting:
        _waiting.pop(task, None)  # it has not run yet, and waits for nothing any more
    if queue._trace is not None:
        queue._trace.granted(queue, waiter, task)
    return task


async def wait(queue, hold, holder, ms):
    """Stand in line until granted; returns `hold`, or what the one who granted it has put in its place.

    `holder` is the task that is to hold it, None for the one that waits. LockTimeout after `ms`, QueueFull,
    WouldDeadlock, CancelledError: in each case nothing is owned, and what was granted in the same moment has gone to
    the next in line.
    """
    if ms == 0 or queue._limit is not None and len(queue._line) >= queue._limit:
        raise later.waitmore.at_once(queue, hold, ms)
    if queue._stuck(waiter_of):
        later.waitmore.check(queue)
    task = current_task()
    waiter = Waiter() if hold is None else hold
    waiter.task = task
    waiter.queue = queue
    if holder is not None and holder is not task:
        waiter.holder = holder
    counts = queue._counts
    start = ticks_ms()
    left = ms
    try:
        if queue._line is _NOBODY:
            queue._since = queue._before = None
            queue._line = []
        queue._line.append(waiter)
        if ms is not None or not SHOWS_PARKED:
            _waiting[task] = waiter
        if queue._trace is not None:
            queue._trace.arrived(queue)
        if counts is not None:
            counts[WAITS] += 1
            if queue.table is None and queue.bus._wire_hold is not None:
                later.waitmore.behind(queue, waiter)
            if len(queue._line) > counts[LONGEST]:
                later.waitmore.longest(queue)
        while left is None or left > 0:
            # Cancelled here: either still in line, and it leaves; or granted already, and the grant is passed on.
            await park(waiter, left)
            if waiter.task is None:
                # Counted here, where a failure passes the grant on.
                queue = waiter.queue
                queue._before = queue._since
                queue._since = left = ticks_ms()
                if counts is not None:
                    left = ticks_diff(left, start)
                    if left > counts[HOLD]:
                        later.waitmore.worst(waiter, start, left)
                    ms = 0  # from here on the bits of the time waited: one name more is a word more for each that waits
                    while left > 0:
                        left >>= 1
                        ms += 1
                    counts[ms] = counts.get(ms, 0) + 1
                return waiter.outcome if hold is None else hold
            if waiter.error is not None:
                break
            if left is not None:
                left = ms - ticks_diff(ticks_ms(), start)
    except BaseException:
        _leave(waiter)
        if counts is not None:
            try:
                later.waitmore.cancelled(waiter, start)
            except MemoryError:
                pass  # not counted; but a cancellation stays one
        raise
    _leave(waiter)
    raise later.waitmore.in_vain(hold, waiter, start, ms)


def _leave(waiter):
    """It waits no more, and owns nothing."""
    queue = waiter.queue  # hold_all's gate may have moved it to the line of its key
    if waiter.task is None:
        queue._give_back(waiter)
        return
    _waiting.pop(waiter.task, None)
    if waiter in queue._line:
        # Those behind it may now come through.
        queue._line.remove(waiter)
        queue._advance()
