from collections.abc import Awaitable, Callable, Hashable, Iterable
from typing import Any

from typing_extensions import Self

from .gate import AllHold
from .holding import Hold
from .tablemore import ManyHold
from .waitqueue import WaitQueue

class KeyHold(Hold):
    _at: tuple[LockTable, Any]
    _table: LockTable
    _key: Hashable
    _timeout: int | None
    def __aenter__(self) -> Awaitable[Self]: ...
    @property
    def keys(self) -> tuple[Hashable]: ...

class Entry(WaitQueue):
    key: Hashable
    table: Any
    holds: list[KeyHold]
    def __init__(self, table: LockTable) -> None: ...

def end(entry: Entry, hold: KeyHold) -> None: ...
def ask(table: LockTable, hold: KeyHold) -> WaitQueue | None: ...

class LockTable:
    name: str
    _entries: Any  # a dict, or Shards
    _parts: list[dict[Hashable, Any]]
    _counts: dict[Any, Any]
    bus: Any  # the bus whose table it is
    _trace: Any
    def __init__(
        self,
        name: str | None = None,
        max_waiters: int | None = None,
        tag: Callable[[Any], Hashable] | None = None,
    ) -> None: ...
    def hold(self, key: Hashable, timeout_ms: int | None = None, shared: bool = False) -> KeyHold: ...
    def hold_many(self, keys: Iterable[Hashable], timeout_ms: int | None = None, shared: bool = False) -> ManyHold:
        """All of `keys` (at least one), taken in one order; a key named twice counts once."""

    def hold_all(self, timeout_ms: int | None = None) -> AllHold:
        """Every key there is or could be. Waits for all holders; later arrivals queue behind it."""

    def try_hold(self, key: Hashable, shared: bool = False) -> KeyHold | None:
        """A hold in force, to be ended with release(); None if that would have to wait."""

    def waiters(self, key: Hashable) -> int:
        """How many tasks wait for the key."""

    def stats(self) -> dict[str, Any]:
        """A dict of counters. `wait_ms` counts waits by their length: below 1 ms, below 2, below 4, and so on."""

    def __len__(self) -> int: ...
    def __contains__(self, key: Hashable) -> bool: ...
