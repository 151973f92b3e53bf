"""Look-alikes of machine.SPI and busio.SPI for one device of an SPIBus, and of its chip select.

spi = device.as_machine()
driver = await bus.call(device, Driver, spi, spi.cs)
"""

from ._rt import current_task
from .errors import NotCovered
from .facade import LookAlike, enter, leave, lock_now, part, unlock_now
from .spiconfig import check_config

_END = (1 << 30) - 1


class SPILookAlike(LookAlike):
    """What the driver sets is remembered for its device and applied in its section, not for everybody."""

    def __init__(self, device):
        super().__init__(device._bus)
        self._dev = device

    def _set(self, baudrate, polarity, phase, bits, firstbit):
        device = self._dev
        bus = self._bus
        old = device._config
        new = tuple([b if a is None else a for a, b in zip((baudrate, polarity, phase, bits, firstbit), old)])
        check_config(bus, new)
        mine = bus._wire._holder is current_task()
        if mine or new != old:
            self._enter(device)  # not in the middle of somebody's hold
        device._config = new
        if mine and not bus._awaits:
            # At once: a driver that has got the raw pin selects next, and the chip looks at the clock then.
            self._transfer(device, self._configured, tuple)

    def _do(self, method, *args):
        """One transfer, CS left to the driver."""
        device = self._dev
        bus = self._bus
        self._enter(device)
        if bus._awaits:
            raise NotImplementedError(
                "%s: the transfers of this bus are awaited, and a driver that is not async cannot" % bus.name
            )
        return self._transfer(device, self._configured, getattr(bus._backend, method), *args)

    def _configured(self, function, *args):
        bus = self._bus
        config = self._dev._config
        if bus._config != config and not self._selected():
            bus._configure(config)
        return function(*args)

    def _selected(self):
        """True while CS is active: then nothing is changed."""
        cs = self._dev._cs
        return cs is not None and cs() == self._dev._active


class MachineSPI(SPILookAlike):
    """machine.SPI."""

    def __init__(self, device):
        super().__init__(device)
        self.cs = MachineCS(self)

    def __getattr__(self, name):
        """MSB, LSB and the like have other values on other ports."""
        if name in ("MSB", "LSB", "CONTROLLER"):
            bus = self._bus
            if bus._backend is None:
                bus._make_now()
            return getattr(bus._backend, name, 1 if name == "LSB" else 0)
        raise AttributeError(name)

    def init(
        self,
        baudrate=None,
        *,
        polarity=None,
        phase=None,
        bits=None,
        firstbit=None,
        sck=None,
        mosi=None,
        miso=None,
        pins=None,
    ):
        self._set(baudrate, polarity, phase, bits, firstbit)

    def read(self, nbytes, write=0):
        return self._do("read", nbytes, write)

    def readinto(self, buf, write=0):
        self._do("readinto", buf, write)

    def write(self, buf):
        self._do("write", buf)

    def write_readinto(self, write_buf, read_buf):
        self._do("write_readinto", write_buf, read_buf)


class BusioSPI(SPILookAlike):
    """busio.SPI."""

    __enter__ = enter
    __exit__ = leave
    try_lock = lock_now
    unlock = unlock_now

    def __init__(self, device):
        super().__init__(device)
        self.cs = DigitalCS(self)

    def configure(self, *, baudrate=100000, polarity=0, phase=0, bits=8):
        self._set(baudrate, polarity, phase, bits, None)

    @property
    def frequency(self):
        return self._dev._config[0]

    def write(self, buffer, *, start=0, end=_END):
        self._some("write", part(buffer, start, end))

    def readinto(self, buffer, *, start=0, end=_END, write_value=0):
        self._some("readinto", part(buffer, start, end), write_value)

    def write_readinto(self, out_buffer, in_buffer, *, out_start=0, out_end=_END, in_start=0, in_end=_END):
        out = part(out_buffer, out_start, out_end)
        into = part(in_buffer, in_start, in_end)
        if len(out) != len(into):
            raise ValueError("buffer slices must be of equal length")
        self._some("write_readinto", out, into)

    def _some(self, method, buf, *args):
        if len(buf):  # nothing is no error for busio, but for some of machine's ports
            self._do(method, buf, *args)


class ChipSelect:
    """The pin that the driver moves: it knows whose it is, and becomes active only for the task that has the wire."""

    def __init__(self, spi):
        self._spi = spi

    def _drive(self, level):
        device = self._spi._dev
        bus = device._bus
        if device._cs is None:
            return
        if level == device._active:
            self._spi._enter(device)
            if bus._wire._holder is not current_task():
                raise NotCovered(
                    "%s: CS can be made active only with the wire held: `await bus.call(device, ...)` or "
                    "`async with device.hold(wire=True)`" % device._label()
                )
            if bus._config != device._config:
                bus._configure(device._config)  # complete before CS falls
        elif device._cs() == level:
            return
        else:
            self._spi._check_wire(device._label())  # it is active in somebody's transfer
        device._cs(level)

    def _level(self):
        cs = self._spi._dev._cs
        return 0 if cs is None else cs()

    def _idle(self):
        self._drive(1 - self._spi._dev._active)


class MachineCS(ChipSelect):
    """machine.Pin."""

    IN = 0
    OUT = 1
    OPEN_DRAIN = 2
    PULL_UP = 1
    PULL_DOWN = 2

    def init(self, mode=-1, pull=-1, *, value=None, **kwargs):
        if value is not None:
            self._drive(1 if value else 0)

    def value(self, *level):
        if not level:
            return self._level()
        self._drive(1 if level[0] else 0)
        return None

    __call__ = value

    def on(self):
        self._drive(1)

    def off(self):
        self._drive(0)

    high = on
    low = off


class DigitalCS(ChipSelect):
    """digitalio.DigitalInOut."""

    direction = None
    drive_mode = None
    pull = None

    def __enter__(self):
        return self

    def __exit__(self, exc_type, exc, tb):
        self._idle()

    def switch_to_output(self, value=False, drive_mode=None):
        # Drivers give the idle level here; the default, low, would select the chip before anybody has the wire.
        self._idle()

    def switch_to_input(self, pull=None):
        self._idle()

    def deinit(self):
        self._idle()

    @property
    def value(self):
        return bool(self._level())

    @value.setter
    def value(self, level):
        self._drive(1 if level else 0)
