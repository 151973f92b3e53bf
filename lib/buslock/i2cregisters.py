"""Registers of an I2C device: reading into a buffer, and writing."""

from .errors import NoAck
from .i2carguments import check_register, readable, writable
from .i2cmore import _at_once, _in_turn


async def read_register_into(me, reg, buf, timeout_ms=None):
    """Fill `buf` from register `reg`."""
    device = me._device
    if reg & device._beyond:
        check_register(device, reg)
    writable(buf)
    if timeout_ms is None and me._free():
        return _at_once(device, _read_register_into, reg, buf)
    return await _in_turn(me, timeout_ms, True, _read_register_into, reg, buf)


async def write_register(me, reg, data, repeatable=False, timeout_ms=None):
    """Write an int 0..255 or a buffer to register `reg`. `repeatable`: may be tried again after an error."""
    device = me._device
    if reg & device._beyond:
        check_register(device, reg)
    data = readable(data)
    if timeout_ms is None and me._free():
        return _at_once(device, _write_register, reg, data)
    return await _in_turn(me, timeout_ms, repeatable, _write_register, reg, data)


# The transfers themselves: synchronous, so that nothing comes between


def _read_register_into(device, reg, buf):
    i2c = device._i2c()
    try:
        if device._addrsize == 8:
            i2c.readfrom_mem_into(device.address, reg, buf)
        else:
            i2c.readfrom_mem_into(device.address, reg, buf, addrsize=device._addrsize)
    except OSError as error:
        raise device._failed(error)


def _write_register(device, reg, data):
    # Not writeto_mem: it does not say whether the data was acknowledged.
    size = device._addrsize // 8
    try:
        acks = device._i2c().writevto(device.address, (reg.to_bytes(size, "big"), data))
    except OSError as error:
        raise device._failed(error)
    if acks is not None and acks < size + len(data):
        raise _unacknowledged(device, acks, size + len(data))


def _unacknowledged(device, acks, wanted):
    """rp2, stm32 and SoftI2C report a byte of data that was not acknowledged only by a short count."""
    return device._failed(NoAck(5, "%s: byte %d of %d was not acknowledged" % (device._label(), acks + 1, wanted)))
