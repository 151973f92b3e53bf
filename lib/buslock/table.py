"""LockTable: a lock for each key, that exists only while somebody holds the key or waits for it."""

from ._rt import current_task, given, loop_id
from .holding import Hold
from .rare import rare
from .waitqueue import WaitQueue, check_ms, wait

_POOL = 8  # entries kept for reuse


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
        entry = table._entries[self._key]
        if entry is self:
            del table._entries[self._key]
        else:
            entry.holds.remove(self)
            entry._advance()
        if table._shut:
            table._gate._advance()


class Entry(WaitQueue):
    """The line of one key. A key that nobody waits for has none: its hold stands in the table itself."""

    def __init__(self, table):
        super().__init__(table._limit)
        self.table = table
        self.holds = []
        self._counts = table._counts

    def _label(self):
        return self.table._label(self.key)

    def _holders(self):
        return [hold._task for hold in self.holds]

    def _advance(self):
        holds = self.holds
        while self._line:
            hold = self._line[0].hold
            if holds and not (hold.shared and holds[0].shared):
                return
            waiter = self._grant()
            if waiter is not None:
                holds.append(hold)
                hold._task = waiter.holder
        if not holds:
            table = self.table
            del table._entries[self.key]
            self._since = None
            if len(table._pool) < _POOL:
                table._pool.append(self)

    def _give_back(self, waiter):
        waiter.hold._task = None
        waiter.hold._drop()


class LockTable:
    """Counted locks by key: an int, a string, or anything hashable.

    `max_waiters` bounds each key's line. `tag=hash_tag` makes keys with the same `{tag}` lock together.
    Fair in arrival order to tasks that hold nothing; a task that holds a key passes a waiting `hold_all`. Whoever asks
    for what it holds already in any form (a key twice, shared or not; a key under its own hold_all; hold_all with a
    key held) gets Reentry.
    """

    _shut = False  # hold_all is in force or waited for
    _all = None  # the AllHold in force
    _gate = None  # the line of hold_all and of what came after it; made by the first hold_all
    bus = None  # says how a key looks in messages

    def __init__(self, name=None, max_waiters=None, tag=None):
        if tag is not None and not callable(tag):
            raise TypeError("tag is a function of the key, such as hash_tag")
        self.name = name or "table"
        self._limit = check_ms(max_waiters)
        self._tag = tag
        self._loop = loop_id()
        self._entries = {}  # key: its only KeyHold, or an Entry when there is more to know
        self._pool = []
        self._counts = {}

    def hold(self, key, timeout_ms=None, shared=False):
        """`async with table.hold(key) as hold`. LockTimeout, QueueFull, Reentry, WouldDeadlock."""
        if self._tag is not None:
            key = self._tag(key)
        hold = KeyHold(self, key)
        if timeout_ms is not None:
            hold._timeout = check_ms(timeout_ms)
        if shared:
            hold.shared = True
        return hold

    def __getattr__(self, name):
        """hold_many, hold_all, try_hold, waiters and stats: loaded on first use, methods from then on."""
        return rare(self, LockTable, name, ("tablemore",))

    def __len__(self):
        """Keys that are held or waited for, and hold_all. 0 at rest."""
        gate = self._gate
        return len(self._entries) + (self._all is not None) + (0 if gate is None else len(gate._line))

    def __contains__(self, key):
        if self._tag is not None:
            key = self._tag(key)
        return key in self._entries or self.waiters(key) > 0

    def _label(self, key):
        return "%s/%s" % (self.name, key if self.bus is None else self.bus._show(key))

    def _holds(self):
        """Every hold in force."""
        if self._all is not None:
            yield self._all
        for entry in self._entries.values():
            if isinstance(entry, KeyHold):
                yield entry
            else:
                for hold in entry.holds:
                    yield hold

    def _hold_of(self, task, key):
        """The hold by which `task` holds `key`; None."""
        hold = self._all or self._entries.get(key)
        if isinstance(hold, Entry):
            for reader in hold.holds:
                if reader._task is task:
                    return reader
        elif hold is not None and hold._task is task:
            return hold
        return None

    def _any_hold_of(self, task):
        for hold in self._holds():
            if hold._task is task:
                return hold
        return None

    def _entry(self, key):
        """The key's Entry, made if there is none."""
        entry = self._entries.get(key)
        if not isinstance(entry, Entry):
            new = self._pool.pop() if self._pool else Entry(self)
            new.key = key
            if entry is not None:
                new.holds.append(entry)
            self._entries[key] = entry = new
        return entry

    async def _take(self, hold, timeout_ms):
        """Take the key of `hold`, waiting if need be."""
        task = current_task()
        key = hold._key
        hash(key)  # TypeError here and now, not in the task that opens the gate
        if self._loop is not loop_id():
            from .strays import settle_table

            settle_table(self)
        mine = self._hold_of(task, key)
        if mine is not None:
            from .refusals import reentry

            raise reentry(hold._label(), mine._label())
        if self._shut and self._any_hold_of(task) is None:
            queue = self._gate
        elif key not in self._entries:
            self._entries[key] = hold
            hold._task = task
            return
        else:
            queue = self._entry(key)
            if hold.shared and not queue._line and queue.holds[0].shared:
                queue.holds.append(hold)
                hold._task = task
                return
        # Cancelled here: nothing is owned, see wait().
        await wait(queue, hold, task, timeout_ms)
