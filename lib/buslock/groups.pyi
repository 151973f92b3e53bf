from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Generic, TypeVar

from .device import Device
from .holding import Hold
from .holds import BusHold
from .i2c import I2CDevice
from .regs import Regs

_Given = TypeVar("_Given", covariant=True)

# For the checker, what a block gets is a `Regs`.
class Grouped:
    def __init__(self, find: Callable[[Any], Any]) -> None: ...
    def __getattr__(self, name: str) -> Any: ...

# Generic for the checker only, like BusHold.
class GroupHold(BusHold[_Given], Generic[_Given]):
    """A BusHold whose block gets `regs`: operations with the device or address first."""

class SeveralHold(Hold):
    def __init__(self, devices: Sequence[Device], timeout_ms: int | None) -> None: ...
    def __aenter__(self) -> Awaitable[Regs[I2CDevice]]: ...

def hold(*devices: Device, timeout_ms: int | None = None) -> SeveralHold: ...
