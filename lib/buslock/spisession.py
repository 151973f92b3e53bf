"""What the holds of an SPI device give: a session, and a selection."""

from ._rt import DONE, current_task, ticks_ms
from .devicemore import Own
from .errors import Reentry, TransferError
from .holding import Hold, left_of
from .holds import BusHold, over
from .rare import rare
from .spi import SPIOperations
from .spisection import bare, deactivate
from .waitqueue import check_ms


class SPISession(SPIOperations):
    """The operations of a device for the time of a hold: CS is idle and the wire free between them.

    Under `hold(wire=True)` they leave CS alone. Any task may use it.
    """

    _directories = ("spimore",)

    def __init__(self, device, hold):
        self._device = device
        self._hold = hold

    def __getattr__(self, name):
        return rare(self, type(self), name, self._directories)

    def _free(self):
        device = self._device
        bus = device._bus
        hold = self._hold
        if not hold.held:
            raise over(hold)
        # Everything else _slow() finds a way for.
        return (
            (device._ready or device._setup_session is self)
            and bus._raw is not None
            and not bus._transfer
            and not bus.debug
            and bus._wire._holder is None
            and bus._native is None
        )

    def _section(self, function, a, b):
        return self._device._section(function, a, b)

    async def _slow(self, timeout_ms, function, a, b):
        check_ms(timeout_ms)
        start = ticks_ms()
        device = self._device
        wire = await self._prepare()
        if wire is not None and (wire is self._hold or wire._selected is not None):
            selected = wire._selected is not None
            transfer = lambda a, b: bare(device, function, a, b, selected)  # noqa: E731
        else:
            transfer = lambda a, b: device._section(function, a, b)  # noqa: E731
        # Cancelled here: CS is idle and the wire free, or they are the hold's as before; the key is the hold's.
        return await device._bus._on_wire(wire, left_of(timeout_ms, start), 0, transfer, a, b)

    async def _prepare(self):
        """The hold by which the wire is this session's, or None; the set-up is done. NotHeld, Reentry."""
        device = self._device
        bus = device._bus
        hold = self._hold
        if not hold.held:
            raise over(hold)
        wire = bus._wire_hold
        if wire is not None and wire is not (hold._wire if isinstance(hold, Own) else hold):
            bus._refuse_wire_holder(device._label())
            if wire._selected is not None and wire._outer is hold:
                raise Reentry("%s is selected by another task under this hold" % device._label())
            wire = None
        if (
            not device._ready
            and (wire is None or wire is not hold and wire._selected is None)  # else CS may be active
            and device._setup_session is not self
            and device._setting_up is not current_task()
        ):
            # Under hold_all, and after an error under this hold. Cancelled here: still due.
            await device._run_setup(self)
        return wire


class Select(Hold):
    """CS active for the time of a block. Of a device: its key and the wire; of a session: the wire."""

    wire = False  # CS needs no looking at when it ends
    _open = None
    _inner = None  # the hold of the key, where this is the device's own
    _outer = None  # the hold that had the wire before

    def __init__(self, me, timeout_ms):
        self._me = me
        self._selected = me._device
        self._devices = (me._device,)
        self._given = self
        self._timeout = check_ms(timeout_ms)

    def _all_keys(self):
        return (self._selected._key,)

    def _label(self):
        return self._selected._label()

    def _is_held(self):
        bus = self._selected._bus
        if self._task is None or bus._wire_hold is not self or self._epoch is not bus._epoch:
            return False
        return (self._inner or self._me._hold).held

    async def _enter(self):
        selected = Selected(self._selected, self)  # may fail for want of memory, so before it is taken
        await super()._enter()
        return selected

    async def _take(self):
        start = ticks_ms()
        me = self._me
        device = self._selected
        bus = device._bus
        if me is device:
            self._inner = inner = BusHold(bus, self._devices, self._timeout, False)
            await Hold._enter(inner)  # cancelled here: nothing is owned
        else:
            self._outer = await me._prepare()  # cancelled here: nothing is owned
        try:
            self._epoch = bus._epoch
            self._task = current_task()
            if self._outer is None:
                await bus._keep_wire(self, left_of(self._timeout, start))  # cancelled here: the key is given back
            else:
                bus._wire_hold = self
                await bus._ready_wire(self, left_of(self._timeout, start))  # cancelled here: the wire is as before
        except BaseException:
            self._task = None
            self._give_back()
            raise

    def __aexit__(self, exc_type, exc, tb):
        try:
            super().__aexit__(exc_type, exc, tb)
        except TransferError:
            if exc_type is None:  # else what ended the block goes first
                raise
        return DONE

    def _drop(self):
        """CS idle, then the wire, then the key: without an await, in every exit."""
        try:
            if self._selected._bus._wire_hold is self:  # else reset() has taken it away
                deactivate(self._selected)
        finally:
            self._give_back()

    def _give_back(self):
        bus = self._selected._bus
        if bus._wire_hold is self:
            if self._outer is None:
                bus._leave_wire(self)
            else:
                bus._wire_hold = self._outer
        inner = self._inner
        if inner is not None and inner._task is not None:
            inner._task = None
            inner._drop()


class Selected(SPISession):
    """The operations of a selected device: CS stays active in between."""

    def select(self, timeout_ms=None):
        if not self._hold.held:
            raise over(self._hold)
        raise Reentry("%s is selected already" % self._device._label())
