"""Chip selects come home: driven idle at first, after failures, and when a driver that had the wire is done."""

from ._rt import later
from .errors import Reentry
from .native import NativeLocked
from .owners import own


async def _clean(bus):
    """Called with the wire held: what may be active is driven idle, and cards get the clocks that they wait for.

    Cancelled in here: still dirty.
    """
    own(bus, bus._owned)
    drive_home(bus)
    for device in debtors(bus):
        paid = later.spisection.pay(device)
        if paid is not None:
            await paid
    drive_home(bus)  # a device may have been declared meanwhile
    bus._cleaned()


def _clean_now(bus):
    """Clean without waiting; False if that takes more."""
    drive_home(bus)
    for device in debtors(bus):
        if bus._awaits:
            return False
        try:
            later.spisection.pay(device)
        except NativeLocked:
            return False
    bus._cleaned()
    return True


def drive_home(bus):
    for device in bus._devices.values():
        if device._away:
            if device._cs is not None:
                try:
                    device._cs(1 - device._active)
                except BaseException as error:
                    raise device._astray(error)
            device._away = False


def debtors(bus):
    return [device for device in bus._devices.values() if device._owes]


def _idle_now(bus):
    """Every chip select, whoever has the bus; what fails is driven again before the next transfer."""
    for device in bus._devices.values():
        device._away = True
        device._owes = device._post > 0
        try:
            if device._cs is not None:
                device._cs(1 - device._active)
        except Exception:
            pass


def _configure_for(bus, hold):
    """The wire was taken for a hold: what its driver or its selection needs is set. On awaited buses a coroutine."""
    if hold._selected is None:
        return later.spisection.configure(hold._devices[0])
    return later.spisection.activate(hold._selected)


def _configure_for_call(bus, device):
    """For a driver that moves CS itself."""
    if bus._wire_hold is not None and bus._wire_hold._selected is not None:
        raise Reentry("%s is selected: end the selection, and then call a driver" % device._label())
    return later.spisection.configure(device)


def _end_call(bus, device):
    """True if the driver left CS active."""
    return left_active(bus, device)


def _wire_left(bus, hold):
    """The end of a hold with the wire."""
    for device in hold._devices or bus._devices.values():
        if left_active(bus, device):
            hold._left = device


def left_active(bus, device):
    """A driver had the wire: CS must be idle, and is now; what it has set is not known."""
    bus._config = bus._polarity = None
    cs = device._cs
    try:
        if cs is None or cs() != device._active:
            return False
        cs(1 - device._active)  # before anything that may fail for want of memory
        device._owes = device._post > 0
        if device._owes:
            bus._soil()
        bus._count("left_selected")
    except BaseException as error:
        device._astray(error)
        if not isinstance(error, Exception):
            raise
        return False
    return True
