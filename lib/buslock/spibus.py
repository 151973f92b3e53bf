"""The methods of SPIBus that a transfer does not need; the class loads them on first use."""

from .chipselect import chip_select, pin_of
from .errors import NotCovered, Reentry, TransferError
from .native import NativeLocked
from .owners import disown, own
from .spi import SPIDevice
from .spichunks import check_chunk

METHODS = (
    "_declare",
    "_device_of",
    "_session_of",
    "_show",
    "_configure",
    "_fault",
    "_clean",
    "_clean_now",
    "_configure_for",
    "_configure_for_call",
    "_end_call",
    "_wire_left",
    "_idle_now",
    "_forget",
)


def wrap(bus, spi):
    if not hasattr(spi, "write_readinto"):
        raise TypeError("%s: %r is neither a machine.SPI nor a busio.SPI" % (bus.name, spi))
    own(bus, spi)
    bus._native = None
    bus._awaits = getattr(spi, "awaitable", False)
    if not bus._awaits and hasattr(spi, "configure"):
        from .busio_spi import BusioSPI, awaits

        bus._awaits = awaits(spi)
        if bus._awaits:
            from .asyncspi import AsyncSPI

            spi = AsyncSPI(spi)
        else:
            spi = BusioSPI(spi, bus)
            bus._native = spi.take
        if bus._take_over:
            bus._take_over = False
            spi.take_over()
    if bus._awaits:
        bus._native = _never
    bus._config = bus._polarity = None
    # First every chip select is driven idle.
    bus._raw = None
    bus._dirty = True
    for device in bus._devices.values():
        device._away = True
        device._plan()
    return spi


def _never():
    """A transfer that is a coroutine cannot take the fast way."""
    return False


def _forget(bus):
    """Closed: the peripheral may have another bus object now."""
    disown(bus)
    if bus._backend is not None:
        bus._soil()


# Devices


def _declare(bus, cs, config, cs_active, pre_clocks, post_clocks, chunk, setup):
    check_config(bus, config)
    if cs_active not in (0, 1):
        raise ValueError("%s: cs_active is 0 or 1, not %r" % (bus.name, cs_active))
    for clocks in (pre_clocks, post_clocks):
        if type(clocks) is not int or clocks < 0 or clocks % 8 or clocks and cs is None:
            raise ValueError("%s: clocks come in multiples of 8, around a chip select; not %r" % (bus.name, clocks))
    if setup is not None and not callable(setup):
        raise TypeError("%s: setup is a coroutine function of the session" % bus.name)
    check_chunk(bus.name, chunk)
    asked = (config, cs_active, pre_clocks, post_clocks, chunk, setup)
    device = find(bus, cs)
    if device is None:
        if bus._devices and (cs is None or "alone" in bus._devices):
            raise ValueError("%s: a device without a chip select must be alone on its bus" % bus.name)
        name, pin, drive = chip_select(cs, cs_active)
        device = find(bus, pin) if pin is not None else None
    if device is not None:
        if device._declared != asked:
            raise ValueError(
                "%s is a device already with other arguments: one chip select, one device" % device._label()
            )
        return device
    if name is None:
        name = "alone"
    elif isinstance(name, str) and " at " in name or name in bus._devices:
        name = "cs no. %d" % (len(bus._devices) + 1)  # a pin whose repr tells nothing
    device = SPIDevice(bus, name, drive, config, cs_active, setup)
    device._declared = asked
    device._pin = pin
    device._given_cs = cs
    device._pre = pre_clocks // 8
    device._post = post_clocks // 8
    device._chunk = chunk
    device._plan()
    bus._devices[name] = device
    bus._soil()  # its chip select, and no other, is driven idle before the next transfer
    return device


def find(bus, cs):
    """The device with that chip select; None."""
    for device in bus._devices.values():
        given = device._given_cs
        if given is cs or type(given) is type(cs) and given == cs or cs is not None and device._pin is cs:
            return device
    return None


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
    known = find(bus, device)
    if known is None and isinstance(device, int):
        pin = pin_of(device)
        known = None if pin is None else find(bus, pin)
    if known is None:
        raise TypeError("%s: %r is no device of it: make one with %s.device(cs)" % (bus.name, device, bus.name))
    return known


def _session_of(bus, device, hold):
    from .spisession import SPISession

    return SPISession(device, hold)


def _show(bus, key):
    return "cs%s" % key if isinstance(key, int) else str(key)


# Configuration


