"""The directory of I2C's operations besides read_register, see rare.py, and what each of them needs.

In each operation, `me` is the device or the session: `me._device` has the address, `me._free()` tells whether the
transfer can be made at once, and `me._slow()` waits for what is missing.
"""

METHODS = (
    "i2cmore _failed _i2c _read_wide ,"
    "i2cregisters read_register_into write_register ,"
    "i2cplain read readinto write write_then_read ,"
    "i2cbits update_register wait_register ,"
    "i2carguments _refuse ,"
    "i2cdevice _declare _plan _retrying _home ,"
    "scanning probe "
)


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


def _failed(device, error):
    """The BusError to raise for an OSError of the port."""
    if device._retries == 0:
        device._failed_setup()  # with retries, when they are used up
    return device._bus._fault(error, device)


def _i2c(device):
    """The back end, ready for a transfer to this device."""
    return device._bus._backend


def _read_wide(device, reg, nbytes):
    return device._bus._backend.readfrom_mem(device.address, reg, nbytes, addrsize=device._addrsize)
