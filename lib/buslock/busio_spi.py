"""busio.SPI (CircuitPython, Blinka) with the method names of machine.SPI."""

from .native import NativeLocked


class BusioSPI:
    """Each transfer takes the native lock for itself, so that code that waits for it never waits for a task."""

    def __init__(self, spi):
        self.spi = spi
        self.settings = {}

    def free(self):
        """True if nobody has the native lock."""
        if not self.spi.try_lock():
            return False
        self.spi.unlock()
        return True

    def take_over(self):
        """Free the native lock whoever has it: nobody else may be using the bus."""
        self.spi.try_lock()  # first: unlocking a free lock is an error on some versions of Blinka
        self.spi.unlock()

    def _lock(self):
        if not self.spi.try_lock():
            raise NativeLocked()
        # Code outside may have set something else whenever the lock was free.
        self.spi.configure(**self.settings)
        return self.spi

    def init(self, baudrate, polarity, phase, bits, firstbit=None):
        if firstbit not in (None, 0):
            raise ValueError("busio.SPI sends the most significant bit first only")
        self.settings = {"baudrate": baudrate, "polarity": polarity, "phase": phase, "bits": bits}
        self._lock().unlock()

    def write(self, buf):
        spi = self._lock()
        try:
            spi.write(buf)
        finally:
            spi.unlock()

    def read(self, nbytes, write=0):
        buf = bytearray(nbytes)
        self.readinto(buf, write)
        return bytes(buf)

    def readinto(self, buf, write=0):
        spi = self._lock()
        try:
            spi.readinto(buf, write_value=write)
        finally:
            spi.unlock()

    def write_readinto(self, out, into):
        spi = self._lock()
        try:
            spi.write_readinto(out, into)
        finally:
            spi.unlock()

    def deinit(self):
        self.spi.deinit()
