"""SPIBus and its devices."""

from ._rt import later
from .bus import Bus
from .device import Device


class SPIBus(Bus):
    """A `machine.SPI`, `SoftSPI` or `busio.SPI` that tasks share, or a function that makes one on first use.

    One bus object for one peripheral: a second one is refused (ValueError).
    """

    _directories = ("spibus", "busmore")
    _events = ("left_selected",)
    _config = None  # (baudrate, polarity, phase, bits, firstbit) as last set; None: not known
    _polarity = None  # the level at which the clock idles; None: not known
    _words = True  # init() takes bits=
    _ordered = False  # a bit order was set, and stays until another one is
    _owned = None  # the peripheral that is this bus object's own

    def __init__(self, spi, name=None, close=None, max_waiters=None, trace=None):
        super().__init__(spi, name or "spi", close, max_waiters, trace)

    def device(
        self,
        cs,
        baudrate=1_000_000,
        polarity=0,
        phase=0,
        bits=8,
        firstbit=None,
        cs_active=0,
        pre_clocks=0,
        post_clocks=0,
        chunk=None,
        setup=None,
    ):
        """The device at a chip select: a Pin, its number, a DigitalInOut or a pin of `board`; None for one alone.

        `baudrate` in Hz; `firstbit` as the port names it; `cs_active` is the level that selects. `pre_clocks` and
        `post_clocks`: clocks with CS idle before and after. `chunk`: longer writes are cut into pieces of so many bytes
        that give up the loop, with CS kept; (bytes, False) lets CS go idle and the wire free in between. (Those of the
        device: a session's or a selection's write is not cut.)
        """
        config = (baudrate, polarity, phase, bits, firstbit)
        return self._declare(cs, config, cs_active, pre_clocks, post_clocks, chunk, setup)

    def _wrap(self, peripheral):
        return later.spibus.wrap(self, peripheral)


class SPIOperations:
    """What a device, its session and its selection can do. Each is one transfer with CS active throughout.

    `timeout_ms` bounds the waiting for the key, the wire and the set-up. Raises LockTimeout, BusClosed, TransferError.
    """

    async def write(self, *bufs, timeout_ms=None):
        """The buffers, one after the other."""
        if not bufs:
            self._device._refuse(bufs)
        for buf in bufs:
            if isinstance(buf, str) or not len(buf):
                self._device._refuse(buf)
        if timeout_ms is None and self._free():
            return self._section(_write, bufs, None)
        return await self._slow(timeout_ms, _write, bufs, None)

    async def write_readinto(self, out, into, timeout_ms=None):
        """Write `out` and fill `into`, of the same length, at the same time."""
        if len(out) != len(into) or not len(out):
            self._device._refuse_pair(out, into)
        into[0] |= 0 * out[0]  # TypeError for a string and for a read-only buffer, before anything is driven
        if timeout_ms is None and self._free():
            return self._section(_write_readinto, out, into)
        return await self._slow(timeout_ms, _write_readinto, out, into)


class SPIDevice(SPIOperations, Device):
    """One chip select. Made by `bus.device(cs)`."""

    _directories = ("spidevice", "devicemore")
    _free = Device._free  # found sooner here than in the base
    _away = True  # its chip select may be active: it is driven idle before anything is sent
    _owes = False  # clocks that were to follow its last section have not been sent
    _pre = _post = 0  # bytes of clocks with CS idle, before and after
    _chunk = None

    def __init__(self, bus, key, cs, config, cs_active, setup):
        self._bus = bus
        self._device = self
        self._key = key
        self._cs = cs  # cs(level) drives the pin, cs() tells its level; None for a device that is alone
        self._active = cs_active
        self._config = config
        self._setup = setup
        self._ready = setup is None

    def _section(self, function, a, b):
        """function(spi, a, b) with this device's configuration, between CS active and CS idle. Synchronous."""
        bus = self._bus
        cs = None
        bus._transfer = True
        try:
            if bus._config != self._config:
                bus._configure(self._config)
            cs = self._cs
            if cs is not None:
                cs(self._active)
            return function(bus._backend, a, b)
        except OSError as error:
            raise bus._fault(error, self)
        finally:
            # No await on the way here, so whatever happened CS is idle before anybody else has the wire.
            bus._transfer = False
            if cs is not None:
                try:
                    cs(1 - self._active)
                except BaseException as error:
                    raise self._astray(error)


def _write(spi, bufs, _):
    for buf in bufs:
        spi.write(buf)


def _write_readinto(spi, out, into):
    spi.write_readinto(out, into)
