from collections.abc import Awaitable, Callable
from typing import Any, Generic, Literal, TypeVar, overload

_T = TypeVar("_T")

# Generic for the checker only: on the board it is a plain class, so put annotations such as "Lazy[Sensor]" in quotes.
class Lazy(Generic[_T]):
    name: str
    _retry_ms: Any
    state: Literal["empty", "starting", "ready", "failed"]
    @overload
    def __init__(
        self,
        factory: Callable[[], Awaitable[_T]],
        close: Callable[[_T], object] | None = None,
        factory_ms: int | None = None,
        retry_ms: int = 0,
    ) -> None: ...
    @overload
    def __init__(
        self,
        factory: Callable[[], _T],
        close: Callable[[_T], object] | None = None,
        factory_ms: int | None = None,
        retry_ms: int = 0,
    ) -> None: ...
    def peek(self) -> _T | None: ...
    async def get(self, timeout_ms: int | None = None) -> _T: ...
    async def aclose(self, timeout_ms: int | None = None) -> None:
        """Close the object, or stop making it; those who wait get BusClosed. The next `get()` makes it anew."""

    def stats(self) -> dict[str, Any]:
        """Calls of the factory, how many failed, and how long the last one took in ms."""
