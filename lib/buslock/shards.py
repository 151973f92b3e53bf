"""The keys of a LockTable that has more than a few of them at once.

MicroPython's dict looks for a key from its hash on, place by place, to the next free one, and the hash of an int is the
int. Among thousands of consecutive ints every search would go through half of them. Here each dict has few keys, and
those 61 apart; 61 divides no size that a dict has.
"""

from builtins import hash  # found sooner in the module itself

from ._rt import DONE, current_task
from .table import KeyHold, end

_PARTS = 61


def divide(table):
    """From now on the table's entries are in parts. It stays so."""
    entries = table._entries
    table._entries = shards = Shards()
    table._parts = shards.parts
    for key in entries:
        shards[key] = entries[key]
    table._kind = ShardHold


class ShardHold(KeyHold):
    """A KeyHold of a table that is divided."""

    def __aenter__(self):
        table, key = self._at
        entries = table._parts[hash(key) % _PARTS]
        given = self._task
        if key in entries or table._shut or given is None:
            return self._enter()
        entries[key] = self
        self._task = current_task()
        return given

    def __aexit__(self, exc_type, exc, tb):
        if self._task is not None:
            self._task = None
            table, key = self._at
            entries = table._parts[hash(key) % _PARTS]
            if entries[key] is self:
                del entries[key]
            else:
                end(entries[key], self)
        return DONE


class Shards:
    """What the table uses of a dict."""

    def __init__(self):
        self.parts = [{} for _ in range(_PARTS)]

    def _part(self, key):
        return self.parts[hash(key) % _PARTS]

    def __contains__(self, key):
        return key in self._part(key)

    def __getitem__(self, key):
        return self._part(key)[key]

    def __setitem__(self, key, entry):
        self._part(key)[key] = entry

    def __delitem__(self, key):
        part = self._part(key)
        del part[key]  # in one expression MicroPython would allocate a bound method

    def get(self, key):
        return self._part(key).get(key)

    def __len__(self):
        n = 0
        for part in self.parts:  # without a list, for which there may be no memory when a hold ends
            n += len(part)
        return n

    def __iter__(self):
        for part in self.parts:
            yield from part

    def values(self):
        for part in self.parts:
            yield from part.values()
