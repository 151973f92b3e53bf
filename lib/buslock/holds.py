"""BusHold: keys of one bus, and its wire if asked for."""

from ._rt import current_task, ticks_diff, ticks_ms
from .errors import NotHeld
from .lock import Hold
from .waitqueue import check_ms


def left_of(timeout_ms, start):
    """What is left of a time that began at `start`; None stays None."""
    if not timeout_ms:
        return timeout_ms
    return max(0, timeout_ms - ticks_diff(ticks_ms(), start))


def over(hold):
    """The NotHeld of a session whose hold has ended."""
    return NotHeld("%s: the hold of this session is over; use it inside its `async with`" % hold._label())


class BusHold(Hold):
    """Keys of one bus, or all of it when `devices` is None; and its wire, if asked for."""

    _inner = None
    _open = False  # a write without STOP is under way

    def __init__(self, bus, devices, timeout_ms, wire, prepare=True):
        self._bus = bus
        self._devices = devices
        self._given = self
        if timeout_ms is not None:
            self._timeout = check_ms(timeout_ms)
        self.wire = wire
        self._prepare = prepare

    @property
    def held(self):
        return self._inner is not None and self._epoch is self._bus._epoch

    @property
    def keys(self):
        return () if self._devices is None else tuple([device._key for device in self._devices])

    def _label(self):
        bus = self._bus
        return bus.name if self._devices is None else ", ".join([bus._label(key) for key in self.keys])

    def _try(self):
        return False

    async def _enter(self):
        await super()._enter()
        return self._bus._session(self)

    def _keys_hold(self, timeout_ms):
        table = self._bus._table
        if self._devices is None:
            return table.hold_all(timeout_ms)
        if len(self._devices) == 1:
            return table.hold(self._devices[0]._key, timeout_ms)
        return table.hold_many(self.keys, timeout_ms)

    async def _take(self):
        bus = self._bus
        start = ticks_ms()
        left = self._timeout
        bus._refuse_wire_holder(self._label())
        while True:
            await bus._ready_for(self._devices if self._prepare else None, left)  # cancelled here: nothing is held
            left = left_of(self._timeout, start)
            inner = self._keys_hold(left)
            await inner._enter()  # cancelled here: nothing is owned
            # While this task stood in line, the bus may have been closed, or a set-up become due again.
            if bus._usable(self._devices if self._prepare else None):
                break
            inner.release()
            left = left_of(self._timeout, start)
        self._inner = inner
        self._table = bus._table
        self._epoch = bus._epoch
        self._wire_lock = bus._wire
        self._task = current_task()
        if self.wire:
            try:
                await bus._keep_wire(self, left_of(self._timeout, start))
            except BaseException:
                self._task = None
                self._drop()
                raise

    def _drop(self):
        bus = self._bus
        inner = self._inner
        self._inner = None
        if bus._wire_hold is self:
            bus._leave_wire(self)
        if inner is not None and inner._task is not None:
            inner._task = None
            inner._drop()
