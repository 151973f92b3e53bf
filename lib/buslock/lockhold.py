"""LockHold: what Lock.hold() returns."""

from ._rt import current_task, given
from .holding import Hold
from .waitqueue import check_ms


class LockHold(Hold):
    def __init__(self, lock, timeout_ms):
        self._lock = lock
        self._given = given(self)
        if timeout_ms is not None:
            self._timeout = check_ms(timeout_ms)

    def __aenter__(self):
        lock = self._lock
        given = self._given
        if given is None or lock._holder is not None:
            return self._enter()
        self._given = None
        # The lock itself last: what is new before it may fail for want of memory.
        lock._hold = self
        self._task = lock._holder = current_task()
        return given

    def _is_held(self):
        return self._task is not None and self._lock._hold is self

    def _all_keys(self):
        return (self._lock.name,)

    def _label(self):
        return self._lock.name or "lock"

    async def _take(self):
        task = current_task()
        await self._lock._acquire(task, self._timeout, self)  # cancelled here: nothing is owned
        self._task = task

    def _drop(self):
        if self._lock._hold is self:  # else the lock itself was released in the block
            self._lock._pass_on()
