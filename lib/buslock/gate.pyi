from collections.abc import Awaitable

from typing_extensions import Self

from .holding import Hold
from .table import LockTable

class AllHold(Hold):
    def __init__(self, table: LockTable, timeout_ms: int | None) -> None: ...
    def __aenter__(self) -> Awaitable[Self]: ...
    @property
    def keys(self) -> tuple[()]: ...
