"""Holds of a traced bus that few programs need: all of it, and the wire by itself."""

from .gate import AllHold
from .lockhold import LockHold
from .trace import ALL, GRANT, RELEASE


class TracedAllHold(AllHold):
    _key = None
    who = None  # the holder, also when the hold has ended

    async def _take(self):
        await AllHold._take(self)
        table = self._table
        if self.who is None:
            self.who = self._task
            if table.bus._table is table:  # else that of before a reset
                table._trace.tell(GRANT + ALL)

    def _drop(self):
        table = self._table
        bus = table.bus
        if bus._table is table:
            table._trace.trace.record(RELEASE + ALL, bus, None, self.who, 0)
        AllHold._drop(self)


class TracedLockHold(LockHold):
    def __aenter__(self):
        return self._enter()
