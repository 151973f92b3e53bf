"""hold_all, and the gate of a LockTable at which it waits with those that came after it."""

from ._rt import current_task, given, later, loop_id, wake
from .holding import Hold
from .waitqueue import WaitQueue, check_ms, grant, wait

NO_MEMORY = MemoryError("no memory for the hand-over at the end of hold_all()")  # made where there is memory


class AllHold(Hold):
    keys = ()

    def __init__(self, table, timeout_ms):
        self._table = table
        self._given = given(self)
        self._timeout = check_ms(timeout_ms)
        if table._gate is None:
            table._gate = Gate(table)

    def _label(self):
        return self._table._gate._label()

    async def _take(self):
        table = self._table
        if table._loop is not loop_id():
            later.strays.settle_table(table)
        task = current_task()
        mine = table._any_hold_of(task)
        if mine is not None:
            raise later.refusals.reentry(self._label(), mine._label())
        table._all = table._all  # room for the attribute, before anything is taken
        if not table._shut and not table._entries:
            table._shut = True
            table._all = self
            self._task = task
            return
        table._shut = True
        try:
            for key in list(table._entries):
                table._entry(key)  # whose end of a hold is told to the gate
            # Cancelled here: nothing is owned, see wait().
            await wait(table._gate, self, task, self._timeout)
        finally:
            table._gate._advance()

    def _drop(self):
        self._table._all = None
        self._table._gate._advance()


class Gate(WaitQueue):
    """The line of hold_all and of all that came after it and hold nothing yet."""

    def __init__(self, table):
        self.table = table
        self._limit = table._limit
        self._counts = table._counts
        self._trace = table._trace
        self._loop = table._loop

    def _label(self):
        return "all of " + self.table.name

    def _stuck(self, waiter_of):
        return any(waiter_of(hold._task) for hold in self.table._holds())

    def _holders(self):
        return [hold._task for hold in self.table._holds()]

    def _advance(self):
        table = self.table
        while table._all is None:
            if not self._line:
                table._shut = False
                return
            hold = self._line[0]
            if isinstance(hold, AllHold):
                if table._entries:
                    return  # it waits for every holder
                task = grant(self)
                if task is not None:
                    table._all = hold
                    hold._task = task
            else:
                self._move(hold)

    def _move(self, hold):
        """The first in line goes on to the line of its key; without memory for that it gets a MemoryError. Nothing is
        raised: this is part of another hold's end."""
        entry = None
        self._line.pop(0)
        try:
            entry = self.table._entry(hold._key)
            if not entry._line:
                entry._line = []
            entry._line.append(hold)
            hold.queue = entry
        except MemoryError:
            hold.error = NO_MEMORY
            wake(hold, self._loop)
        if entry is not None:  # pragma: no branch (it is None where there was no memory)
            entry._advance()

    def _give_back(self, waiter):
        waiter._task = None
        waiter._drop()
