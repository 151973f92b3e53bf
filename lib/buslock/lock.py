"""Lock, and what every hold has in common."""

from ._rt import DONE, can_resume, current_task, ended, given, loop_id, task_name
from .errors import NotHeld, Reentry
from .waitqueue import WaitQueue, check_limit, check_ms, wait


class Hold:
    """One holding, for one `async with`. `held` while in force; `release()` ends it early. Dead after its block."""

    shared = False
    _task = None  # the holder, while in force
    _timeout = None
    _given = None  # the awaitable of an __aenter__ that need not wait; None once used

    @property
    def held(self):
        return self._task is not None

    def __aenter__(self):
        given = self._given
        if given is None or not self._try():
            return self._enter()
        self._given = None
        return given

    async def _enter(self):
        if self._given is None:
            if self._task is not None:
                raise Reentry("%s: this hold is in force already" % self._label())
            raise NotHeld("%s: this hold is over; ask for a new one" % self._label())
        self._given = None
        await self._take()  # cancelled here: nothing is owned
        return self

    def __aexit__(self, exc_type, exc, tb):
        if self._task is not None:
            self._task = None
            self._drop()
        return DONE

    def release(self):
        """NotHeld if it is not in force, or if it is another live task's."""
        task = self._task
        if task is None:
            raise NotHeld("%s: this hold is not in force" % self._label())
        if task is not current_task() and not ended(task):
            raise NotHeld("%s is held by task '%s'; only that task can release it" % (self._label(), task_name(task)))
        self._task = None
        self._drop()


class LockHold(Hold):
    def __init__(self, lock, timeout_ms):
        self._lock = lock
        self._given = given(self)
        if timeout_ms is not None:
            self._timeout = check_ms(timeout_ms)

    @property
    def keys(self):
        return (self._lock.name,)

    def _label(self):
        return self._lock._label()

    def _try(self):
        lock = self._lock
        if lock._holder is not None:
            return False
        lock._holder = self._task = current_task()
        lock._hold = self
        return True

    def _take(self):
        return self._lock._acquire(current_task(), self._timeout, self)

    def _drop(self):
        self._lock._pass_on()


class Lock(WaitQueue):
    """A FIFO lock with deadlines, owned by a task.

    `name` is for messages; `max_waiters` bounds the line (QueueFull). `locked()` is True during a hand-over too: a
    release gives the lock to the first waiter at once, so nobody can come between.
    """

    _holder = None
    _hold = None  # the LockHold in force, if it was taken by hold()

    def __init__(self, name=None, max_waiters=None):
        super().__init__()
        self.name = name
        self._limit = check_limit(max_waiters)

    def __aenter__(self):
        if self._holder is None:
            self._holder = current_task()
            return DONE
        return self._acquire(current_task(), None)

    def __aexit__(self, exc_type, exc, tb):
        holder = self._holder
        if holder is current_task():
            if self._first is None:
                self._holder = None
            else:
                self._pass_on()
        elif holder is not None and ended(holder):
            self._pass_on()
        return DONE

    def hold(self, timeout_ms=None):
        """`async with lock.hold(timeout_ms=50)`. LockTimeout, QueueFull, Reentry, WouldDeadlock."""
        return LockHold(self, timeout_ms)

    def acquire(self, timeout_ms=None):
        """Coroutine: True, or LockTimeout. The task that calls this holds the lock, whichever task awaits it."""
        return self._acquire(current_task(), timeout_ms)

    def try_acquire(self):
        """True if it was free and is now held. Never waits, never overtakes a waiter."""
        if self._holder is not None and self._loop is not loop_id():
            self._settle()
        if self._holder is not None:
            return False
        self._holder = current_task()
        return True

    def release(self):
        """NotHeld if it is free, or held by another task that has not ended."""
        holder = self._holder
        if holder is None:
            raise NotHeld("%s is not held" % self._label())
        if holder is not current_task() and not ended(holder):
            raise NotHeld("%s is held by task '%s'; only that task can release it" % (self._label(), task_name(holder)))
        self._pass_on()

    def locked(self):
        return self._holder is not None

    @property
    def waiters(self):
        """How many tasks are waiting; the holder is not one of them."""
        return self._count

    async def _acquire(self, holder, timeout_ms, hold=None):
        check_ms(timeout_ms)
        if self._holder is not None and self._loop is not loop_id():
            self._settle()
        if self._holder is None:
            self._holder = holder
            self._hold = hold
            if hold is not None:
                hold._task = holder
            return True
        if self._holder is holder or self._holder is current_task():
            raise Reentry("%s: this task holds it already; use the hold that it has" % self._label())
        # Cancelled here: nothing is owned, see wait().
        await wait(self, hold, holder, timeout_ms)
        return True

    def _pass_on(self):
        self._holder = None
        hold = self._hold
        if hold is not None:
            self._hold = hold._task = None
        self._advance()

    def _settle(self):
        """The loop was replaced: a holder that sleeps in the old one never comes back."""
        self._loop = loop_id()
        if not ended(self._holder) and not can_resume(self._holder):
            self._note("stale")
            self._pass_on()

    def _label(self):
        return self.name or "lock"

    def _holders(self):
        return () if self._holder is None else (self._holder,)

    def _advance(self):
        while self._holder is None and self._first is not None:
            waiter = self._first
            if self._grant(waiter):
                self._holder = waiter.holder
                self._hold = hold = waiter.hold
                if hold is not None:
                    hold._task = waiter.holder

    def _give_back(self, waiter):
        self._pass_on()
