"""Long register transfers, cut at the boundaries of the device: EEPROM pages, display rows."""

from ._rt import sleep_ms, ticks_ms
from .i2c import Operations
from .session import I2CSession
from .waitqueue import left_of


def pieces(start, size, chunk):
    """(offset, length) of the pieces of `size` bytes at address `start` between multiples of `chunk`."""
    offset = 0
    while offset < size:
        length = min(chunk - (start + offset) % chunk, size - offset)
        yield offset, length
        offset += length


class ChunkedSession(I2CSession):
    """A session whose register operations give up the wire and the loop after each piece; the key is kept."""

    async def read_register(self, reg, nbytes, timeout_ms=None):
        if nbytes <= self._device._chunk:
            return await Operations.read_register(self, reg, nbytes, timeout_ms)
        buf = bytearray(nbytes)
        await self.read_register_into(reg, buf, timeout_ms)
        return bytes(buf)

    async def read_register_into(self, reg, buf, timeout_ms=None):
        read = super().read_register_into
        view = memoryview(buf)
        start = ticks_ms()
        for offset, length in pieces(reg, len(view), self._device._chunk):
            if offset:
                await sleep_ms(0)  # cancelled here: what was read so far is in the buffer
            await read(reg + offset, view[offset : offset + length], left_of(timeout_ms, start))

    async def write_register(self, reg, data, repeatable=False, timeout_ms=None):
        from .i2cmore import readable

        write = super().write_register
        view = memoryview(readable(data))
        start = ticks_ms()
        for offset, length in pieces(reg, len(view), self._device._chunk):
            if offset:
                await sleep_ms(0)  # cancelled here: what was written so far stays written
            await write(reg + offset, view[offset : offset + length], repeatable, left_of(timeout_ms, start))


def chunked(device):
    """Give a device the operations of ChunkedSession, each under a hold of its own."""

    def operation(name):
        async def held(*args, timeout_ms=None, **kwargs):
            start = ticks_ms()
            # Cancelled here: between two pieces; the key is given back.
            async with device.hold(timeout_ms) as session:
                return await getattr(session, name)(*args, timeout_ms=left_of(timeout_ms, start), **kwargs)

        return held

    for name in ("read_register", "read_register_into", "write_register"):
        setattr(device, name, operation(name))
