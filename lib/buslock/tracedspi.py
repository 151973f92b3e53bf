"""An SPI peripheral that tells a trace of its transfers, and chip selects that tell it of theirs."""


def recorded(bus, spi):
    """What stands in the place of the back end. The locks of busio and async_spi are no transfers: below those."""
    kind = RecordedAwaited if bus._awaits else RecordedSPI
    if hasattr(spi, "take_over"):
        spi.spi = kind(bus._trace, spi.spi)
        return spi
    return kind(bus._trace, spi)


def traced_cs(trace, device):
    """The `_cs` of a device. To drive a level that it has already is no event."""
    cs = device._cs
    selected = False

    def drive(level=None):  # with more than four variables from outside MicroPython would allocate their list each time
        nonlocal selected
        if level is None:
            return cs()
        if level == device._active:
            cs(level)
            if not selected:
                selected = True
                trace.select(device._key)
            return None
        try:
            cs(level)
        finally:  # where it fails the section is over all the same
            if selected:
                selected = False
                trace.deselect(device._key)
        return None

    return drive


class Recorded:
    def __init__(self, trace, spi):
        self._trace = trace
        self.spi = spi

    def __getattr__(self, name):
        return getattr(self.spi, name)


class RecordedSPI(Recorded):
    """machine.SPI and busio.SPI. Their last argument has two names: it is given on if it was given."""

    def _key(self):
        """Of a device without a chip select: with others, their chip select tells whose turn it is."""
        return "alone" if "alone" in self._trace.bus._devices else None

    def write(self, buf):
        with self._trace.start(buf, self._key()):
            self.spi.write(buf)

    def read(self, nbytes, write=0):
        with self._trace.start(nbytes, self._key()):
            return self.spi.read(nbytes, write)

    def readinto(self, buf, write=0, write_value=None):
        with self._trace.start(buf, self._key()):
            if write_value is None:
                self.spi.readinto(buf, write)
            else:
                self.spi.readinto(buf, write_value=write_value)

    def write_readinto(self, out, into):
        with self._trace.start(out, self._key()):
            self.spi.write_readinto(out, into)


class RecordedAwaited(Recorded):
    """One whose transfers are awaited. What is closed or cancelled in the middle has ended, too."""

    async def write(self, buf):
        with self._trace.start(buf):
            await self.spi.write(buf)

    async def readinto(self, buf, write=0, write_value=None):
        with self._trace.start(buf):
            if write_value is None:
                await self.spi.readinto(buf, write)
            else:
                await self.spi.readinto(buf, write_value=write_value)

    async def write_readinto(self, out, into):
        with self._trace.start(out):
            await self.spi.write_readinto(out, into)
