from collections.abc import Awaitable, Callable, Coroutine, Iterable
from typing import Any, Literal, TypeVar

from typing_extensions import TypeVarTuple, Unpack

from .bus import Bus
from .device import Device
from .groups import GroupHold
from .holds import BusHold
from .mux import Mux
from .peripherals import BusioI2C, MachineI2C, Pin, ReadBuffer, WriteBuffer
from .regs import Regs
from .session import I2CSession
from .trace import Trace

_I2C = TypeVar("_I2C", bound=MachineI2C | BusioI2C)
_Result = TypeVar("_Result")
_Args = TypeVarTuple("_Args")

class I2CBus(Bus):
    def __init__(
        self,
        i2c: _I2C | Callable[[], _I2C] | Callable[[], Awaitable[_I2C]],
        name: str | None = None,
        close: Callable[[_I2C], object] | None = None,
        scl: Pin = None,
        sda: Pin = None,
        max_waiters: int | None = None,
        trace: Trace | None = None,
    ) -> None: ...
    def device(
        self,
        addr: int,
        setup: Callable[[I2CSession], Awaitable[object]] | None = None,
        addrsize: Literal[8, 16, 24, 32] = 8,
        retries: int = 0,
        aliases: Iterable[int] = (),
        chunk: int | None = None,
    ) -> I2CDevice: ...
    def mux(self, addr: int, channels: int = 8) -> Mux:
        """A TCA9548A or the like at `addr`; `.channel(n)` behaves like a bus."""

    def read_register(
        self, addr: int | I2CDevice, reg: int, nbytes: int, timeout_ms: int | None = None
    ) -> Coroutine[Any, Any, bytes]: ...
    def read_register_into(
        self, addr: int | I2CDevice, reg: int, buf: WriteBuffer, timeout_ms: int | None = None
    ) -> Coroutine[Any, Any, None]:
        """The short form of `bus.device(addr).read_register_into(reg, buf)`."""

    def write_register(
        self,
        addr: int | I2CDevice,
        reg: int,
        data: int | ReadBuffer,
        repeatable: bool = False,
        timeout_ms: int | None = None,
    ) -> Coroutine[Any, Any, None]:
        """The short form of `bus.device(addr).write_register(reg, data)`."""

    def update_register(
        self, addr: int | I2CDevice, reg: int, mask: int, value: int, timeout_ms: int | None = None
    ) -> Coroutine[Any, Any, int]:
        """The short form of `bus.device(addr).update_register(reg, mask, value)`."""

    def hold(
        self, *devices: int | I2CDevice, timeout_ms: int | None = None, wire: bool = False
    ) -> GroupHold[Regs[int | I2CDevice]]:
        """`async with bus.hold(a, b) as regs`: several devices (or addresses) at once, `regs.read_register(a, ...)`."""

    def hold_all(self, timeout_ms: int | None = None) -> GroupHold[Regs[int | I2CDevice]]:
        """The whole bus: waits for every holder, and nobody else gets in."""

    async def call(
        self,
        device: int | I2CDevice,
        function: Callable[[Unpack[_Args]], _Result],
        *args: Unpack[_Args],
        timeout_ms: int | None = None,
    ) -> _Result:
        """Result of a synchronous `function(*args)`, with the device's key and the wire held and its set-up done."""

    # Any: what drivers ask for is a machine.I2C or busio.I2C by name, and these are neither.
    def as_machine(self) -> Any:
        """An object with the methods of machine.I2C, for drivers that know nothing of this bus."""

    def as_busio(self) -> Any:
        """An object with the methods of busio.I2C, for drivers that know nothing of this bus."""

    async def scan(self, timeout_ms: int | None = None) -> list[int]:
        """The addresses that answer, with the wire held for all of it."""

    async def recover(self, timeout_ms: int | None = None) -> None:
        """Free a stuck bus and make the peripheral anew; set-ups are due again. BusStuck if SDA or SCL stays low.

        Takes the wire only, so it works inside a hold. Needs `scl=` and `sda=` to clock the bus.
        """

class Operations:
    async def read_register(self, reg: int, nbytes: int, timeout_ms: int | None = None) -> bytes: ...

# What devices and sessions load on first use; `write` differs between them.
class _MoreOperations(Operations):
    async def read_register_into(self, reg: int, buf: WriteBuffer, timeout_ms: int | None = None) -> None:
        """Fill `buf` from register `reg`."""

    async def write_register(
        self, reg: int, data: int | ReadBuffer, repeatable: bool = False, timeout_ms: int | None = None
    ) -> None:
        """Write an int 0..255 or a buffer to register `reg`. `repeatable`: may be tried again after an error."""

    async def update_register(self, reg: int, mask: int, value: int, timeout_ms: int | None = None) -> int:
        """Set the bits of `mask` in an 8-bit register to those of `value`, the wire kept over both. The new value."""

    async def wait_register(
        self, reg: int, mask: int, value: int, every_ms: int = 1, timeout_ms: int | None = None
    ) -> int:
        """Read an 8-bit register every `every_ms` until its bits of `mask` are `value`; what was read then.

        The key is kept, the wire is free in between. DeadlineExceeded after `timeout_ms` in all.
        """

    async def read(self, nbytes: int, timeout_ms: int | None = None) -> bytes:
        """`nbytes` bytes, without a register address."""

    async def readinto(self, buf: WriteBuffer, timeout_ms: int | None = None) -> None:
        """Fill `buf`, without a register address."""

    async def write_then_read(self, out: int | ReadBuffer, nbytes: int, timeout_ms: int | None = None) -> bytes:
        """Write `out`, then read `nbytes` bytes after a repeated START."""

    async def probe(self, timeout_ms: int | None = None) -> bool:
        """True if the address is acknowledged. Does not run the set-up."""

class I2CDevice(_MoreOperations, Device):
    address: int
    def __init__(self, bus: I2CBus, address: int) -> None: ...
    # Without STOP the wire would be nobody's: stop=False is for sessions.
    async def write(
        self,
        *bufs: int | ReadBuffer,
        stop: Literal[True] = True,
        repeatable: bool = False,
        timeout_ms: int | None = None,
    ) -> None:
        """The buffers (or ints 0..255), one after the other, as one write."""

    def hold(self, timeout_ms: int | None = None, wire: bool = False) -> BusHold[I2CSession]:
        """`async with device.hold() as session`: its key, and with `wire=True` the wire of the bus too."""
