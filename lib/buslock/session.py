"""I2CSession: what the hold of an I2C device gives."""

from .holds import over
from .i2c import Operations
from .rare import rare
from .waitqueue import check_ms


def session(device, hold):
    if device._chunk is not None:
        from .chunks import ChunkedSession

        return ChunkedSession(device, hold)
    return I2CSession(device, hold)


class I2CSession(Operations):
    """The operations of a device for the time of a hold, without locking again. Any task may use it."""

    _modules = ("i2cmore",)

    def __init__(self, device, hold):
        self._device = device
        self._hold = hold

    def __getattr__(self, name):
        return rare(self, I2CSession, name, self._modules)

    def _free(self):
        bus = self._device._bus
        hold = self._hold
        if hold._task is None or hold._epoch is not bus._epoch:
            raise over(hold)
        # With a wire that this hold keeps, _slow() finds the way without waiting.
        return bus._raw is not None and bus._wire._holder is None and bus._native is None and self._device._retries == 0

    async def _slow(self, timeout_ms, repeatable, function, a, b):
        self._free()
        check_ms(timeout_ms)
        device = self._device
        bus = device._bus
        if bus._wire_hold is not self._hold and bus._wire_hold is not None:
            bus._refuse_wire_holder(device._label())
        tries = device._retries if repeatable else 0
        hold = self._hold
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
