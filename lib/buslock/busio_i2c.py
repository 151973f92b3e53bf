"""busio.I2C (CircuitPython, Blinka) with the method names of machine.I2C."""

from .bus import NativeLocked


class BusioI2C:
    """Each transfer takes the native lock for itself, so that code that waits for it never waits for a task."""

    def __init__(self, i2c):
        self.i2c = i2c

    def _lock(self):
        if not self.i2c.try_lock():
            raise NativeLocked()
        return self.i2c

    def readfrom_mem(self, addr, reg, nbytes, addrsize=8):
        buf = bytearray(nbytes)
        self.readfrom_mem_into(addr, reg, buf, addrsize)
        return bytes(buf)

    def readfrom_mem_into(self, addr, reg, buf, addrsize=8):
        i2c = self._lock()
        try:
            i2c.writeto_then_readfrom(addr, reg.to_bytes(addrsize // 8, "big"), buf)
        finally:
            i2c.unlock()

    def writeto_mem(self, addr, reg, data, addrsize=8):
        i2c = self._lock()
        try:
            i2c.writeto(addr, reg.to_bytes(addrsize // 8, "big") + bytes(data))
        finally:
            i2c.unlock()

    def deinit(self):
        self.i2c.deinit()
