"""LockTable: a lock for each key, that exists only while somebody holds the key or waits for it."""

from ._rt import can_resume, current_task, ended, loop_id
from .entries import Entry, Gate
from .errors import Reentry
from .keyholds import AllHold, KeyHold, ManyHold
from .waitqueue import check_limit, check_ms, fail_all, wait

_POOL = 8  # entries kept for reuse
_BUCKETS = 16


def hash_tag(key):
    """The part of a string key between the first `{` and the next `}`, when not empty; else the key."""
    if isinstance(key, str):
        start = key.find("{") + 1
        end = key.find("}", start)
        if start and end > start:
            return key[start:end]
    return key


class LockTable:
    """Counted locks by key: an int, a string, or anything hashable.

    `max_waiters` bounds each key's line. `tag=hash_tag` makes keys with the same `{tag}` lock together.
    Fair in arrival order to tasks that hold nothing; a task that holds a key passes a waiting `hold_all`. Whoever asks
    for what it holds already in any form (a key twice, shared or not; a key under its own hold_all; hold_all with a
    key held) gets Reentry.
    """

    def __init__(self, name=None, max_waiters=None, tag=None):
        if tag is not None and not callable(tag):
            raise TypeError("tag is a function of the key, such as hash_tag, not %r" % (tag,))
        self.name = name or "table"
        self._limit = check_limit(max_waiters)
        self._tag = tag
        self._loop = loop_id()
        self._entries = {}  # key: its only KeyHold, or an Entry when there is more to know
        self._pool = []
        self._shut = False  # hold_all is in force or waited for
        self._all = None  # the AllHold in force
        self._gate = Gate(self)
        self._counts = {}
        self._peak = 0
        self._longest = (0, None)
        self._histogram = None

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

    _hold = hold

    def hold_many(self, keys, timeout_ms=None, shared=False):
        """All of `keys` (at least one), taken in one order; a key named twice counts once."""
        return ManyHold(self, keys, timeout_ms, shared)

    def hold_all(self, timeout_ms=None):
        """Every key there is or could be. Waits for all holders; later arrivals queue behind it."""
        return AllHold(self, timeout_ms)

    def try_hold(self, key, shared=False):
        """A hold in force, to be ended with release(); None if that would have to wait."""
        hold = self.hold(key, None, shared)
        key = hold._key
        self._settle()
        if self._shut and (self._all is not None or not self._holds_of(current_task())):
            return None
        if key in self._entries:
            entry = self._entries[key]
            first = entry if isinstance(entry, KeyHold) else entry.holds[0]
            if entry is not first and entry._first is not None or not (shared and first.shared):
                return None
            if current_task() in self._entry(key)._holders():
                return None
            self._entry(key).holds.append(hold)
        else:
            self._entries[key] = hold
        hold._given = None
        hold._task = current_task()
        return hold

    def __len__(self):
        """Keys that are held or waited for, and hold_all. 0 at rest."""
        return len(self._entries) + self._gate._count + (self._all is not None)

    def __contains__(self, key):
        if self._tag is not None:
            key = self._tag(key)
        return key in self._entries or self._queued(key) > 0

    def waiters(self, key):
        """How many tasks wait for the key."""
        if self._tag is not None:
            key = self._tag(key)
        entry = self._entries.get(key)
        return self._queued(key) + (entry._count if isinstance(entry, Entry) else 0)

    def _queued(self, key):
        n = 0
        waiter = self._gate._first
        while waiter is not None:
            n += getattr(waiter.hold, "_key", None) == key
            waiter = waiter.next
        return n

    def stats(self):
        """A dict of counters. `wait_ms` counts waits by their length: below 1 ms, below 2, below 4, and so on."""
        count = self._counts.get
        return {
            "entries": len(self._entries),
            "peak_entries": max(self._peak, len(self._entries)),
            "waits": count("waits", 0),
            "timeouts": count("timeouts", 0),
            "cancellations": count("cancellations", 0),
            "rejections": count("rejections", 0),
            "stale_holders": count("stale", 0),
            "longest_queue": self._longest[0],
            "longest_queue_key": self._longest[1],
            "wait_ms": list(self._histogram or [0] * _BUCKETS),
        }

    def _label(self, key):
        return "%s/%s" % (self.name, key)

    def _in_order(self, keys):
        if isinstance(keys, str):
            raise TypeError("keys is a collection of keys, not the string %r" % keys)
        if self._tag is not None:
            keys = [self._tag(key) for key in keys]
        ordered = tuple(sorted(set(keys), key=_rank))
        if not ordered:
            raise ValueError("no keys at all: hold_many() needs at least one")
        return ordered

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

    def _holds_of(self, task):
        return [hold for hold in self._holds() if hold._task is task]

    def _entry(self, key):
        """The key's Entry, made if there is none."""
        entry = self._entries.get(key)
        if not isinstance(entry, Entry):
            new = self._pool.pop() if self._pool else Entry(self)
            new.key = key
            if entry is not None:
                new.holds.append(entry)
            self._entries[key] = entry = new
            self._peak = max(self._peak, len(self._entries))
        return entry

    def _forget(self, entry):
        del self._entries[entry.key]
        entry._since = None
        if len(self._pool) < _POOL:
            self._pool.append(entry)

    async def _take(self, hold, timeout_ms):
        """Take the key of `hold`, waiting if need be."""
        task = current_task()
        key = hold._key
        self._settle()
        mine = self._holds_of(task) if self._shut or key in self._entries else ()
        for other in mine:
            if other is self._all or other._key == key:
                raise Reentry("%s: this task holds %s already" % (hold._label(), other._label()))
        if self._shut and not mine:
            queue = self._gate
        elif key not in self._entries:
            self._entries[key] = hold
            hold._task = task
            return
        else:
            queue = self._entry(key)
            if queue._first is None and hold.shared and queue.holds[0].shared:
                queue.holds.append(hold)
                hold._task = task
                return
        # Cancelled here: nothing is owned, see wait().
        await wait(queue, hold, task, timeout_ms)

    def _settle(self):
        """If the loop was replaced: holders that sleep in the old one never come back, and are discarded."""
        if self._loop is loop_id():
            return
        self._loop = loop_id()
        for hold in list(self._holds()):
            if not ended(hold._task) and not can_resume(hold._task):
                self._note("stale", self._gate)
                hold._task = None
                hold._drop()
        self._gate._advance()

    def _fail_all(self, error):
        """Every waiter raises a fresh exception like `error`; the holders stay."""
        fail_all(self._gate, error)
        for entry in self._entries.values():
            if isinstance(entry, Entry):
                fail_all(entry, error)
        self._gate._advance()

    def _note(self, event, queue, waiter=None):
        counts = self._counts
        if event == "granted":
            if self._histogram is None:
                self._histogram = [0] * _BUCKETS
            bucket = 0
            ms = waiter.since
            while ms and bucket < _BUCKETS - 1:
                ms >>= 1
                bucket += 1
            self._histogram[bucket] += 1
            return
        counts[event] = counts.get(event, 0) + 1
        if event == "waits" and queue._count > self._longest[0]:
            self._longest = (queue._count, getattr(queue, "key", None))


def _rank(key):
    return (type(key).__name__, key)
