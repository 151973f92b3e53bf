from collections.abc import Awaitable, Hashable
from typing import Any

from .waitqueue import Waiter

def left_of(ms: int | None, start: int) -> int | None: ...

class Hold(Waiter):
    _owner: Any  # of a hold of a table: the hold of a bus that it is part of
    shared: bool
    @property
    def held(self) -> bool: ...
    @property
    def keys(self) -> tuple[Hashable, ...]: ...
    # What `async with X.hold(...) as this` gives: of each kind of hold something else.
    def __aenter__(self) -> Awaitable[object]: ...
    # Nothing is ever swallowed by it.
    def __aexit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, tb: object
    ) -> Awaitable[None]: ...
    def release(self) -> None: ...
