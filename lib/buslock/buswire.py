"""The wire of a bus, kept by a hold."""

from ._rt import ticks_ms
from .errors import BusError, DeadlineExceeded
from .holding import left_of
from .native import NativeLocked

WITH = {"_keep_wire": ("_soil", "_leave_wire", "_wire_left", "_end_call", "_failed_outside")}


async def _keep_wire(bus, hold, timeout_ms):
    start = ticks_ms()
    bus._wire_hold = bus._wire_hold  # room for the attribute, before anything is taken
    await bus._wire.acquire(timeout_ms)  # cancelled here: nothing is owned
    if hold._epoch is not bus._epoch:
        bus._refuse_closed()
    bus._wire_hold = hold
    try:
        await bus._ready_wire(hold, left_of(timeout_ms, start))  # cancelled here: the wire is given back
    except BaseException:
        if bus._wire_hold is hold:  # else reset() has taken it away
            bus._leave_wire(hold)
        raise


async def _ready_wire(bus, hold, timeout_ms):
    """The wire was taken for `hold`: it is clean, nobody outside has it, and what `hold` needs is set."""
    start = ticks_ms()
    while True:
        if bus._dirty:
            await bus._clean_within(left_of(timeout_ms, start))
        try:
            bus._refuse_native()
            waiting = bus._configure_for(hold)
            if waiting is not None:
                await bus._awaited(waiting)
            return
        except NativeLocked:
            await bus._outside(left_of(timeout_ms, start))


def _leave_wire(bus, hold):
    bus._wire_hold = None
    device = hold._open
    try:
        bus._locks = None
        if device is not None:
            hold._open = None
            bus._end_transfer(device)
        if hold.wire:
            bus._wire_left(hold)
    except BaseException:
        bus._soil()
        raise
    finally:
        if bus._user is None:
            bus._wire._pass_on()
        else:  # another task's transfer runs with this hold's session: the wire is free when that has ended
            bus._wire._holder = bus._user
            bus._late = True


def _forget_wire_hold(bus):
    """Its holder is lost: what it left on the wire is ended, and cleaned before the next transfer."""
    hold = bus._wire_hold
    bus._wire_hold = bus._locks = None
    if hold is not None and hold._open is not None:
        bus._end_transfer(hold._open)
        hold._open = None
    bus._user = None
    bus._late = False
    bus._idle_now()
    if bus._backend is not None:
        bus._soil()


def _refuse_native(bus):
    """NativeLocked if code outside has the lock of a back end that takes it for each transfer."""
    if hasattr(bus._backend, "free") and not bus._backend.free():
        raise NativeLocked()


def _configure_for(bus, hold):
    """The wire was taken for `hold`: what it needs is set. None, or a coroutine on buses whose transfers are awaited."""


def _failed_outside(bus, error, device):
    """A driver that had the wire has raised. After an OSError what is on it is looked at before the next transfer."""
    if isinstance(error, OSError) and not isinstance(error, (BusError, DeadlineExceeded)):
        bus._fault(error, device)
        device._failed_setup()
