"""LockTable: a lock for each key, that exists only while somebody holds the key or waits for it."""

from builtins import isinstance, len  # found sooner in the module itself

from ._rt import DONE, Given, current_task, given, later, loop_id, task_in
from .holding import Hold
from .rare import rare
from .waitqueue import HOLD, LONGEST, PEAK, WAITS, WaitQueue, check_ms, grant, wait

_POOL = 4  # entries kept for reuse: a list has room for so many from the start


class KeyHold:
    """A Hold by the names it has, not by its base: what is looked up in one class is found soonest on MicroPython.

    Made by LockTable.hold(), without an __init__, and with as few attributes as can be: an object that gets its third
    or fifth one moves all of them, and the allocator then searches a full heap from the place that they have left.
    `_task` is the awaitable of an `__aenter__` that need not wait, then the holder, then None.
    """

    is_hold = True
    shared = False
    error = holder = task = _timeout = _task = None
    release = Hold.release
    remove = Hold.remove
    _refuse = Hold._refuse

    def __getattr__(self, name):
        """`_table` and `_key`, which are together in `_at`; `held` and `keys`."""
        if name == "_table":
            return self._at[0]
        if name == "_key":
            return self._at[1]
        return Hold.__getattr__(self, name)  # pyright: ignore[reportAttributeAccessIssue]

    def __aenter__(self):
        table, key = self._at
        entries = table._entries
        given = self._task
        if key in entries or len(entries) > 63 or table._shut or given is None:
            return self._enter()
        entries[key] = self
        self._task = current_task()
        return given

    def _enter(self):
        """The awaitable of an `__aenter__` that may have to wait. Cancelled there: nothing is owned, see wait()."""
        given = self._task
        if not isinstance(given, Given):
            self._refuse()
        self._task = None
        queue = ask(self._at[0], self)
        return given if queue is None else wait(queue, self, None, self._timeout)

    def __aexit__(self, exc_type, exc, tb):
        if self._task is not None:
            self._task = None
            table, key = self._at
            entries = table._entries
            if entries[key] is self:
                del entries[key]
            else:
                end(entries[key], self)
        return DONE

    def _is_held(self):
        return self._task is not None and not isinstance(self._task, Given)

    def _all_keys(self):
        return (self._at[1],)

    def _label(self):
        return self._at[0]._label(self._at[1])

    def _drop(self):
        table, key = self._at
        entry = table._entries[key]
        if entry is self:
            del table._entries[key]
        else:
            end(entry, self)


class Entry(WaitQueue):
    """The line of one key. A key that nobody waits for has none: its hold stands in the table itself."""

    def __init__(self, table):
        self.table = table
        self._loop = table._loop
        self.holds = []
        self._trace = table._trace
        self._limit = table._limit
        self._counts = table._counts

    def _label(self):
        return self.table._label(self.key)

    def _holders(self):
        return [hold._task for hold in self.holds]

    def _stuck(self, waiter_of):
        holds = self.holds
        return len(holds) > 1 or waiter_of(holds[0]._task)

    def _advance(self):
        holds = self.holds
        line = self._line
        while line:
            hold = line[0]
            if holds and not (hold.shared and holds[0].shared):
                return
            try:
                holds.append(hold)  # first: there may be no room for it
            except MemoryError:
                return  # nor is it the first: the end of one of those before it goes on with this
            hold._task = grant(self)
            if hold._task is None:
                holds.pop()
        if not holds:
            table = self.table
            del table._entries[self.key]
            if len(table._pool) < _POOL:
                table._pool.append(self)

    def _give_back(self, waiter):
        waiter._task = None
        waiter._drop()


def end(entry, hold):
    """A hold of this key is over."""
    entry.holds.remove(hold)
    entry._advance()
    if entry.table._shut:
        entry.table._gate._advance()


