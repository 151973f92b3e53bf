"""Device: what has a key on a bus, and a set-up that is run once before its first use."""

from ._rt import current_task
from .holds import BusHold
from .lazy import Lazy


class Device:
    """Base of the devices of every kind of bus."""

    _ready = True
    _setup = None
    _starter = None
    _setting_up = None  # the task that runs the set-up now

    def _due(self):
        """The set-up is to be run again before the next use."""
        if self._setup is not None:
            self._ready = False
            self._starter = None

    async def _make_ready(self, timeout_ms):
        task = current_task()
        if self._setting_up is task:
            return
        if self._bus._covers(task, self._key):
            await self._run_setup(self._bus._session_of(self, self._bus._hold_of(task, self._key)))
            return
        starter = self._starter
        if starter is None:
            self._starter = starter = Lazy(self._start)
            starter._line.name = "set-up of %s" % self._label()
        await starter.get(timeout_ms)

    async def _start(self):
        """Run by the shared task, which takes the key like anybody else."""
        async with BusHold(self._bus, (self,), None, False, False) as session:
            await self._run_setup(session)
        return self

    async def _run_setup(self, session):
        if self._ready:
            return  # somebody who held the key has done it meanwhile
        self._setting_up = current_task()
        try:
            await self._setup(session)  # cancelled here: still due
            self._ready = True
        finally:
            self._setting_up = None

    def _label(self):
        return self._bus._label(self._key)

    def hold(self, timeout_ms=None, wire=False):
        """`async with device.hold() as session`: its key, and with `wire=True` the wire of the bus too."""
        return BusHold(self._bus, (self,), timeout_ms, wire)
