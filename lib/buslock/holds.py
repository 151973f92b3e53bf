"""BusHold: keys of one bus, or all of it, and its wire if asked for."""

from ._rt import DONE, current_task, ticks_ms
from .errors import NotHeld, TransferError
from .holding import Hold, left_of
from .waitqueue import check_ms


def over(hold):
    """The NotHeld of a session whose hold has ended."""
    return NotHeld("%s: the hold of this session is over; use it inside its `async with`" % hold._label())


class BusHold(Hold):
    """`devices` None is the whole bus. What its block gets is the session of its device."""

    _inner = None  # the table's hold
    _epoch = None
    _open = None  # the device to which a write without STOP is under way

    def __init__(self, bus, devices, timeout_ms, wire, prepare=True):
        self._bus = bus
        self._devices = devices
        self._prepare = devices if prepare and devices is not None else ()
        self._given = self
        self._timeout = check_ms(timeout_ms)
        self.wire = wire

    _left = None  # a device whose chip select the block left active
    _selected = None  # the device that is selected: of SPI's selections, which have the wire, too

    def _is_held(self):
        # A holder of a replaced loop loses the table's hold.
        return self._task is not None and self._epoch is self._bus._epoch and self._inner._is_held()

    def _all_keys(self):
        return () if self._devices is None else tuple([device._key for device in self._devices])

    def _label(self):
        if self._devices is None:
            return "all of " + self._bus.name
        return ", ".join([device._label() for device in self._devices])

    async def _enter(self):
        session = self._bus._session_of(self._devices[0], self)  # may fail for want of memory, so before it is taken
        await super()._enter()
        return session

    def __aexit__(self, exc_type, exc, tb):
        try:
            if self.wire and exc is not None and self._devices is not None:
                self._bus._failed_outside(exc, self._devices[0])
        finally:
            super().__aexit__(exc_type, exc, tb)
        if self._left is not None and exc_type is None:
            raise TransferError(0, "%s: its chip select was left active; it is idle again" % self._left._label())
        return DONE

    def _keys_hold(self, timeout_ms):
        table = self._bus._table
        if self._devices is None:
            return table.hold_all(timeout_ms)
        if len(self._devices) == 1:
            return table.hold(self._devices[0]._key, timeout_ms, self.shared)
        return table.hold_many(self.keys, timeout_ms, self.shared)

    async def _take(self):
        bus = self._bus
        start = ticks_ms()
        bus._refuse_wire_holder(self._label())
        for device in self._devices or ():
            device._permit()
        closes = bus._closes
        while True:
            if bus._closes != closes:
                bus._refuse_closed()
            await bus._open(None, self._timeout)
            for device in self._prepare:
                if bus._closes != closes:
                    bus._refuse_closed()  # it was closed while the set-up of the one before was waited for
                await bus._open(device, left_of(self._timeout, start))  # cancelled here: nothing is held
            self._epoch = bus._epoch
            self._inner = inner = self._keys_hold(left_of(self._timeout, start))
            try:
                await inner._enter()  # cancelled here: nothing is owned
                # While this task stood in line, the bus may have been closed or reset, or a set-up become due again.
                if (
                    self._epoch is bus._epoch
                    and bus._backend is not None
                    and not bus._closing
                    and all(device._ready for device in self._prepare)
                ):
                    for part in getattr(inner, "_holds", None) or (inner,):
                        part._owner = self  # a look-alike finds the hold of the running task by this
                    self._task = current_task()
                    if self.wire:
                        # Cancelled here: the keys are given back.
                        await bus._keep_wire(self, left_of(self._timeout, start))
                    return
            except BaseException:
                self._task = None
                self._drop()
                raise
            inner.release()

    def _drop(self):
        bus = self._bus
        inner = self._inner
        self._inner = None
        try:
            if bus._wire_hold is self:
                bus._leave_wire(self)
        finally:
            if inner is not None and inner._task is not None:
                inner._task = None
                inner._drop()
