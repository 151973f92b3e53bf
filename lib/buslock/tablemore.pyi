from collections.abc import Awaitable, Hashable, Iterable

from typing_extensions import Self

from .holding import Hold
from .table import LockTable

class ManyHold(Hold):
    def __init__(
        self, table: LockTable, keys: Iterable[Hashable], timeout_ms: int | None, shared: bool
    ) -> None: ...
    def __aenter__(self) -> Awaitable[Self]: ...
    @property
    def keys(self) -> tuple[Hashable, ...]: ...
