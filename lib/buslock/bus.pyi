from collections.abc import Awaitable, Callable
from typing import Any, TypeVar, overload

from typing_extensions import TypeVarTuple, Unpack

from .holds import BusHold
from .regs import ScriptRegs
from .transaction import Transaction, _Script, _ScriptMaker  # pyright: ignore[reportPrivateUsage]

_Result = TypeVar("_Result")
_Args = TypeVarTuple("_Args")

class Bus:
    """Common base; see I2CBus, SPIBus, UARTBus."""

    name: str
    debug: bool
    def __init__(
        self, peripheral: object, name: str, close: Any, max_waiters: int | None, trace: object
    ) -> None: ...
    def hold(self, *devices: Any, timeout_ms: int | None = None, wire: bool = False) -> BusHold[Any]:
        """`async with bus.hold(a, b) as regs`: several devices (or addresses) at once, `regs.read_register(a, ...)`."""

    def hold_all(self, timeout_ms: int | None = None) -> BusHold[Any]:
        """The whole bus: waits for every holder, and nobody else gets in."""

    async def call(
        self,
        device: Any,
        function: Callable[[Unpack[_Args]], _Result],
        *args: Unpack[_Args],
        timeout_ms: int | None = None,
    ) -> _Result:
        """Result of a synchronous `function(*args)`, with the device's key and the wire held and its set-up done."""

    def transaction(self) -> Transaction:
        """Operations to be run as one: queue them, then `await txn.execute()`."""

    @overload
    def script(
        self, devices: Callable[[Unpack[_Args]], Any], /, *, readonly: bool = False
    ) -> Callable[[Callable[[ScriptRegs, Unpack[_Args]], Awaitable[_Result]]], _Script[Unpack[_Args], _Result]]:
        """Decorator of a coroutine function whose body runs with the devices (none: the whole bus) held."""

    @overload
    def script(self, *devices: Any, readonly: bool = False) -> _ScriptMaker: ...
    async def aclose(self, timeout_ms: int | None = None) -> None:
        """Wait for the holders, fail the waiters (BusClosed), and close what our factory made. The next use makes it
        anew. LockTimeout: still open."""

    def reset(self) -> None:
        """Forget every holder and waiter, at the REPL after Ctrl-C, without a loop. Their sessions are dead (NotHeld);
        the wire is cleaned and set-ups are run again before the next use."""

    def stats(self) -> dict[str, Any]:
        """A dict: that of the table, and the counters of the bus."""
