"""I2CSession: what the hold of an I2C device gives."""

from ._rt import current_task, later
from .devicemore import Own
from .errors import BusError
from .holds import over
from .i2c import Operations
from .rare import rare
from .waitqueue import check_ms


def session(device, hold):
    if device._chunk is not None:
        return later.chunks.ChunkedSession(device, hold)
    return I2CSession(device, hold)


class I2CSession(Operations):
    """The operations of a device for the time of a hold, without locking again. Any task may use it."""

    _directories = ("i2cmore",)

    def __init__(self, device, hold):
        self._device = device
        self._hold = hold

    def __getattr__(self, name):
        return rare(self, type(self), name, self._directories)

    def _free(self):
        device = self._device
        bus = device._bus
        hold = self._hold
        if not hold._is_held():
            raise over(hold)
        # Everything else _slow() finds a way for.
        return (
            device._retries == 0
            and (device._ready or device._setup_session is self)
            and bus._raw is not None
            and not bus._transfer
            and bus._wire._holder is None
            and bus._native is None
        )

    async def _slow(self, timeout_ms, repeatable, function, a, b):
        self._free()
        check_ms(timeout_ms)
        device = self._device
        bus = device._bus
        device._permit()
        hold = self._hold
        if isinstance(hold, Own):
            hold = hold._wire or hold
        if bus._wire_hold is not hold and bus._wire_hold is not None:
            bus._refuse_wire_holder(device._label())
        if not device._ready and device._setup_session is not self and device._setting_up is not current_task():
            await device._run_setup(self)  # under hold_all, and after an error under this hold
        try:
            return await self._transfer(timeout_ms, device._retries if repeatable else 0, function, a, b)
        except BusError:
            if device._retries:
                device._failed_setup()
            raise

    async def _transfer(self, timeout_ms, tries, function, a, b):
        """With the wire, for one transfer that ends with STOP."""
        bus = self._device._bus
        hold = self._hold
        if isinstance(hold, Own):
            hold = hold._wire or hold
        opened = hold._open
        try:
            # Cancelled here: the wire is free; the key is the hold's.
            return await bus._on_wire(hold, timeout_ms, tries, function, a, b)
        finally:
            if opened is not None and hold._open is opened:
                # This transfer has made the STOP that an open write before it left out.
                hold._open = None
                if not hold.wire:
                    bus._leave_wire(hold)
