"""The methods of Device that a plain operation does not need; the class loads them on first use."""

from ._rt import current_task
from .holds import BusHold

METHODS = (
    "hold",
    "_due",
    "_make_ready",
    "_start",
    "_run_setup",
)


def hold(device, timeout_ms=None, wire=False):
    """`async with device.hold() as session`: its key, and with `wire=True` the wire of the bus too."""
    return BusHold(device._bus, (device,), timeout_ms, wire)


def _due(device):
    """The set-up is to be run again before the next use."""
    if device._setup is not None:
        device._ready = device._plain = False
        device._starter = None


async def _make_ready(device, timeout_ms):
    task = current_task()
    if device._setting_up is task:
        return
    bus = device._bus
    if bus._table._hold_of(task, device._key) is not None:
        await device._run_setup(bus._session_of(device, _Own(bus)))
        return
    starter = device._starter
    if starter is None:
        from .lazy import Lazy

        device._starter = starter = Lazy(device._start)
        starter.name = "set-up of " + device._label()
    await starter.get(timeout_ms)


async def _start(device):
    """Run by the shared task, which takes the key like anybody else."""
    async with BusHold(device._bus, (device,), None, False, False) as session:
        await device._run_setup(session)
    return device


async def _run_setup(device, session):
    if device._ready:
        return  # somebody who held the key has done it meanwhile
    device._setting_up = current_task()
    try:
        await device._setup(session)  # cancelled here: still due
        device._ready = True
        device._plan()
    finally:
        device._setting_up = None


class _Own:
    """Stands for a hold that the running task has already: it ends with that."""

    _task = True

    def __init__(self, bus):
        self._epoch = bus._epoch
