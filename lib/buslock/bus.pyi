from typing import Any

class Bus:
    """Common base; see I2CBus, SPIBus, UARTBus."""

    name: str
    async def aclose(self, timeout_ms: int | None = None) -> None:
        """Wait for the holders, fail the waiters (BusClosed), and close what our factory made. The next use makes it
        anew. LockTimeout: still open."""

    def reset(self) -> None:
        """Forget every holder and waiter, at the REPL after Ctrl-C, without a loop. Their sessions are dead (NotHeld);
        the wire is cleaned and set-ups are run again before the next use."""

    def stats(self) -> dict[str, Any]:
        """A dict: that of the table, and the counters of the bus."""
