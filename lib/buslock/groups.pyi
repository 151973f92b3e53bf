from collections.abc import Awaitable, Coroutine
from typing import Any, Generic, TypeVar

from .holding import Hold
from .holds import BusHold
from .i2c import I2CDevice
from .peripherals import ReadBuffer, WriteBuffer

# What names a device in a group: itself, or, within one bus, its address.
_Named = TypeVar("_Named", contravariant=True)

class Grouped(Generic[_Named]):
    """The operations of several devices under one hold: each takes the device or its address first."""

    def read_register(
        self, device: _Named, reg: int, nbytes: int, timeout_ms: int | None = None
    ) -> Coroutine[Any, Any, bytes]: ...
    def read_register_into(
        self, device: _Named, reg: int, buf: WriteBuffer, timeout_ms: int | None = None
    ) -> Coroutine[Any, Any, None]: ...
    def write_register(
        self,
        device: _Named,
        reg: int,
        data: int | ReadBuffer,
        repeatable: bool = False,
        timeout_ms: int | None = None,
    ) -> Coroutine[Any, Any, None]: ...
    def update_register(
        self, device: _Named, reg: int, mask: int, value: int, timeout_ms: int | None = None
    ) -> Coroutine[Any, Any, int]: ...
    def wait_register(
        self, device: _Named, reg: int, mask: int, value: int, every_ms: int = 1, timeout_ms: int | None = None
    ) -> Coroutine[Any, Any, int]: ...
    def read(self, device: _Named, nbytes: int, timeout_ms: int | None = None) -> Coroutine[Any, Any, bytes]: ...
    def readinto(
        self, device: _Named, buf: WriteBuffer, timeout_ms: int | None = None
    ) -> Coroutine[Any, Any, None]: ...
    def write(
        self,
        device: _Named,
        *bufs: int | ReadBuffer,
        stop: bool = True,
        repeatable: bool = False,
        timeout_ms: int | None = None,
    ) -> Coroutine[Any, Any, None]: ...
    def write_then_read(
        self, device: _Named, out: int | ReadBuffer, nbytes: int, timeout_ms: int | None = None
    ) -> Coroutine[Any, Any, bytes]: ...
    def probe(self, device: _Named, timeout_ms: int | None = None) -> Coroutine[Any, Any, bool]: ...

class GroupHold(BusHold[Grouped[_Named]], Generic[_Named]):
    """A BusHold whose block gets `regs`: operations with the device or address first."""

class SeveralHold(Hold):
    def __init__(self, devices: tuple[I2CDevice, ...], timeout_ms: int | None) -> None: ...
    def __aenter__(self) -> Awaitable[Grouped[I2CDevice]]: ...

def hold(*devices: I2CDevice, timeout_ms: int | None = None) -> SeveralHold: ...
