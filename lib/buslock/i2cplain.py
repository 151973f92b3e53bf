"""Reading and writing an I2C device without a register address, or with one of its own kind."""

from ._rt import later
from .i2carguments import check_count, readable, writable
from .i2cmore import _do
from .i2cregisters import _unacknowledged


async def read(me, nbytes, timeout_ms=None):
    """`nbytes` bytes, without a register address."""
    check_count(me._device, nbytes)
    return await _do(me, timeout_ms, True, _read, nbytes, None)


async def readinto(me, buf, timeout_ms=None):
    """Fill `buf`, without a register address."""
    writable(buf)
    return await _do(me, timeout_ms, True, _readinto, buf, None)


async def write(me, *bufs, stop=True, repeatable=False, timeout_ms=None):
    """The buffers (or ints 0..255), one after the other, as one write. `stop=False` (sessions only) keeps the wire."""
    if not bufs:
        raise ValueError("%s: there is no data to write" % me._device._label())
    data = readable(bufs[0]) if len(bufs) == 1 else [readable(buf) for buf in bufs]
    if not stop:
        return await later.openwrites.write_open(me, data, timeout_ms)
    return await _do(me, timeout_ms, repeatable, _write, data, None)


async def write_then_read(me, out, nbytes, timeout_ms=None):
    """Write `out`, then read `nbytes` bytes after a repeated START."""
    check_count(me._device, nbytes)
    return await _do(me, timeout_ms, True, _write_then_read, readable(out), nbytes)


# The transfers themselves: synchronous, so that nothing comes between


def _read(device, nbytes, _):
    i2c = device._i2c()
    try:
        return i2c.readfrom(device.address, nbytes)
    except OSError as error:
        raise device._failed(error)


def _readinto(device, buf, _):
    i2c = device._i2c()
    try:
        i2c.readfrom_into(device.address, buf)
    except OSError as error:
        raise device._failed(error)


def _write(device, data, _):
    i2c = device._i2c()
    try:
        if isinstance(data, list):
            acks = i2c.writevto(device.address, data)
            wanted = sum([len(buf) for buf in data])
        else:
            acks = i2c.writeto(device.address, data)
            wanted = len(data)
    except OSError as error:
        raise device._failed(error)
    if acks is not None and acks < wanted:
        raise _unacknowledged(device, acks, wanted)


def _write_then_read(device, out, nbytes):
    i2c = device._i2c()
    size = len(out)
    try:
        if size == 1:
            return i2c.readfrom_mem(device.address, out[0], nbytes)
        if size <= 4:
            # One call, atomic on every port; esp32 sends STOP after a plain write whatever it is told.
            return i2c.readfrom_mem(device.address, int.from_bytes(out, "big"), nbytes, addrsize=8 * size)
        if hasattr(i2c, "write_then_readinto"):
            buf = bytearray(nbytes)
            i2c.write_then_readinto(device.address, out, buf)
            return bytes(buf)
        i2c.writeto(device.address, out, False)
        return i2c.readfrom(device.address, nbytes)
    except OSError as error:
        raise device._failed(error)
