from collections.abc import Awaitable

from typing_extensions import Self

from .holding import Hold
from .lock import Lock

class LockHold(Hold):
    def __init__(self, lock: Lock, timeout_ms: int | None) -> None: ...
    def __aenter__(self) -> Awaitable[Self]: ...
    @property
    def keys(self) -> tuple[str | None]: ...
