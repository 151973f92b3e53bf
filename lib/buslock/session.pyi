from .holds import BusHold
from .i2c import I2CDevice, _MoreOperations  # pyright: ignore[reportPrivateUsage]
from .peripherals import ReadBuffer

def session(device: I2CDevice, hold: BusHold[I2CSession]) -> I2CSession: ...

class I2CSession(_MoreOperations):
    def __init__(self, device: I2CDevice, hold: BusHold[I2CSession]) -> None: ...
    async def write(
        self,
        *bufs: int | ReadBuffer,
        stop: bool = True,
        repeatable: bool = False,
        timeout_ms: int | None = None,
    ) -> None:
        """The buffers (or ints 0..255), one after the other, as one write. `stop=False` keeps the wire."""
