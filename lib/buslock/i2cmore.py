"""The operations of I2C besides read_register; devices and sessions load them on first use.

In each, `me` is the device or the session: `me._device` has the address, `me._free()` tells whether the transfer can
be made at once, and `me._slow()` waits for what is missing. METHODS is their directory, see rare.py.
"""

from .errors import NoAck

METHODS = (
    "i2cmore read_register_into write_register _refuse _failed _read_wide _i2c,"
    "i2cplain read readinto write write_then_read,"
    "i2cbits update_register wait_register,"
    "i2cdevice _declare _plan _retrying _home,"
    "scanning probe"
)


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


async def _do(me, timeout_ms, repeatable, function, a, b):
    if timeout_ms is None and me._free():
        return _at_once(me._device, function, a, b)
    return await _in_turn(me, timeout_ms, repeatable, function, a, b)


def _at_once(device, function, a, b):
    bus = device._bus
    bus._transfer = True
    try:
        return function(device, a, b)
    finally:
        bus._transfer = False


def _in_turn(me, timeout_ms, repeatable, function, a, b):
    """Coroutine. Not a part of what runs at once: there the variables of this closure would be allocated each time."""
    device = me._device
    return me._slow(timeout_ms, repeatable, lambda a, b: function(device, a, b), a, b)


# The transfers themselves: synchronous, so that nothing comes between


def _read_wide(device, reg, nbytes):
    return device._bus._backend.readfrom_mem(device.address, reg, nbytes, addrsize=device._addrsize)


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


def _failed(device, error):
    """The BusError to raise for an OSError of the port."""
    if device._retries == 0:
        device._failed_setup()  # with retries, when they are used up
    return device._bus._fault(error, device)


def _i2c(device):
    """The back end, ready for a transfer to this device."""
    return device._bus._backend


# Arguments


def _refuse(device, reg, nbytes):
    check_register(device, reg)
    check_count(device, nbytes)


def check_register(device, reg):
    if type(reg) is not int:
        raise TypeError("%s: a register is an int, not %r" % (device._label(), reg))
    if not 0 <= reg <= device._last_register:
        raise ValueError("%s: register %d does not fit addrsize=%d" % (device._label(), reg, device._addrsize))


def check_count(device, nbytes):
    if type(nbytes) is not int:
        raise TypeError("%s: a number of bytes is an int, not %r" % (device._label(), nbytes))
    if nbytes < 1:
        raise ValueError("%s: cannot read %d bytes; at least 1" % (device._label(), nbytes))


def check_byte(value):
    if type(value) is not int:
        raise TypeError("a byte is an int, not %r" % (value,))
    if not 0 <= value <= 255:
        raise ValueError("a byte is 0..255, not %d" % value)


def readable(data):
    """Bytes to send for an int 0..255 or a buffer that is not empty."""
    if type(data) is bytes and data:
        return data
    if isinstance(data, int):
        check_byte(data)
        return bytes((data,))
    if isinstance(data, str):
        raise TypeError("data is an int or a buffer such as bytes, not a string: encode it first")
    if not len(memoryview(data)):
        raise ValueError("there is no data to write")
    return data


def writable(buf):
    if not len(memoryview(buf)):
        raise ValueError("the buffer is empty")
    buf[0] = buf[0]  # TypeError for bytes and other read-only buffers, before anything is sent
