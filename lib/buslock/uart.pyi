from asyncio import StreamReader, StreamWriter
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from .bus import Bus
from .device import Device
from .groups import GroupHold
from .holds import BusHold
from .peripherals import BusioUART, MachineUART, Pin, ReadBuffer
from .regs import Regs
from .trace import Trace
from .uartsession import UARTSession

_UART = TypeVar("_UART", bound=MachineUART | BusioUART | tuple[StreamReader, StreamWriter])

class UARTBus(Bus):
    def __init__(
        self,
        uart: _UART | Callable[[], _UART] | Callable[[], Awaitable[_UART]],
        name: str | None = None,
        close: Callable[[_UART], object] | None = None,
        de: Pin = None,
        de_active: int = 1,
        echo: bool = False,
        gap_ms: int = 0,
        max_reply: int = 256,
        unsolicited: Callable[[bytes], object] | None = None,
        max_waiters: int | None = None,
        trace: Trace | None = None,
    ) -> None: ...
    def device(self, address: int | str = 0) -> UARTNode: ...
    def hold(
        self, *devices: UARTNode | int | str, timeout_ms: int | None = None, wire: bool = False
    ) -> GroupHold[Regs[UARTNode]]:
        """`async with bus.hold(a, b) as regs`: several nodes at once, `regs.exchange(a, ...)`."""

    def hold_all(self, timeout_ms: int | None = None) -> GroupHold[Regs[UARTNode]]:
        """The whole bus: waits for every holder, and nobody else gets in."""

class Exchanges:
    async def exchange(
        self,
        request: ReadBuffer,
        nbytes: int | None = None,
        until: bytes | None = None,
        frame: Callable[[bytearray], bool | None] | None = None,
        reply_ms: int = 1000,
        timeout_ms: int | None = None,
    ) -> bytes: ...
    async def read(
        self,
        nbytes: int | None = None,
        until: bytes | None = None,
        frame: Callable[[bytearray], bool | None] | None = None,
        reply_ms: int | None = None,
        timeout_ms: int | None = None,
    ) -> bytes: ...
    async def write(self, buf: ReadBuffer, timeout_ms: int | None = None) -> None: ...

class UARTNode(Exchanges, Device):
    address: int | str
    def __init__(self, bus: UARTBus, address: int | str) -> None: ...
    def hold(self, timeout_ms: int | None = None, wire: bool = False) -> BusHold[UARTSession]:
        """`async with node.hold() as session`: its key, and with `wire=True` the line too."""

    # Any: what drivers ask for is a machine.UART or busio.UART by name, and these are neither.
    def as_machine(self) -> Any:
        """An object with the methods of machine.UART, for drivers that know nothing of this bus."""

    def as_busio(self) -> Any:
        """An object with the methods of busio.UART, for drivers that know nothing of this bus."""
