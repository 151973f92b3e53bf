"""busio.I2C (CircuitPython, Blinka) with the method names of machine.I2C."""

from .native import NativeLocked


def joined(vector):
    data = bytearray()
    for buf in vector:
        data.extend(buf)
    return data


class BusioI2C:
    """Each transfer takes the native lock for itself, so that code that waits for it never waits for a task."""

    _kept = False  # it is ours for the next transfer

    def __init__(self, i2c):
        self.i2c = i2c

    def free(self):
        """True if nobody has the native lock."""
        if not self._kept and not self.i2c.try_lock():
            return False
        self._kept = False
        self._unlock()
        return not self._kept

    def take_over(self):
        """Free the native lock whoever has it: nobody else may be using the bus."""
        self._kept = False
        self.i2c.try_lock()  # first: unlocking a free lock is an error on some versions of Blinka
        self.i2c.unlock()

    def _lock(self):
        if not self._kept and not self.i2c.try_lock():
            raise NativeLocked()
        self._kept = False
        return self.i2c

    def _unlock(self):
        try:
            self.i2c.unlock()
        except BaseException as error:
            # Nobody knows whether it is free now: it is taken for certain, and the next transfer gives it back.
            self.i2c.try_lock()
            self._kept = True
            if not isinstance(error, OSError):
                raise

    def readfrom_mem(self, addr, reg, nbytes, addrsize=8):
        buf = bytearray(nbytes)
        self.readfrom_mem_into(addr, reg, buf, addrsize)
        return bytes(buf)

    def readfrom_mem_into(self, addr, reg, buf, addrsize=8):
        out = reg.to_bytes(addrsize // 8, "big")
        i2c = self._lock()
        try:
            i2c.writeto_then_readfrom(addr, out, buf)
        finally:
            self._unlock()

    def writevto(self, addr, vector):
        self.writeto(addr, joined(vector))

    def writeto(self, addr, data):
        i2c = self._lock()
        try:
            i2c.writeto(addr, data)
        finally:
            self._unlock()

    def readfrom(self, addr, nbytes):
        buf = bytearray(nbytes)
        self.readfrom_into(addr, buf)
        return bytes(buf)

    def readfrom_into(self, addr, buf):
        i2c = self._lock()
        try:
            i2c.readfrom_into(addr, buf)
        finally:
            self._unlock()

    def write_then_readinto(self, addr, out, buf):
        i2c = self._lock()
        try:
            i2c.writeto_then_readfrom(addr, out, buf)
        finally:
            self._unlock()

    def scan(self):
        i2c = self._lock()
        try:
            return i2c.scan()
        finally:
            self._unlock()
