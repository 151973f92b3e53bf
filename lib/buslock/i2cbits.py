"""Bits of an 8-bit register: setting some of them, and waiting for them."""

from ._rt import sleep_ms, ticks_ms
from .errors import DeadlineExceeded
from .holding import left_of
from .i2carguments import check_byte, check_register
from .i2cmore import _do
from .i2cregisters import _write_register
from .waitqueue import check_ms


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


def _update_register(device, reg, mask_value):
    mask, value = mask_value
    old = device._read_checked(reg, 1)[0]
    new = old & ~mask | value & mask
    _write_register(device, reg, bytes((new,)))
    return new
