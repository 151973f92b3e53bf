"""An I2C peripheral that tells a trace of its transfers; all else is that of the peripheral itself."""


def recorded(trace, i2c):
    """What stands in the place of the back end. The native lock of a busio.I2C is no transfer: below it is recorded."""
    if hasattr(i2c, "take_over"):
        i2c.i2c = RecordedBusio(trace, i2c.i2c)
        return i2c
    return RecordedI2C(trace, i2c)


class Recorded:
    def __init__(self, trace, i2c):
        self._trace = trace
        self.i2c = i2c

    def __getattr__(self, name):
        return getattr(self.i2c, name)

    def _key(self, addr):
        """Of the device with that address, if its operations may take the fast way: of those it is not known whose."""
        bus = self._trace.bus
        device = None if bus._channel is None else bus._channel._devices.get(addr)
        if device is None:
            device = bus._devices.get(addr)
        return device._key if device is not None and device._plain else None

    def scan(self):
        with self._trace.start(0):
            return self.i2c.scan()


class RecordedI2C(Recorded):
    """machine.I2C."""

    def readfrom_mem(self, addr, reg, nbytes, addrsize=8):
        with self._trace.start(nbytes, self._key(addr)):
            if addrsize == 8:
                return self.i2c.readfrom_mem(addr, reg, nbytes)
            return self.i2c.readfrom_mem(addr, reg, nbytes, addrsize=addrsize)

    def readfrom_mem_into(self, addr, reg, buf, addrsize=8):
        with self._trace.start(buf, self._key(addr)):
            if addrsize == 8:
                self.i2c.readfrom_mem_into(addr, reg, buf)
            else:
                self.i2c.readfrom_mem_into(addr, reg, buf, addrsize=addrsize)

    def writeto_mem(self, addr, reg, buf, addrsize=8):
        with self._trace.start(buf, self._key(addr)):
            if addrsize == 8:
                self.i2c.writeto_mem(addr, reg, buf)
            else:
                self.i2c.writeto_mem(addr, reg, buf, addrsize=addrsize)

    def readfrom(self, addr, nbytes):
        with self._trace.start(nbytes, self._key(addr)):
            return self.i2c.readfrom(addr, nbytes)

    def readfrom_into(self, addr, buf):
        with self._trace.start(buf, self._key(addr)):
            self.i2c.readfrom_into(addr, buf)

    def writeto(self, addr, buf, stop=True):
        with self._trace.start(buf, self._key(addr)):
            return self.i2c.writeto(addr, buf) if stop else self.i2c.writeto(addr, buf, False)

    def writevto(self, addr, vector):
        size = 0
        for buf in vector:
            size += len(buf)
        with self._trace.start(size, self._key(addr)):
            return self.i2c.writevto(addr, vector)


class RecordedBusio(Recorded):
    """busio.I2C, with the arguments that BusioI2C gives it."""

    def writeto(self, addr, buf):
        with self._trace.start(buf, self._key(addr)):
            self.i2c.writeto(addr, buf)

    def readfrom_into(self, addr, buf):
        with self._trace.start(buf, self._key(addr)):
            self.i2c.readfrom_into(addr, buf)

    def writeto_then_readfrom(self, addr, out, buf):
        with self._trace.start(len(out) + len(buf), self._key(addr)):
            self.i2c.writeto_then_readfrom(addr, out, buf)
