"""A write without STOP: the wire stays with the session's hold until its STOP."""

from ._rt import current_task
from .busio_i2c import joined
from .devicemore import Own


async def write_open(me, data, timeout_ms):
    device = me._device
    bus = device._bus
    if me is device:
        raise ValueError("%s: stop=False keeps the wire, which only a session can: use device.hold()" % device._label())
    me._free()
    if bus._native is not None:
        raise NotImplementedError("%s: busio.I2C always sends STOP; a write cannot keep the wire" % device._label())
    hold = me._hold
    bus._end_transfer  # noqa: B018  found now: at the end of the hold there may be no memory for that
    if isinstance(hold, Own):  # which has no end: the hold that it stands for makes the STOP
        hold = bus._table._hold_of(current_task(), device._key)._owner
    if bus._wire_hold is not hold:
        bus._refuse_wire_holder(device._label())
        await bus._keep_wire(hold, timeout_ms)  # cancelled here: nothing is owned
    # Cancelled here: the hold makes the STOP at its end.
    return await bus._on_wire(hold, timeout_ms, 0, lambda _, data: _write_open(device, hold, data), None, data)


def _write_open(device, hold, data):
    i2c = device._i2c()
    data = joined(data) if isinstance(data, list) else data
    hold._open = device
    try:
        acks = i2c.writeto(device.address, data, False)
    except OSError as error:
        raise device._failed(error)
    if acks is not None and acks < len(data):
        raise device._failed(OSError(5, "byte %d of %d was not acknowledged" % (acks + 1, len(data))))


def _end_transfer(bus, device):
    """Make the STOP that is missing: SoftI2C has one; elsewhere an empty transfer to the same device ends it."""
    i2c = bus._backend
    try:
        try:
            i2c.stop()
        except (AttributeError, OSError):  # on the hardware ports it is there, and not supported
            i2c.writeto(device.address, b"")
    except Exception as error:
        # Called while a hold ends, so nothing is raised: the next user cleans up, and finds out if the bus is stuck.
        try:
            bus._fault(error, device) if isinstance(error, OSError) else bus._soil()
        except MemoryError:
            bus._soil()
