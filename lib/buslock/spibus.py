"""The methods of SPIBus that a transfer does not need; the class loads them on first use."""

from .chipselect import chip_select
from .errors import NotCovered, TransferError
from .spi import SPIDevice

METHODS = (
    "_declare",
    "_device_of",
    "_session_of",
    "_show",
    "_configure",
    "_fault",
    "_clean",
    "_clean_now",
    "_configure_for_call",
    "_end_call",

    "_configure_for",
    "_wire_left",
    "_forget",
)

_owners = []  # (peripheral, bus): one bus object for one peripheral


def wrap(bus, spi):
    if not hasattr(spi, "write_readinto"):
        raise TypeError("%s: %r is neither a machine.SPI nor a busio.SPI" % (bus.name, spi))
    for other, owner in _owners:
        if other is spi and owner is not bus:
            raise ValueError(
                "%s: this SPI has a bus object already, %s: share that one, or aclose() it" % (bus.name, owner.name)
            )
    if not [owner for other, owner in _owners if other is spi]:
        _owners.append((spi, bus))
    if hasattr(spi, "try_lock"):
        from .busio_spi import BusioSPI

        spi = BusioSPI(spi)
        bus._native = spi.free
        if bus._take_over:
            bus._take_over = False
            spi.take_over()
    bus._awaits = getattr(spi, "awaitable", False)
    if bus._awaits:
        bus._native = _never
    bus._config = None
    bus._raw = None  # first every chip select is driven idle
    bus._dirty = True
    return spi


def _never():
    """A transfer that is a coroutine cannot take the fast way."""
    return False


def _forget(bus):
    """Closed: the peripheral may have another bus object now."""
    _owners[:] = [pair for pair in _owners if pair[1] is not bus]


def _declare(bus, cs, config, cs_active, pre_clocks, post_clocks, chunk, setup):
    check_config(bus, config)
    if cs_active not in (0, 1):
        raise ValueError("%s: cs_active is 0 or 1, not %r" % (bus.name, cs_active))
    for clocks in (pre_clocks, post_clocks):
        if type(clocks) is not int or clocks < 0 or clocks % 8:
            raise ValueError("%s: clocks come in multiples of 8, not %r" % (bus.name, clocks))
    if setup is not None and not callable(setup):
        raise TypeError("%s: setup is a coroutine function of the session" % bus.name)
    asked = (config, cs_active, pre_clocks, post_clocks, chunk, setup)
    for device in bus._devices.values():
        if device._given_cs == cs or device._pin is cs:
            if device._declared != asked:
                raise ValueError(
                    "%s is a device already with other arguments: one chip select, one device" % device._label()
                )
            return device
    name, pin, drive = chip_select(cs, cs_active)
    for device in bus._devices.values():
        if pin is None or device._pin is None:
            raise ValueError("%s: a device without a chip select must be alone on its bus" % bus.name)
        if device._pin is pin:
            raise ValueError("%s has that pin already: one chip select, one device" % device._label())
    if name is None:
        name = "alone"
    elif isinstance(name, str) and " at " in name or name in bus._devices:
        name = "cs no. %d" % (len(bus._devices) + 1)  # a pin whose repr tells nothing
    key = name
    device = SPIDevice(bus, key, drive, config, cs_active, chunk, setup)
    device._declared = asked
    device._pin = pin
    device._given_cs = cs
    if pre_clocks or post_clocks:
        from .spiclocks import clocked

        device._section = clocked(device, pre_clocks // 8, post_clocks // 8)
    bus._devices[key] = device
    bus._soil()  # its chip select is driven idle before the next transfer
    return device


def check_config(bus, config):
    baudrate, polarity, phase, bits, _ = config
    if type(baudrate) is not int or baudrate <= 0:
        raise ValueError("%s: baudrate is Hz, an int above 0, not %r" % (bus.name, baudrate))
    if polarity not in (0, 1) or phase not in (0, 1):
        raise ValueError("%s: polarity and phase are 0 or 1, not %r and %r" % (bus.name, polarity, phase))
    if type(bits) is not int or not 1 <= bits <= 32:
        raise ValueError("%s: bits is 8, or what the port can do, not %r" % (bus.name, bits))


def _device_of(bus, device):
    if isinstance(device, SPIDevice):
        if device._bus is not bus:
            raise NotCovered("%s is on another bus than %s" % (device._label(), bus.name))
        return device
    for known in bus._devices.values():
        if known._given_cs == device or known._pin is device:
            return known
    raise TypeError("%s: %r is no device of it: make one with %s.device(cs)" % (bus.name, device, bus.name))


def _session_of(bus, device, hold):
    from .spisession import SPISession

    return SPISession(device, hold)


def _show(bus, key):
    return "cs%s" % key if isinstance(key, int) else str(key)


def _configure(bus, config):
    """Apply it, with every CS idle: chips sample the idle clock when CS falls (MAX31865 data sheet, among others)."""
    spi = bus._backend
    baudrate, polarity, phase, bits, firstbit = config
    old = bus._config
    bus._config = None  # until it is done, nothing is known
    try:
        if firstbit is None:
            spi.init(baudrate=baudrate, polarity=polarity, phase=phase, bits=bits)
        else:
            spi.init(baudrate=baudrate, polarity=polarity, phase=phase, bits=bits, firstbit=firstbit)
        if (old is None or old[1] != polarity) and bits == 8 and not bus._awaits:
            spi.write(b"\xff")  # some ports move the clock to its new idle level with the first transfer only
    except OSError as error:
        raise bus._fault(error, None)
    if bus._native is None:  # else code outside may set another one whenever the native lock is free
        bus._config = config


def _fault(bus, error, device):
    bus._count("errors")
    if isinstance(error, TransferError):
        return error
    number = error.args[0] if error.args and isinstance(error.args[0], int) else 0
    label = bus.name if device is None else device._label()
    bus._config = None
    if device is not None:
        device._due()
    return TransferError(number, "%s: the transfer failed (%s): check speed, wiring and power" % (label, error))


def _configure_for_call(bus, device):
    if bus._config != device._config:
        bus._configure(device._config)


def _end_call(bus, device):
    """CS idle again; what the driver has set is not known."""
    bus._config = None
    cs = device._cs
    if cs is not None and cs() == device._active:
        bus._count("left_selected")
        try:
            cs(1 - device._active)
        except Exception:
            bus._soil()


async def _clean(bus):
    """Called with the wire held, before the first transfer and when a pin could not be driven."""
    bus._clean_now()


def _clean_now(bus):
    bus._config = None
    for device in bus._devices.values():
        if device._cs is not None:
            device._cs(1 - device._active)
    bus._dirty = False
    bus._raw = bus._backend
    return True


def _configure_for(bus, hold):
    """A hold takes the wire for a driver that moves CS itself."""
    device = hold._devices[0]
    if bus._config != device._config:
        bus._configure(device._config)


def _wire_left(bus, hold):
    """The end of a hold with the wire: CS must be idle. What the driver set is not known."""
    if hold._ours:
        return
    bus._config = None
    for device in hold._devices or bus._devices.values():
        cs = device._cs
        if cs is not None and cs() == device._active:
            bus._count("left_selected")
            hold._left = device
            try:
                cs(1 - device._active)
            except Exception:
                bus._soil()
