"""The lines of a LockTable: one for each key that is waited for, and the gate for hold_all."""

from .keyholds import AllHold
from .waitqueue import WaitQueue


class Entry(WaitQueue):
    """The line of one key. A key that nobody waits for has none: its hold stands in the table itself."""

    key = None

    def __init__(self, table):
        super().__init__()
        self.table = table
        self.holds = []
        self._limit = table._limit

    def _label(self):
        return self.table._label(self.key)

    def _holders(self):
        return [hold._task for hold in self.holds]

    def _advance(self):
        holds = self.holds
        while self._first is not None:
            waiter = self._first
            hold = waiter.hold
            if holds and not (hold.shared and holds[0].shared):
                return
            if self._grant(waiter):
                holds.append(hold)
                hold._task = waiter.holder
        if not holds:
            self.table._forget(self)

    def _give_back(self, waiter):
        waiter.hold._task = None
        waiter.hold._drop()

    def _note(self, event, waiter=None):
        self.table._note(event, self, waiter)


class Gate(WaitQueue):
    """The line of hold_all and of all that came after it and hold nothing yet."""

    def __init__(self, table):
        super().__init__()
        self.table = table
        self._limit = table._limit

    def _label(self):
        return "%s, all of it" % self.table.name

    def _holders(self):
        return [hold._task for hold in self.table._holds()]

    def _advance(self):
        table = self.table
        while table._all is None:
            waiter = self._first
            if waiter is None:
                table._shut = False
                return
            hold = waiter.hold
            if isinstance(hold, AllHold):
                if table._entries:
                    return  # it waits for every holder
                if self._grant(waiter):
                    table._all = hold
                    hold._task = waiter.holder
            else:
                waiter.unlink()
                table._entry(hold._key)._append(waiter)
                waiter.queue._advance()

    def _give_back(self, waiter):
        waiter.hold._task = None
        waiter.hold._drop()

    def _note(self, event, waiter=None):
        self.table._note(event, self, waiter)
