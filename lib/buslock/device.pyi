from typing import Any

from .holds import BusHold

class Device:
    """Base of the devices of every kind of bus."""

    def hold(self, timeout_ms: int | None = None, wire: bool = False) -> BusHold[Any]:
        """`async with device.hold() as session`: its key, and with `wire=True` the wire of the bus too."""
