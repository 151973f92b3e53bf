"""busio.SPI (CircuitPython, Blinka) with the method names of machine.SPI."""

from ._rt import is_awaitable
from .native import NativeLocked


def awaits(spi):
    """True if the transfers of an object with busio's names are awaited. A write of nothing tells."""
    if not hasattr(spi, "try_lock"):
        return True
    try:
        result = spi.write(b"")
    except Exception:  # busio wants its lock
        return False
    if not is_awaitable(result):
        return False
    if hasattr(result, "close"):
        result.close()
    return True


class BusioSPI:
    """The native lock is taken once for a whole section, and never kept across an await: code that spins for it would
    wait for a task. A transfer outside of a section takes it for itself.
    """

    MSB = 0
    _mine = False  # a section, or a transfer, has it
    _kept = False  # it is ours for the next one

    def __init__(self, spi, bus):
        self.spi = spi
        self._bus = bus
        self._settings = {}

    def take(self):
        """True if it was free; then the section that follows at once has it."""
        try:
            self._kept = self._kept or self.spi.try_lock()
        except OSError as error:
            raise self._bus._fault(error, None)
        return self._kept

    def lock(self):
        """NativeLocked if code outside has it."""
        if not self.take():
            raise NativeLocked()
        self._kept = False
        self._mine = True
        self._bus._config = None  # that code may have set something else

    def unlock(self):
        self._mine = False
        try:
            self.spi.unlock()
        except BaseException as error:
            # Nobody knows whether it is free now: it is taken for certain, and the next section gives it back.
            self.spi.try_lock()
            self._kept = True
            if not isinstance(error, OSError):
                raise

    def take_over(self):
        """Free the native lock whoever has it: nobody else may be using the bus."""
        self._mine = self._kept = False
        self.spi.try_lock()  # first: unlocking a free lock is an error on some versions of Blinka
        self.spi.unlock()

    def _do(self, function, *args):
        if self._mine:
            return function(*args)
        self.lock()
        try:
            self.spi.configure(**self._settings)
            return function(*args)
        finally:
            self.unlock()

    def init(self, baudrate, polarity, phase, bits=8, firstbit=None):
        if firstbit not in (None, self.MSB):
            raise ValueError("busio.SPI sends the most significant bit first only")
        self._settings = {"baudrate": baudrate, "polarity": polarity, "phase": phase, "bits": bits}
        self._do(self.configure)

    def configure(self):
        self.spi.configure(**self._settings)

    def write(self, buf):
        self._do(self.spi.write, buf)

    def read(self, nbytes, write=0):
        buf = bytearray(nbytes)
        self.readinto(buf, write)
        return bytes(buf)

    def readinto(self, buf, write=0):
        self._do(self._readinto, buf, write)

    def _readinto(self, buf, write):
        self.spi.readinto(buf, write_value=write)

    def write_readinto(self, out, into):
        self._do(self.spi.write_readinto, out, into)
