"""The methods of Device that a plain operation does not need; the class loads them on first use.

METHODS is their directory, see rare.py. What most programs need is here.
"""

from ._rt import current_task
from .holds import BusHold

METHODS = "devicemore hold _permit _due _failed_setup _own_session ,setups _make_ready _start _run_setup "


def hold(device, timeout_ms=None, wire=False):
    """`async with device.hold() as session`: its key, and with `wire=True` the wire of the bus too."""
    return BusHold(device._bus, (device,), timeout_ms, wire)


def _permit(device):
    """Raise if the running task may not use it now."""


def _due(device):
    """The set-up is to be run again before the next use: what it did may be lost."""
    device._dues += 1
    device._failed_setup()


def _failed_setup(device):
    """An error reached a caller: the set-up is to be run again, unless it is the set-up that has met it."""
    if device._setup is not None and device._setting_up is None:
        device._ready = device._plain = False
        device._starter = None


def _own_session(device):
    """A session under the hold that the running task has of it; None without one."""
    bus = device._bus
    if bus._table._hold_of(current_task(), device._key) is None:
        return None
    return bus._session_of(device, Own(bus, device))


class Own:
    """Stands for a hold that the running task has already: it ends with that."""

    _open = None
    wire = False
    held = True

    def __init__(self, bus, device):
        self._epoch = bus._epoch
        self._devices = (device,)
        self._task = current_task()
        self._wire = None if bus._wire_hold is None else bus._own_wire(device)

    def _is_held(self):
        return True
