"""I2C addresses that are more than one chip, and chips that have more than one address."""

from ._rt import current_task, later
from .errors import NotCovered
from .i2c import I2CDevice


class GeneralCall(I2CDevice):
    """Address 0, which every chip may listen to: only for who holds the whole bus."""

    _plain = False

    def _slow(self, timeout_ms, repeatable, function, a, b):
        self._permit()
        return super()._slow(timeout_ms, repeatable, function, a, b)

    def _permit(self):
        everything = self._bus._table._all
        if everything is None or everything._task is not current_task():
            raise NotCovered(
                "%s is the general call, which all chips hear: use it inside bus.hold_all()" % self._label()
            )


class Alias(I2CDevice):
    """Another address of a device, with the same key and the same set-up."""

    _plain = False

    def __init__(self, device, address):
        super().__init__(device._bus, address)
        self._main = device
        self._key = device._key
        self._explicit = True
        self._addrsize = device._addrsize
        self._last_register = device._last_register
        self._beyond = device._beyond
        self._retries = device._retries
        self._chunk = device._chunk
        if self._chunk is not None:
            later.chunks.chunked(self)

    @property
    def _ready(self):
        return self._main._ready

    async def _make_ready(self, timeout_ms):
        await self._main._make_ready(timeout_ms)

    def _failed_setup(self):
        self._main._failed_setup()

    def _i2c(self):
        return self._main._i2c()  # which opens the channel of a multiplexer

    def _read_register(self, reg, nbytes):
        self._i2c()
        return super()._read_register(reg, nbytes)


def _check_aliases(bus, device, aliases):
    if len(set(aliases)) < len(aliases):
        raise ValueError("%s: an alias is named twice" % device._label())
    home = device._home()
    for address in aliases:
        home._claim(address)
        known = home._devices.get(address)
        if address == device.address or known is not None and (known._explicit or isinstance(known, Alias)):
            raise ValueError("%s: the alias 0x%02x is a device of its own already" % (device._label(), address))


def _take_aliases(bus, device, aliases):
    for address in aliases:
        device._home()._devices[address] = Alias(device, address)
