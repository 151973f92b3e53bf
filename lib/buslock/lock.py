"""Lock."""

from ._rt import DONE, current_task, ended, later, loop_id
from .waitqueue import WaitQueue, check_ms, grant, wait


class Lock(WaitQueue):
    """A FIFO lock with deadlines, owned by a task.

    `name` is for messages; `max_waiters` bounds the line (QueueFull). `locked()` is True during a hand-over too: a
    release gives the lock to the first waiter at once, so nobody can come between.
    """

    _holder = None
    _hold = None  # the object of hold() that it was taken with

    def __init__(self, name=None, max_waiters=None):
        self.name = name
        self._limit = check_ms(max_waiters)
        self._loop = loop_id()

    def __aenter__(self):
        task = current_task()
        if self._holder is None:
            self._holder = task
            return DONE
        # Cancelled there: nothing is owned, see wait().
        return DONE if self._take(task, None) else wait(self, None, task, None)

    def __aexit__(self, exc_type, exc, tb):
        holder = self._holder
        # Released early in the block, it may be another task's by now.
        if holder is current_task() or holder is not None and ended(holder):
            if self._line:
                self._pass_on()
            else:
                self._holder = None
        return DONE

    def hold(self, timeout_ms=None):
        """`async with lock.hold(timeout_ms=50)`. LockTimeout, QueueFull, Reentry, WouldDeadlock."""
        return later.lockhold.LockHold(self, timeout_ms)

    def acquire(self, timeout_ms=None):
        """Coroutine: True, or LockTimeout. The task that calls this holds the lock, whichever task awaits it."""
        return self._acquire(current_task(), timeout_ms)

    def try_acquire(self):
        """True if it was free and is now held. Never waits, never overtakes a waiter."""
        if self._busy():
            return False
        self._holder = current_task()
        return True

    def release(self):
        """NotHeld if it is free, or held by another task that has not ended."""
        holder = self._holder
        if holder is None or holder is not current_task() and not ended(holder):
            raise later.refusals.not_held(self, holder)
        self._pass_on()

    def locked(self):
        return self._holder is not None

    def __getattr__(self, name):
        """`waiters`: how many tasks are waiting; the holder is not one of them.

        Not a property: that makes every store to an attribute slow on MicroPython.
        """
        if name == "waiters":
            return len(self._line)
        raise AttributeError(name)

    async def _acquire(self, holder, timeout_ms, hold=None):
        check_ms(timeout_ms)
        if not self._take(holder, hold):
            # Cancelled here: nothing is owned, see wait().
            await wait(self, hold, holder, timeout_ms)
        return True

    def _take(self, holder, hold):
        """True if it was free and is held now; False if it has to be waited for."""
        if not self._busy():
            self._hold = hold  # first, or a failure for want of memory would leave a lock that nobody knows of
            self._holder = holder
            return True
        if self._holder is holder or self._holder is current_task():
            raise later.refusals.reentry(self)
        self._hold = self._hold  # room for the attribute: there may be none left when it is handed over
        return False

    def _busy(self):
        if self._holder is not None and self._loop is not loop_id():
            later.strays.settle_lock(self)
        return self._holder is not None

    def _pass_on(self, waiter=None):
        self._holder = self._hold = None
        self._advance()

    _give_back = _pass_on

    def _stuck(self, waiter_of):
        return waiter_of(self._holder)

    def _holders(self):
        return () if self._holder is None else (self._holder,)

    def _advance(self):
        while self._line and self._holder is None:
            waiter = self._line[0]
            task = grant(self)
            if task is not None:
                self._holder = waiter.holder or task
                self._hold = waiter if waiter.is_hold else None
