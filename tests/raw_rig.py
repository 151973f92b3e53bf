"""Peripherals and pins that allocate nothing but their results, for tests that count what is allocated, or refuse it.

Nobody checks here how they are spoken to: the simulator does that.
"""

import asyncio


class RawPin:
    """Also the line of a bus, high when nobody drives it."""

    OUT = 1
    OPEN_DRAIN = 2

    def __init__(self, level=1):
        self.level = level

    def init(self, mode=-1, pull=-1, *, value=None):
        if value is not None:
            self.level = value

    def value(self, level=None):
        if level is None:
            return self.level
        self.level = level
        return None

    __call__ = value


class RawI2C:
    """machine.I2C with a chip at every address."""

    ADDRESSES = [0x10, 0x11, 0x70]

    def __init__(self):
        self.calls = 0
        self.register = 0

    def readfrom_mem(self, addr, reg, nbytes, addrsize=8):
        self.calls += 1
        return bytes(nbytes)

    def readfrom_mem_into(self, addr, reg, buf, addrsize=8):
        self.calls += 1

    def writeto_mem(self, addr, reg, buf, addrsize=8):
        self.calls += 1

    def readfrom(self, addr, nbytes, stop=True):
        self.calls += 1
        return bytes(nbytes)

    def readfrom_into(self, addr, buf, stop=True):
        self.calls += 1

    def writeto(self, addr, buf, stop=True):
        self.calls += 1
        return len(buf)

    def writevto(self, addr, vector, stop=True):
        self.calls += 1
        n = 0
        for buf in vector:
            n += len(buf)
        return n

    def scan(self):
        self.calls += 1
        return self.ADDRESSES

    def init(self, scl=None, sda=None, freq=400000):
        self.calls += 1


class RawSPI:
    """machine.SPI. `pins` are the chip selects to look at: never are two active in a transfer."""

    def __init__(self, *pins):
        self.calls = 0
        self.pins = pins
        self.wrong = 0  # transfers with more than one chip selected

    def _look(self):
        self.calls += 1
        active = 0
        for pin in self.pins:
            active += pin.level == 0
        self.wrong += active > 1

    def init(self, *, baudrate=1, polarity=0, phase=0, bits=8, firstbit=0):
        self.calls += 1

    def write(self, buf):
        self._look()

    def read(self, nbytes, write=0):
        self._look()
        return bytes(nbytes)

    def readinto(self, buf, write=0):
        self._look()

    def write_readinto(self, out, into):
        self._look()


class RawAwaitedSPI(RawSPI):
    """The same with transfers that are awaited."""

    awaitable = True

    async def write(self, buf):
        await asyncio.sleep_ms(0)
        self._look()

    async def readinto(self, buf, write=0):
        await asyncio.sleep_ms(0)
        self._look()

    async def write_readinto(self, out, into):
        await asyncio.sleep_ms(0)
        self._look()


class RawUART:
    """machine.UART on a line with a node that answers what ends with a line feed at once."""

    baudrate = 1000000
    REPLY = b"ok\n"

    def __init__(self, echo=False):
        self.calls = 0
        self.echo = echo
        self.heard = b""  # the echo
        self.reply = b""

    def any(self):
        self.calls += 1
        return len(self.heard) + len(self.reply)

    def read(self, nbytes):
        got = self.heard + self.reply if self.heard else self.reply
        self.heard = self.reply = b""
        return got

    def write(self, buf):
        self.calls += 1
        if self.echo:
            self.heard = bytes(buf)
        if buf[-1] == 10:
            self.reply = self.REPLY
        return len(buf)

    def txdone(self):
        return True

    def flush(self):
        pass
