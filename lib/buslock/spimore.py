"""The operations of SPI besides write and write_readinto; devices and sessions load them on first use."""

from ._rt import later

METHODS = "spimore read readinto write_then_read select "


async def read(me, nbytes, write=0, timeout_ms=None):
    """`nbytes` bytes, sending `write` meanwhile."""
    if type(nbytes) is not int or nbytes < 1:
        me._device._refuse(nbytes)
    return await _do(me, timeout_ms, _read, nbytes, check_byte(write))


async def readinto(me, buf, write=0, timeout_ms=None):
    """Fill `buf`, sending `write` meanwhile."""
    if not len(buf):
        me._device._refuse(buf)
    buf[0] = buf[0]  # TypeError for a read-only buffer, before anything is sent
    return await _do(me, timeout_ms, _readinto, buf, check_byte(write))


async def write_then_read(me, out, nbytes, timeout_ms=None):
    """Write `out`, then read `nbytes` bytes, CS active throughout."""
    if type(nbytes) is not int or nbytes < 1:
        me._device._refuse(nbytes)
    if isinstance(out, str) or not len(out):
        me._device._refuse(out)
    return await _do(me, timeout_ms, _write_then_read, out, nbytes)


def select(me, timeout_ms=None):
    """`async with device.select() as spi`: CS active over several transfers and awaits; key and wire are held."""
    return later.spisession.Select(me, timeout_ms)


async def _do(me, timeout_ms, function, a, b):
    if timeout_ms is None and me._free():
        return me._section(function, a, b)
    return await me._slow(timeout_ms, function, a, b)


def _read(spi, nbytes, write):
    return spi.read(nbytes, write)


def _readinto(spi, buf, write):
    spi.readinto(buf, write)


def _write_then_read(spi, out, nbytes):
    spi.write(out)
    return spi.read(nbytes)


def check_byte(value):
    if type(value) is not int:
        raise TypeError("a byte is an int, not %r" % (value,))
    if not 0 <= value <= 255:
        raise ValueError("a byte is 0..255, not %d" % value)
    return value
