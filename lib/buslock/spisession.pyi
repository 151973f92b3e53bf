from collections.abc import Awaitable, Hashable
from typing import Any

from .holding import Hold
from .holds import BusHold
from .spi import SPIDevice, _MoreOperations  # pyright: ignore[reportPrivateUsage]

class SPISession(_MoreOperations):
    def __init__(self, device: SPIDevice, hold: BusHold[SPISession] | Select) -> None: ...

class Select(Hold):
    _me: Any
    wire: bool
    def __init__(self, me: SPIDevice | SPISession, timeout_ms: int | None) -> None: ...
    def __aenter__(self) -> Awaitable[Selected]: ...
    @property
    def keys(self) -> tuple[Hashable]: ...

class Selected(SPISession):
    def select(self, timeout_ms: int | None = None) -> Select: ...
