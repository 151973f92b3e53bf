"""Long register transfers, cut at the boundaries of the device: EEPROM pages, display rows."""

from ._rt import sleep_ms, ticks_ms
from .holding import left_of
from .i2carguments import check_count, check_register, readable, writable
from .i2cregisters import read_register_into, write_register
from .session import I2CSession
from .waitqueue import check_ms


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
        check_count(self._device, nbytes)
        buf = bytearray(nbytes)
        await self.read_register_into(reg, buf, timeout_ms)
        return bytes(buf)

    async def read_register_into(self, reg, buf, timeout_ms=None):
        view = memoryview(buf)
        check(self._device, reg, view)
        writable(buf)
        check_ms(timeout_ms)
        start = ticks_ms()
        for offset, length in pieces(reg, len(view), self._device._chunk):
            if offset:
                await sleep_ms(0)  # cancelled here: what was read so far is in the buffer
            piece = view[offset : offset + length]
            await read_register_into(self, reg + offset, piece, left_of(timeout_ms, start))

    async def write_register(self, reg, data, repeatable=False, timeout_ms=None):
        view = memoryview(readable(data))
        check(self._device, reg, view)
        check_ms(timeout_ms)
        start = ticks_ms()
        for offset, length in pieces(reg, len(view), self._device._chunk):
            if offset:
                await sleep_ms(0)  # cancelled here: what was written so far stays written
            piece = view[offset : offset + length]
            await write_register(self, reg + offset, piece, repeatable, left_of(timeout_ms, start))


def check(device, reg, view):
    """All of it, before the first piece."""
    check_register(device, reg)
    check_register(device, reg + max(0, len(view) - 1))


def check_read(device, reg, nbytes, timeout_ms=None):
    check_count(device, nbytes)
    check_register(device, reg)
    check_register(device, reg + nbytes - 1)
    return reg, nbytes, timeout_ms


def check_into(device, reg, buf, timeout_ms=None):
    writable(buf)
    check(device, reg, memoryview(buf))
    return reg, buf, timeout_ms


def check_write(device, reg, data, repeatable=False, timeout_ms=None):
    data = readable(data)
    check(device, reg, memoryview(data))
    return reg, data, repeatable, timeout_ms


def chunked(device):
    """Give a device the operations of ChunkedSession, each under the task's own hold, or one for the operation."""

    def operation(name, check_arguments):
        async def run(*args, **kwargs):
            args = check_arguments(device, *args, **kwargs)
            timeout_ms = check_ms(args[-1])
            own = device._own_session()
            if own is not None:
                return await getattr(own, name)(*args)
            start = ticks_ms()
            # Cancelled in here: between two pieces; the key is given back.
            async with device.hold(timeout_ms) as session:
                return await getattr(session, name)(*args[:-1], timeout_ms=left_of(timeout_ms, start))

        setattr(device, name, run)

    operation("read_register", check_read)
    operation("read_register_into", check_into)
    operation("write_register", check_write)
