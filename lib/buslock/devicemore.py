"""The methods of Device that a plain operation does not need; the class loads them on first use."""

from ._rt import current_task, later, sleep_ms
from .holds import BusHold

METHODS = (
    "hold",
    "_permit",
    "_due",
    "_failed_setup",
    "_make_ready",
    "_own_session",
    "_start",
    "_run_setup",
)


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


async def _make_ready(device, timeout_ms):
    if device._setting_up is current_task():
        return
    own = device._own_session()
    if own is not None:
        await device._run_setup(own)
        return
    starter = device._starter
    if starter is None:
        device._starter = starter = later.lazy.Lazy(device._start)
        starter.name = "set-up of " + device._label()
    await starter.get(timeout_ms)


async def _start(device):
    """Run by the shared task, which takes the key like anybody else."""
    if device._starter is None:  # closed before this first step: the bus is not to be opened again for nobody
        raise later.errors.BusClosed("%s was closed before its set-up had begun" % device._bus.name)
    async with BusHold(device._bus, (device,), None, False, False) as session:
        await device._run_setup(session)
    return device


async def _run_setup(device, session):
    while not device._ready:  # else somebody who held the key has done it meanwhile
        if device._setting_up is not None and not _stranded(device._setting_up):
            await sleep_ms(1)  # another task does it under the same hold; cancelled here: that one goes on
            continue
        device._setting_up = current_task()
        device._setup_session = session
        dues = device._dues
        try:
            trace = device._bus._trace
            # Cancelled here: still due.
            await (device._setup(session) if trace is None else trace.set_up(device, session))
        finally:
            device._setting_up = device._setup_session = None
        if dues == device._dues:  # else the bus was recovered or closed meanwhile: what the set-up wrote may be lost
            device._ready = True
            device._plan()


def _stranded(task):
    """True if the task will never run again: its loop was replaced."""
    return later.strays.gone(task)


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

    def _label(self):
        return self._devices[0]._label()
