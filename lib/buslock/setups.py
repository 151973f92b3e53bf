"""The set-up of a device: run once, by a task that all who need it share, or under the hold that is there."""

from ._rt import current_task, later, sleep_ms
from .holds import BusHold


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
