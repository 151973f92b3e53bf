from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from .bus import Bus
from .device import Device
from .groups import GroupHold
from .holds import BusHold
from .peripherals import AsyncSPI, BusioSPI, MachineSPI, Pin, ReadBuffer, WriteBuffer
from .regs import Regs
from .spisession import Select, SPISession
from .trace import Trace

_SPI = TypeVar("_SPI", bound=MachineSPI | BusioSPI | AsyncSPI)

class SPIBus(Bus):
    def __init__(
        self,
        spi: _SPI | Callable[[], _SPI] | Callable[[], Awaitable[_SPI]],
        name: str | None = None,
        close: Callable[[_SPI], object] | None = None,
        max_waiters: int | None = None,
        trace: Trace | None = None,
    ) -> None: ...
    def device(
        self,
        cs: Pin,
        baudrate: int = 1_000_000,
        polarity: int = 0,
        phase: int = 0,
        bits: int = 8,
        firstbit: int | None = None,
        cs_active: int = 0,
        pre_clocks: int = 0,
        post_clocks: int = 0,
        chunk: int | tuple[int, bool] | None = None,
        setup: Callable[[SPISession], Awaitable[object]] | None = None,
    ) -> SPIDevice: ...
    def hold(
        self, *devices: SPIDevice, timeout_ms: int | None = None, wire: bool = False
    ) -> GroupHold[Regs[SPIDevice]]:
        """`async with bus.hold(a, b) as regs`: several devices at once, `regs.write(a, ...)`."""

    def hold_all(self, timeout_ms: int | None = None) -> GroupHold[Regs[SPIDevice]]:
        """The whole bus: waits for every holder, and nobody else gets in."""

class SPIOperations:
    async def write(self, *bufs: ReadBuffer, timeout_ms: int | None = None) -> None: ...
    async def write_readinto(self, out: ReadBuffer, into: WriteBuffer, timeout_ms: int | None = None) -> None: ...

# What devices and sessions load on first use.
class _MoreOperations(SPIOperations):
    async def read(self, nbytes: int, write: int = 0, timeout_ms: int | None = None) -> bytes:
        """`nbytes` bytes, sending `write` meanwhile."""

    async def readinto(self, buf: WriteBuffer, write: int = 0, timeout_ms: int | None = None) -> None:
        """Fill `buf`, sending `write` meanwhile."""

    async def write_then_read(self, out: ReadBuffer, nbytes: int, timeout_ms: int | None = None) -> bytes:
        """Write `out`, then read `nbytes` bytes, CS active throughout."""

    def select(self, timeout_ms: int | None = None) -> Select:
        """`async with device.select() as spi`: CS active over several transfers and awaits; key and wire are held."""

class SPIDevice(_MoreOperations, Device):
    _pin: Any
    _given_cs: Any
    def __init__(
        self, bus: SPIBus, key: object, cs: Any, config: Any, cs_active: int, setup: Any
    ) -> None: ...
    def hold(self, timeout_ms: int | None = None, wire: bool = False) -> BusHold[SPISession]:
        """`async with device.hold() as session`: its key, and with `wire=True` the wire of the bus too."""

    # Any: what drivers ask for is a machine.SPI or busio.SPI by name, and these are neither.
    def as_machine(self) -> Any:
        """An object with the methods of machine.SPI for this device, and its chip select as `.cs`."""

    def as_busio(self) -> Any:
        """An object with the methods of busio.SPI for this device, and its chip select as `.cs`."""
