from collections.abc import Callable
from typing import Any, TypeVar

from typing_extensions import TypeVarTuple, Unpack

from .holds import BusHold

_Result = TypeVar("_Result")
_Args = TypeVarTuple("_Args")

class Bus:
    """Common base; see I2CBus, SPIBus, UARTBus."""

    name: str
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

    async def aclose(self, timeout_ms: int | None = None) -> None:
        """Wait for the holders, fail the waiters (BusClosed), and close what our factory made. The next use makes it
        anew. LockTimeout: still open."""

    def reset(self) -> None:
        """Forget every holder and waiter, at the REPL after Ctrl-C, without a loop. Their sessions are dead (NotHeld);
        the wire is cleaned and set-ups are run again before the next use."""

    def stats(self) -> dict[str, Any]:
        """A dict: that of the table, and the counters of the bus."""
