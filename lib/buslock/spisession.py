"""What the holds of an SPI device give: a session, and a selection."""

from ._rt import current_task
from .errors import NotHeld, TransferError
from .holding import Hold
from .holds import BusHold, over
from .rare import rare
from .spi import SPIOperations
from .waitqueue import check_ms


class SPISession(SPIOperations):
    """The operations of a device for the time of a hold: CS is idle and the wire free between them.

    Under `hold(wire=True)` they leave CS alone. Any task may use it.
    """

    _modules = ("spidevice",)

    def __init__(self, device, hold):
        self._device = device
        self._hold = hold

    def __getattr__(self, name):
        return rare(self, type(self), name, self._modules)

    def _free(self):
        bus = self._device._bus
        hold = self._hold
        if not hold.held:
            raise over(hold)
        return bus._raw is not None and bus._wire._holder is None and bus._native is None

    def _section(self, function, a, b):
        return self._device._section(function, a, b)

    async def _slow(self, timeout_ms, function, a, b):
        self._free()
        check_ms(timeout_ms)
        device = self._device
        bus = device._bus
        hold = self._hold
        if bus._wire_hold is hold:
            return await bus._on_wire(hold, timeout_ms, 0, lambda a, b: _bare(device, function, a, b), a, b)
        if bus._wire_hold is not None:
            bus._refuse_wire_holder(device._label())
        # Cancelled here: CS is idle and the wire free; the key is the hold's.
        return await bus._on_wire(hold, timeout_ms, 0, lambda a, b: device._section(function, a, b), a, b)


def _bare(device, function, a, b):
    """A transfer that does not touch CS."""
    bus = device._bus
    if bus._awaits:
        from .spiawait import bare

        return bare(device, function, a, b)
    try:
        return function(bus._backend, a, b)
    except OSError as error:
        raise bus._fault(error, device)


class Select(Hold):
    """CS active for the time of a block. Of a device: its key and the wire; of a session: the wire."""

    def __init__(self, me, timeout_ms):
        self._me = me
        self._device = me._device
        self._given = self
        self._timeout = check_ms(timeout_ms)
        self._inner = None

    def _all_keys(self):
        return (self._device._key,)

    def _label(self):
        return self._device._label()

    async def _enter(self):
        await super()._enter()
        return Selected(self._device, self._hold)

    async def _take(self):
        device = self._device
        bus = device._bus
        if self._me is device:
            self._inner = BusHold(bus, (device,), self._timeout, True)
            self._inner._ours = True
            await Hold._enter(self._inner)  # cancelled here: nothing is owned
            hold = self._inner
        else:
            hold = self._me._hold
            if not self._me._free() and bus._wire_hold is not None:
                bus._refuse_wire_holder(device._label())
            await bus._keep_wire(hold, self._timeout)  # cancelled here: nothing is owned
        self._hold = hold
        self._task = current_task()
        try:
            self._activate()
        except BaseException:
            self._task = None
            self._drop()
            raise

    def _activate(self):
        device = self._device
        bus = device._bus
        if bus._config != device._config:
            bus._configure(device._config)
        if device._cs is not None:
            device._cs(device._active)

    def _drop(self):
        """CS idle, then the wire: without an await, in every exit."""
        device = self._device
        bus = device._bus
        hold = self._hold
        try:
            if device._cs is not None and hold._epoch is bus._epoch:
                device._cs(1 - device._active)
        except BaseException:
            bus._soil()
            raise
        finally:
            if self._inner is not None:
                self._inner._task = None
                self._inner._drop()
            elif bus._wire_hold is hold:
                bus._leave_wire(hold)


class Selected(SPISession):
    """The operations of a selected device: CS stays active in between."""

    def _free(self):
        super()._free()
        device = self._device
        if device._bus._wire_hold is not self._hold:
            raise NotHeld("%s: the selection is over; use it inside its `async with`" % device._label())
        return False  # the wire is there, but not for everybody

    def select(self, timeout_ms=None):
        raise TransferError(0, "%s is selected already" % self._device._label())
