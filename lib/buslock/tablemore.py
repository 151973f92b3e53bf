"""The methods of LockTable that few programs need; the class loads them on first use."""

from ._rt import current_task, given, later, loop_id, ticks_ms
from .holding import Hold, left_of
from .table import Entry, KeyHold, ask
from .waitqueue import check_ms, wait

METHODS = "tablemore hold_many hold_all try_hold waiters stats "


def hold_many(table, keys, timeout_ms=None, shared=False):
    """All of `keys` (at least one), taken in one order; a key named twice counts once."""
    return ManyHold(table, keys, timeout_ms, shared)


def hold_all(table, timeout_ms=None):
    """Every key there is or could be. Waits for all holders; later arrivals queue behind it."""
    return later.gate.AllHold(table, timeout_ms)


def try_hold(table, key, shared=False):
    """A hold in force, to be ended with release(); None if that would have to wait."""
    hold = table.hold(key, None, shared)
    if table._loop is not loop_id():
        later.strays.settle_table(table)
    task = current_task()
    key = hold._at[1]
    if table._shut and (table._all is not None or table._any_hold_of(task) is None):
        return None
    if key not in table._entries:
        table._put(key, hold)
    else:
        entry = table._entry(key)
        if entry._line or not (hold.shared and entry.holds[0].shared) or task in entry._holders():
            return None
        entry.holds.append(hold)
    hold._task = task
    return hold


def waiters(table, key):
    """How many tasks wait for the key."""
    if table._tag is not None:
        key = table._tag(key)
    entry = table._entries.get(key)
    n = len(entry._line) if isinstance(entry, Entry) else 0
    if table._gate is not None:
        for waiter in table._gate._line:
            n += getattr(waiter, "_key", None) == key
    return n


def stats(table):
    """A dict of counters and worst values; print() shows it as a table."""
    return later.stats.table_stats(table)


class ManyHold(Hold):
    """Several keys, taken one after the other in one order that all share."""

    def __init__(self, table, keys, timeout_ms, shared):
        self._table = table
        self._given = given(self)
        self._timeout = check_ms(timeout_ms)
        self.shared = bool(shared)
        self.keys = in_order(table, keys)
        self._holds = []

    def _is_held(self):
        # All of it: a hold of a replaced loop loses its keys one by one.
        return self._task is not None and all(hold._task is not None for hold in self._holds)

    def _label(self):
        return ", ".join([self._table._label(key) for key in self.keys])

    async def _take(self):
        start = ticks_ms()
        trace = self._table._trace
        try:
            for key in self.keys:
                # The tag was applied already.
                hold = KeyHold() if trace is None else trace.key_hold()
                hold._at = (self._table, key)
                hold.shared = self.shared
                hold._task = None
                self._holds.append(hold)  # before it is taken: afterwards nothing may fail for want of memory
                queue = ask(self._table, hold) if trace is None else trace.ask(hold)
                if queue is not None:
                    # Cancelled here: the keys taken so far are given back below.
                    await wait(queue, hold, current_task(), left_of(self._timeout, start))
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


def in_order(table, keys):
    if isinstance(keys, str):
        raise TypeError("keys is a collection of keys, not the string %r" % keys)
    if table._tag is not None:
        keys = [table._tag(key) for key in keys]
    ordered = tuple(sorted(set(keys), key=rank))
    if not ordered:
        raise ValueError("no keys at all: hold_many() needs at least one")
    return ordered


def rank(key):
    return (type(key).__name__, key)
