"""One fair line of parked tasks with deadlines. Whatever waits in this package waits here."""

from ._rt import current_task, ended, loop_id, park, task_name, ticks_diff, ticks_ms, wake
from .errors import LockTimeout, QueueFull, WouldDeadlock

MAX_MS = (1 << 28) - 1

_waiting = {}  # task: its Waiter, while it is parked


def check_ms(ms):
    """None (no limit) or 0..2**28-1 milliseconds; TypeError, ValueError."""
    if ms is not None:
        if type(ms) is not int:
            raise TypeError("a time is None or an int in ms, not %r" % (ms,))
        if not 0 <= ms <= MAX_MS:
            raise ValueError("a time is 0 to 2**28-1 ms, not %d" % ms)
    return ms


def check_limit(n):
    if n is not None and (type(n) is not int or n < 0):
        raise ValueError("max_waiters is None or an int from 0, not %r" % (n,))
    return n


def fresh(error):
    """A new exception like `error`: one object raised for several waiters would collect the tracebacks of all."""
    try:
        return type(error)(*error.args)
    except Exception:
        return RuntimeError(repr(error))


class Waiter:
    """A parked task: what it waits for, and for whom (`holder` is the task that will hold it)."""

    granted = False
    error = None  # what it is to raise instead
    prev = None
    next = None

    def __init__(self, queue, hold, holder):
        self.queue = queue  # the line it stands in; None once it has left
        self.hold = hold
        self.holder = holder
        self.task = current_task()
        self.loop = loop_id()
        self.since = ticks_ms()

    def remove(self, task):
        """Called by Task.cancel(). The task itself leaves the line when it runs; until then wake() refuses it."""

    def unlink(self):
        queue = self.queue
        if queue is not None:
            self.queue = None
            if self.prev is None:
                queue._first = self.next
            else:
                self.prev.next = self.next
            if self.next is None:
                queue._last = self.prev
            else:
                self.next.prev = self.prev
            self.prev = self.next = None
            queue._count -= 1

    def leave(self):
        """Out of the line without a grant. Those behind may now come through, so the line moves."""
        queue = self.queue
        if queue is not None:
            self.unlink()
            queue._advance()


class WaitQueue:
    """Base of all that is waited for. The owner overrides the four methods below the line."""

    _first = None
    _last = None
    _count = 0
    _since = None  # ticks of the last grant to a waiter
    _limit = None  # max_waiters

    def __init__(self):
        self._loop = loop_id()

    def _append(self, waiter):
        waiter.queue = self
        last = self._last
        if last is None:
            self._first = waiter
        else:
            last.next = waiter
            waiter.prev = last
        self._last = waiter
        self._count += 1

    def _grant(self, waiter):
        """Take a waiter out of the line and wake it as the new holder. False: it will never see it; try the next."""
        waiter.unlink()
        if not wake(waiter):
            _waiting.pop(waiter.task, None)  # a task of a replaced loop never does it itself
            return False
        waiter.granted = True
        self._since = ticks_ms()
        return True

    def _held_by(self, waited=None):
        """' held by task 'display' for 120 ms', for messages; `waited` is how long somebody has waited for it."""
        text = ""
        for task in self._holders():
            text += "%s task '%s'" % (" and" if text else " held by", task_name(task))
            if ended(task):
                text += ", which ended without releasing it,"
        if text and waited:
            # The fast path takes no time stamp: the holder has it since the last hand-over, or since before the wait.
            if self._since is not None:
                waited = min(waited, ticks_diff(ticks_ms(), self._since))
            text += " for %d ms" % waited
        return text or " nobody holds it now"

    # ----------------------------------------------------------------------------------------------------------------

    def _label(self):
        """Its name in messages: 'i2c0/0x48'."""
        return "lock"

    def _holders(self):
        """The tasks that hold it now."""
        return ()

    def _advance(self):
        """Grant it to those in front, as far as it goes."""

    def _give_back(self, waiter):
        """A waiter was granted it and was cancelled before it ran: pass it on."""

    def _note(self, event, waiter=None):
        """Statistics: 'waits', 'granted', 'timeouts', 'cancellations', 'rejections', 'stale'."""


def fail_all(queue, error):
    """Every waiter raises a fresh exception like `error`."""
    while queue._first is not None:
        waiter = queue._first
        waiter.error = error
        waiter.unlink()
        wake(waiter)


def timed_out(queue, timeout_ms):
    """The LockTimeout to raise."""
    text = "%s%s; " % (queue._label(), queue._held_by(timeout_ms))
    if timeout_ms == 0:
        return LockTimeout(text + "timeout_ms=0 does not wait")
    return LockTimeout(
        text + "gave up after %d ms: pass a longer timeout_ms, or, if that task awaits this one, pass the session"
        % timeout_ms
    )


def _check_cycle(queue, me):
    """WouldDeadlock if one of those that hold `queue` waits, through others or directly, for something I hold."""
    seen = []

    def blocked(q, path):
        seen.append(q)
        for task in q._holders():
            step = "%s; %s is held by task '%s'" % (path, q._label(), task_name(task))
            if task is me:
                return step
            waiter = _waiting.get(task)
            if waiter is not None and waiter.queue is not None and waiter.queue not in seen:
                found = blocked(waiter.queue, "%s, which waits for %s" % (step, waiter.queue._label()))
                if found:
                    return found
        return None

    cycle = blocked(queue, "task '%s' asks for %s" % (task_name(me), queue._label()))
    if cycle:
        raise WouldDeadlock(cycle + ": take them in one order, or at once with hold_many()")


async def wait(queue, hold, holder, timeout_ms):
    """Stand in line until granted.

    LockTimeout after `timeout_ms`, QueueFull, WouldDeadlock, CancelledError: in each case nothing is owned, and what
    was granted in the same moment has gone to the next in line.
    """
    if queue._limit is not None and queue._count >= queue._limit:
        queue._note("rejections")
        raise QueueFull(
            "%s%s, and %d wait already; ask again later, or raise max_waiters"
            % (queue._label(), queue._held_by(), queue._count)
        )
    task = current_task()
    if timeout_ms == 0:
        queue._note("timeouts")
        raise timed_out(queue, 0)
    _check_cycle(queue, task)
    waiter = Waiter(queue, hold, holder)
    queue._append(waiter)
    queue._note("waits", waiter)
    _waiting[task] = waiter
    left = timeout_ms
    try:
        while True:
            # Cancelled here: either still in line, and it leaves; or granted already, and the grant is passed on.
            await park(waiter, left)
            if waiter.granted:
                waiter.since = ticks_diff(ticks_ms(), waiter.since)
                queue._note("granted", waiter)
                return waiter
            if waiter.error is not None:
                raise fresh(waiter.error)
            if left is not None:
                left = timeout_ms - ticks_diff(ticks_ms(), waiter.since)
                if left <= 0:
                    break
    except BaseException:
        if waiter.error is None:
            queue._note("cancellations", waiter)
        if waiter.granted:
            queue._give_back(waiter)
        else:
            waiter.leave()
        raise
    finally:
        _waiting.pop(task, None)
    queue = waiter.queue or queue  # hold_all's gate may have moved it to the line of its key
    error = timed_out(queue, timeout_ms)
    queue._note("timeouts", waiter)
    waiter.leave()
    raise error

