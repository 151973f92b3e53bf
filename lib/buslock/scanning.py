"""Who is there: the scan of an I2CBus, and the probe of one address."""

from ._rt import current_task, ticks_ms
from .errors import NoAck
from .holding import left_of
from .waitqueue import check_ms


async def scan(bus, timeout_ms=None):
    """The addresses that answer, with the wire held for all of it."""
    bus._refuse_wire_holder("scan")
    await bus._open(None, timeout_ms)
    # Cancelled here: nothing is owned.
    return await bus._on_wire(None, timeout_ms, 0, _scan, bus)


def _scan_now(bus, home):
    return home._scan(None, None) if home is not bus else _scan(bus, None)


def _scan(bus, _):
    if bus._backend is None:
        bus._refuse_closed()  # while this task cleaned it, or waited for the wire
    try:
        if bus._muxes:  # else it would show what is behind the channel that was used last
            if bus._channel is None:
                for mux in bus._muxes:
                    mux._forget()
            bus._channel = None
            for mux in bus._muxes:
                try:
                    mux._write(0)
                except NoAck:
                    pass  # it is not there, so nothing is behind it
        return list(bus._backend.scan())
    except OSError as error:
        raise bus._fault(error, None)


async def probe(me, timeout_ms=None):
    """True if the address is acknowledged. Does not run the set-up."""
    check_ms(timeout_ms)
    device = me._device
    bus = device._bus
    device._permit()
    task = current_task()
    if me is not device:
        me._free()  # NotHeld after its block
        return await me._transfer(timeout_ms, 0, _acknowledges, device, None)
    if bus._table._hold_of(task, device._key) is not None:
        hold = bus._wire_hold
        mine = hold is not None and hold._task is task
        return await bus._on_wire(hold if mine else None, timeout_ms, 0, _acknowledges, device)
    bus._refuse_wire_holder(device._label())
    start = ticks_ms()
    await bus._open(None, timeout_ms)
    # The key without a set-up. Cancelled here: nothing is owned.
    async with bus._table.hold(device._key, left_of(timeout_ms, start)):
        return await bus._on_wire(None, left_of(timeout_ms, start), 0, _acknowledges, device)


def _acknowledges(device, _):
    if device._bus._backend is None:
        device._bus._refuse_closed()  # while this task cleaned it
    i2c = device._i2c()
    try:
        i2c.writeto(device.address, b"")
        return True
    except OSError as error:
        fault = device._bus._fault(error, device)
        if isinstance(fault, NoAck):
            return False
        raise fault
