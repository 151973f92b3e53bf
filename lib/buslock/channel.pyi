from collections.abc import Awaitable, Callable, Coroutine, Iterable
from typing import Any, Literal, TypeVar

from typing_extensions import TypeVarTuple, Unpack

from .groups import GroupHold
from .i2c import I2CDevice
from .mux import Mux
from .peripherals import ReadBuffer, WriteBuffer
from .regs import Regs
from .session import I2CSession

_Result = TypeVar("_Result")
_Args = TypeVarTuple("_Args")

class Channel:
    name: str
    def __init__(self, owner: Mux, n: int) -> None: ...
    def device(
        self,
        addr: int,
        setup: Callable[[I2CSession], Awaitable[object]] | None = None,
        addrsize: Literal[8, 16, 24, 32] = 8,
        retries: int = 0,
        aliases: Iterable[int] = (),
        chunk: int | None = None,
    ) -> I2CDevice: ...
    def mux(self, addr: int, channels: int = 8) -> Mux: ...
    def read_register(
        self, addr: int | I2CDevice, reg: int, nbytes: int, timeout_ms: int | None = None
    ) -> Coroutine[Any, Any, bytes]: ...
    def read_register_into(
        self, addr: int | I2CDevice, reg: int, buf: WriteBuffer, timeout_ms: int | None = None
    ) -> Coroutine[Any, Any, None]: ...
    def write_register(
        self,
        addr: int | I2CDevice,
        reg: int,
        data: int | ReadBuffer,
        repeatable: bool = False,
        timeout_ms: int | None = None,
    ) -> Coroutine[Any, Any, None]: ...
    def update_register(
        self, addr: int | I2CDevice, reg: int, mask: int, value: int, timeout_ms: int | None = None
    ) -> Coroutine[Any, Any, int]: ...
    def hold(
        self, *devices: int | I2CDevice, timeout_ms: int | None = None, wire: bool = False
    ) -> GroupHold[Regs[int | I2CDevice]]: ...
    def call(
        self,
        device: int | I2CDevice,
        function: Callable[[Unpack[_Args]], _Result],
        *args: Unpack[_Args],
        timeout_ms: int | None = None,
    ) -> Coroutine[Any, Any, _Result]: ...
    def as_machine(self) -> Any: ...
    def as_busio(self) -> Any: ...
    async def scan(self, timeout_ms: int | None = None) -> list[int]: ...