def _configure(bus, config):
    """Apply it, with every CS idle: chips sample the idle clock when CS falls (MAX31865 data sheet, among others)."""
    spi = bus._backend
    bus._config = None  # until it is done, nothing is known
    try:
        initialise(bus, spi, config)
        if config[1] != bus._polarity and config[3] == 8 and "alone" not in bus._devices:
            spi.write(b"\xff")  # some ports move the clock to its new idle level with the first transfer only
            bus._polarity = config[1]
    except OSError as error:
        raise bus._fault(error, None)
    bus._config = config


def initialise(bus, spi, config):
    """Result of spi.init(), with the arguments that this port takes."""
    baudrate, polarity, phase, bits, firstbit = config
    more = {}
    ordered = bus._ordered
    if firstbit is not None or ordered:
        # What init() is not told stays as it was.
        more["firstbit"] = spi.MSB if firstbit is None else firstbit
        bus._ordered = True
    try:
        if bits == 8 and not bus._words:
            return spi.init(baudrate=baudrate, polarity=polarity, phase=phase, **more)
        try:
            return spi.init(baudrate=baudrate, polarity=polarity, phase=phase, bits=bits, **more)
        except TypeError:
            if bits != 8:
                raise
        result = spi.init(baudrate=baudrate, polarity=polarity, phase=phase, **more)
        bus._words = False  # SoftSPI and esp8266 have words of 8 bits only
        return result
    except (NotImplementedError, TypeError, ValueError):
        bus._ordered = ordered  # it was refused
        raise


def _fault(bus, error, device):
    if isinstance(error, TransferError):
        return error
    bus._count("errors")
    bus._config = None
    if device is not None:
        device._failed_setup()
    return TransferError(
        error.args[0] if error.args and isinstance(error.args[0], int) else 0,
        "%s: the transfer failed (%s): check speed, wiring and power"
        % (bus.name if device is None else device._label(), error),
    )


# The wire, before and after


async def _clean(bus):
    """Called with the wire held: what may be active is driven idle, and cards get the clocks that they wait for.

    Cancelled in here: still dirty.
    """
    own(bus, bus._owned)
    drive_home(bus)
    for device in debtors(bus):
        from .spisection import pay

        paid = pay(device)
        if paid is not None:
            await paid
    drive_home(bus)  # a device may have been declared meanwhile
    bus._dirty = False
    bus._raw = bus._backend


def _clean_now(bus):
    """Clean without waiting; False if that takes more."""
    drive_home(bus)
    for device in debtors(bus):
        from .spisection import pay

        if bus._awaits:
            return False
        try:
            pay(device)
        except NativeLocked:
            return False
    bus._dirty = False
    bus._raw = bus._backend
    return True


def drive_home(bus):
    for device in bus._devices.values():
        if device._away:
            if device._cs is not None:
                try:
                    device._cs(1 - device._active)
                except BaseException as error:
                    raise device._astray(error)
            device._away = False


def debtors(bus):
    return [device for device in bus._devices.values() if device._owes]


def _idle_now(bus):
    """Every chip select, whoever has the bus; what fails is driven again before the next transfer."""
    for device in bus._devices.values():
        device._away = True
        device._owes = device._post > 0
        try:
            if device._cs is not None:
                device._cs(1 - device._active)
        except Exception:
            pass


def _configure_for(bus, hold):
    """The wire was taken for a hold: what its driver or its selection needs is set. On awaited buses a coroutine."""
    from . import spisection

    if hold._selected is None:
        return spisection.configure(hold._devices[0])
    return spisection.activate(hold._selected)


def _configure_for_call(bus, device):
    """For a driver that moves CS itself."""
    from .spisection import configure

    if bus._wire_hold is not None and bus._wire_hold._selected is not None:
        raise Reentry("%s is selected: end the selection, and then call a driver" % device._label())
    return configure(device)


def _end_call(bus, device):
    """True if the driver left CS active."""
    return left_active(bus, device)


def _wire_left(bus, hold):
    """The end of a hold with the wire."""
    for device in hold._devices or bus._devices.values():
        if left_active(bus, device):
            hold._left = device


def left_active(bus, device):
    """A driver had the wire: CS must be idle, and is now; what it has set is not known."""
    bus._config = bus._polarity = None
    cs = device._cs
    try:
        if cs is None or cs() != device._active:
            return False
        bus._count("left_selected")
        device._owes = device._post > 0
        cs(1 - device._active)
        if device._owes:
            bus._soil()
    except BaseException as error:
        device._astray(error)
        if not isinstance(error, Exception):
            raise
        return False
    return True
