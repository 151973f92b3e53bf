from collections.abc import Awaitable, Hashable, Sequence
from typing import Generic, TypeVar

from .bus import Bus
from .device import Device
from .holding import Hold

_Given = TypeVar("_Given", covariant=True)

# Generic for the checker only, in what its block gets: on the board it is a plain class.
class BusHold(Hold, Generic[_Given]):
    wire: bool
    def __init__(
        self, bus: Bus, devices: Sequence[Device] | None, timeout_ms: int | None, wire: bool, prepare: bool = True
    ) -> None: ...
    def __aenter__(self) -> Awaitable[_Given]: ...
    @property
    def keys(self) -> tuple[Hashable, ...]: ...
