"""The operations of I2C besides read_register; devices and sessions load them on first use.

In each, `me` is the device or the session: `me._device` has the address, `me._free()` tells whether the transfer can
be made at once, and `me._slow()` waits for what is missing.
"""

from ._rt import later, sleep_ms, ticks_ms
from .errors import BusError, DeadlineExceeded, NoAck
from .holding import left_of
from .waitqueue import check_ms

METHODS = (
    "read_register_into",
    "write_register",
    "update_register",
    "wait_register",
    "read",
    "readinto",
    "write",
    "write_then_read",
    "probe",
    "_declare",
    "_plan",
    "_refuse",
    "_failed",
    "_read_wide",
    "_retrying",
    "_i2c",
    "_home",
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


async def update_register(me, reg, mask, value, timeout_ms=None):
    """Set the bits of `mask` in an 8-bit register to those of `value`, the wire kept over both. The new value."""
    check_register(me._device, reg)
    check_byte(mask)
    check_byte(value)
    return await _do(me, timeout_ms, False, _update_register, reg, (mask, value))


async def wait_register(me, reg, mask, value, every_ms=1, timeout_ms=None):
    """Read an 8-bit register every `every_ms` until its bits of `mask` are `value`; what was read then.

    The key is kept, the wire is free in between. DeadlineExceeded after `timeout_ms` in all.
    """
    device = me._device
    check_register(device, reg)
    check_byte(mask)
    check_byte(value)
    check_ms(timeout_ms)
    if check_ms(every_ms) is None:
        raise TypeError("%s: every_ms is an int in ms" % device._label())
    start = ticks_ms()
    session = device._own_session() if device is me else me
    if session is None:
        # Cancelled here: the key is given back.
        async with device.hold(timeout_ms) as session:
            return await _poll(session, reg, mask, value, every_ms, timeout_ms, start)
    return await _poll(session, reg, mask, value, every_ms, timeout_ms, start)


async def _poll(me, reg, mask, value, every_ms, timeout_ms, start):
    while True:
        left = left_of(timeout_ms, start)
        got = (await me.read_register(reg, 1, left))[0]
        if got & mask == value:
            return got
        if left == 0:
            raise DeadlineExceeded(
                "%s: register 0x%x is 0x%02x after %d ms; 0x%02x of mask 0x%02x was waited for"
                % (me._device._label(), reg, got, timeout_ms, value, mask)
            )
        await sleep_ms(every_ms)  # cancelled here: nothing is on the wire


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


async def probe(me, timeout_ms=None):
    """True if the address is acknowledged. Does not run the set-up."""
    return await me._device._bus._probe(me, timeout_ms)


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


def _update_register(device, reg, mask_value):
    mask, value = mask_value
    old = device._read_checked(reg, 1)[0]
    new = old & ~mask | value & mask
    _write_register(device, reg, bytes((new,)))
    return new


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


def _unacknowledged(device, acks, wanted):
    """rp2, stm32 and SoftI2C report a byte of data that was not acknowledged only by a short count."""
    return device._failed(NoAck(5, "%s: byte %d of %d was not acknowledged" % (device._label(), acks + 1, wanted)))


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


# Devices


def _declare(device, asked):
    """The arguments of bus.device()."""
    if device._explicit:
        raise ValueError(
            "%s is declared already with other arguments; declare it once and share the object" % device._label()
        )
    setup, addrsize, retries, aliases, chunk = asked
    if addrsize not in (8, 16, 24, 32):
        raise ValueError("%s: addrsize is 8, 16, 24 or 32 bits, not %r" % (device._label(), addrsize))
    if setup is not None and not callable(setup):
        raise TypeError("%s: setup is a coroutine function of the session" % device._label())
    if type(retries) is not int or retries < 0:
        raise ValueError("%s: retries is an int from 0, not %r" % (device._label(), retries))
    if chunk is not None and (type(chunk) is not int or chunk < 1):
        raise ValueError("%s: chunk is None or an int from 1, not %r" % (device._label(), chunk))
    if aliases:
        device._bus._check_aliases(device, aliases)
    device._declared = asked
    device._setup = setup
    device._ready = setup is None
    device._addrsize = addrsize
    device._last_register = (1 << addrsize) - 1
    device._beyond = ~device._last_register
    device._retries = retries
    device._chunk = chunk
    if aliases:
        device._bus._take_aliases(device, aliases)
    if chunk is not None:
        later.chunks.chunked(device)
    device._plan()


def _plan(device):
    """Whether its operations may take the fast way."""
    device._plain = device._ready and device._retries == 0 and device._chunk is None and device._key != 0


async def _retrying(device, timeout_ms, tries, function, a, b):
    try:
        return await device._bus._with_key(device, timeout_ms, tries, function, a, b)
    except BusError:
        device._failed_setup()
        raise


def _failed(device, error):
    """The BusError to raise for an OSError of the port."""
    if device._retries == 0:
        device._failed_setup()  # with retries, when they are used up
    return device._bus._fault(error, device)


def _home(device):
    """The bus or the channel it is on."""
    return device._bus


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