def ask(table, hold):
    """Take the key of `hold` for the running task; or the line in which it has to wait."""
    # No more names than this, and none imported: a frame of more than 11 words is allocated on MicroPython's heap.
    task = task_in(table._loop)
    if task is None:
        task = table._settle()
    key = hold._at[1]
    entry = table._entries.get(key)
    if table._shut:
        hash(key)  # TypeError here and now, not in the task that opens the gate
        if table._all is not None and table._all._task is task:
            table._refuse(hold, table._all)
        if table._any_hold_of(task) is None:
            hold.error = None  # room for the attribute: see Gate._move()
            return table._gate
    if entry is None:
        if len(table._entries) > 63 and table._kind is KeyHold:
            later.shards.divide(table)
        table._put(key, hold)
    else:
        if not isinstance(entry, Entry):
            entry = table._entry(key)
        first = entry.holds[0]
        if first.shared:
            table._refuse_again(hold, entry)
        elif first._task is task:
            table._refuse(hold, first)
        if not first.shared or entry._line or not hold.shared:
            return entry
        entry.holds.append(hold)
    hold._task = task
    return None


class LockTable:
    """Counted locks by key: an int, a string, or anything hashable.

    `max_waiters` bounds each key's line. `tag=hash_tag` makes keys with the same `{tag}` lock together.
    Fair in arrival order to tasks that hold nothing; a task that holds a key passes a waiting `hold_all`. Whoever asks
    for what it holds already in any form (a key twice, shared or not; a key under its own hold_all; hold_all with a
    key held) gets Reentry.
    """

    _all = None  # the AllHold in force
    _gate = None  # the line of hold_all and of what came after it; made by the first hold_all
    bus = None  # says how a key looks in messages
    _trace = None  # a Traced, where a Trace is kept

    def __init__(self, name=None, max_waiters=None, tag=None):
        if tag is not None and not callable(tag):
            raise TypeError("tag is a function of the key, such as hash_tag")
        self.name = name or "table"
        self._limit = check_ms(max_waiters)
        self._kind = KeyHold
        self._tag = tag
        if tag is not None:
            plain = self.hold
            self.hold = lambda key, timeout_ms=None, shared=False: plain(tag(key), timeout_ms, shared)
        self._shut = False  # hold_all is in force or waited for
        self._loop = loop_id()
        self._entries = {}  # key: its only KeyHold, or an Entry when there is more to know
        self._pool = []
        self._counts = {WAITS: 0, LONGEST: 0, PEAK: 0, HOLD: 0}

    def hold(self, key, timeout_ms=None, shared=False):
        """`async with table.hold(key) as hold`. LockTimeout, QueueFull, Reentry, WouldDeadlock."""
        hold = self._kind()
        hold._at = (self, key)
        hold._task = given(hold)
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

    def _put(self, key, hold):
        """A free key is held by `hold` from now on."""
        if self._shut:  # the end of the hold matters to the gate, which an Entry looks after
            self._entry(key).holds.append(hold)
        else:
            self._entries[key] = hold

    def _entry(self, key):
        """The key's Entry, made if there is none."""
        entry = self._entries.get(key)
        if not isinstance(entry, Entry):
            if self._pool:
                new = self._pool.pop()
                new._since = None
            else:
                new = Entry(self)
            new.key = key
            new._loop = self._loop
            if entry is not None:
                new.holds.append(entry)
            self._entries[key] = entry = new
            if len(self._entries) > self._counts[PEAK]:
                self._counts[PEAK] = len(self._entries)
        return entry

    def _settle(self):
        """The loop was replaced. The running task."""
        later.strays.settle_table(self)
        return current_task()

    def _refuse_again(self, hold, entry):
        """Refuse if the running task is one of several holders."""
        task = current_task()
        for other in entry.holds:
            if other._task is task:
                self._refuse(hold, other)

    def _refuse(self, hold, mine):
        """The task holds it already."""
        raise later.refusals.reentry(hold._label(), mine._label())
