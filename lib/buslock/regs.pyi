"""What `bus.hold()`, `hold()` and scripts give: the operations of devices, with the device in front.

There is no such module at run time: it is for type checkers only, like `peripherals`.
"""

from collections.abc import Callable, Coroutine
from typing import Any, Generic, TypeVar, overload

from .i2c import I2CDevice
from .peripherals import ReadBuffer, WriteBuffer
from .spi import SPIDevice
from .uart import UARTNode

# What names an I2C device: itself, and where only one bus is meant its address too.
_Named = TypeVar("_Named", contravariant=True)

class Regs(Generic[_Named]):
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
    def probe(self, device: _Named, timeout_ms: int | None = None) -> Coroutine[Any, Any, bool]: ...
    @overload
    def read(self, device: _Named, nbytes: int, timeout_ms: int | None = None) -> Coroutine[Any, Any, bytes]: ...
    @overload
    def read(
        self, device: SPIDevice, nbytes: int, write: int = 0, timeout_ms: int | None = None
    ) -> Coroutine[Any, Any, bytes]: ...
    @overload
    def read(
        self,
        device: UARTNode,
        nbytes: int | None = None,
        until: bytes | None = None,
        frame: Callable[[bytearray], bool | None] | None = None,
        reply_ms: int | None = None,
        timeout_ms: int | None = None,
    ) -> Coroutine[Any, Any, bytes]: ...
    @overload
    def readinto(
        self, device: _Named, buf: WriteBuffer, timeout_ms: int | None = None
    ) -> Coroutine[Any, Any, None]: ...
    @overload
    def readinto(
        self, device: SPIDevice, buf: WriteBuffer, write: int = 0, timeout_ms: int | None = None
    ) -> Coroutine[Any, Any, None]: ...
    @overload
    def write(
        self,
        device: _Named,
        *bufs: int | ReadBuffer,
        stop: bool = True,
        repeatable: bool = False,
        timeout_ms: int | None = None,
    ) -> Coroutine[Any, Any, None]: ...
    @overload
    def write(
        self, device: SPIDevice, *bufs: ReadBuffer, timeout_ms: int | None = None
    ) -> Coroutine[Any, Any, None]: ...
    @overload
    def write(self, device: UARTNode, buf: ReadBuffer, timeout_ms: int | None = None) -> Coroutine[Any, Any, None]: ...
    @overload
    def write_then_read(
        self, device: _Named, out: int | ReadBuffer, nbytes: int, timeout_ms: int | None = None
    ) -> Coroutine[Any, Any, bytes]: ...
    @overload
    def write_then_read(
        self, device: SPIDevice, out: ReadBuffer, nbytes: int, timeout_ms: int | None = None
    ) -> Coroutine[Any, Any, bytes]: ...
    def write_readinto(
        self, device: SPIDevice, out: ReadBuffer, into: WriteBuffer, timeout_ms: int | None = None
    ) -> Coroutine[Any, Any, None]: ...
    def exchange(
        self,
        device: UARTNode,
        request: ReadBuffer,
        nbytes: int | None = None,
        until: bytes | None = None,
        frame: Callable[[bytearray], bool | None] | None = None,
        reply_ms: int = 1000,
        timeout_ms: int | None = None,
    ) -> Coroutine[Any, Any, bytes]: ...

class ScriptRegs(Regs[int | I2CDevice]):
    # Only in a script of the whole bus.
    def scan(self, timeout_ms: int | None = None) -> Coroutine[Any, Any, list[int]]: ...
    def recover(self, timeout_ms: int | None = None) -> Coroutine[Any, Any, None]: ...
