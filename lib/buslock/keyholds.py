"""The holds of a LockTable: one key, several, all."""

from ._rt import current_task, given, ticks_diff, ticks_ms
from .errors import Reentry
from .lock import Hold
from .waitqueue import check_ms, wait


class KeyHold(Hold):
    def __init__(self, table, key):
        self._table = table
        self._key = key
        self._given = given(self)

    def __aenter__(self):
        table = self._table
        key = self._key
        given = self._given
        if table._shut or given is None or key in table._entries:
            return self._enter()
        self._given = None
        table._entries[key] = self
        self._task = current_task()
        return given

    @property
    def keys(self):
        return (self._key,)

    def _label(self):
        return self._table._label(self._key)

    def _take(self):
        return self._table._take(self, self._timeout)

    def _drop(self):
        table = self._table
        key = self._key
        entry = table._entries[key]
        if entry is self:
            del table._entries[key]
        else:
            entry.holds.remove(self)
            entry._advance()
        if table._shut:
            table._gate._advance()


class ManyHold(Hold):
    """Several keys, taken one after the other in one order that all share."""

    def __init__(self, table, keys, timeout_ms, shared):
        self._table = table
        self._given = given(self)
        if timeout_ms is not None:
            self._timeout = check_ms(timeout_ms)
        if shared:
            self.shared = True
        self.keys = table._in_order(keys)
        self._holds = []

    def _label(self):
        return "%s of %d keys" % (self._table.name, len(self.keys))

    def _try(self):
        return False

    async def _take(self):
        timeout_ms = self._timeout
        start = ticks_ms()
        try:
            for key in self.keys:
                hold = self._table._hold(key, None, self.shared)
                left = timeout_ms
                if left:
                    left = max(0, left - ticks_diff(ticks_ms(), start))
                # Cancelled here: the keys taken so far are given back below.
                await self._table._take(hold, left)
                self._holds.append(hold)
        except BaseException:
            self._drop()
            raise
        self._task = current_task()

    def _drop(self):
        holds = self._holds
        while holds:
            hold = holds.pop()
            if hold._task is not None:
                hold._task = None
                hold._drop()


class AllHold(Hold):
    def __init__(self, table, timeout_ms):
        self._table = table
        self._given = given(self)
        if timeout_ms is not None:
            self._timeout = check_ms(timeout_ms)

    @property
    def keys(self):
        return ()

    def _label(self):
        return "%s, all of it" % self._table.name

    def _try(self):
        table = self._table
        if table._shut or table._entries:
            return False
        table._shut = True
        table._all = self
        self._task = current_task()
        return True

    async def _take(self):
        table = self._table
        table._settle()
        if self._try():
            return
        task = current_task()
        if table._holds_of(task):
            raise Reentry("%s: this task holds a key of it already; release that first" % self._label())
        table._shut = True
        try:
            # Cancelled here: nothing is owned, see wait().
            await wait(table._gate, self, task, self._timeout)
        finally:
            table._gate._advance()

    def _drop(self):
        self._table._all = None
        self._table._gate._advance()
