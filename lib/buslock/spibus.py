"""The methods of SPIBus that a transfer does not need; the class loads them on first use."""

from ._rt import later
from .chipselect import chip_select, pin_of
from .errors import NotCovered
from .owners import disown, own
from .spi import SPIDevice
from .spiconfig import check_chunk, check_config

METHODS = (
    "spibus _declare _device_of _session_of _show _forget _recorded ,"
    "spiconfig _configure _fault ,"
    "spihome _clean _clean_now _configure_for _configure_for_call _end_call _wire_left _idle_now "
)


def wrap(bus, spi):
    if not hasattr(spi, "write_readinto"):
        raise TypeError("%s: %r is neither a machine.SPI nor a busio.SPI" % (bus.name, spi))
    own(bus, spi)
    bus._native = None
    bus._awaits = getattr(spi, "awaitable", False)
    if not bus._awaits and hasattr(spi, "configure"):
        bus._awaits = later.busio_spi.awaits(spi)
        if bus._awaits:
            spi = later.asyncspi.AsyncSPI(spi)
        else:
            spi = later.busio_spi.BusioSPI(spi, bus)
            bus._native = spi.take
        if bus._take_over:
            bus._take_over = False
            spi.take_over()
    if bus._awaits:
        bus._native = _never
    bus._config = bus._polarity = None
    # First every chip select is driven idle.
    bus._soil()  # found now: after a failure there may be no memory for that
    for device in bus._devices.values():
        device._away = True
        device._plan()
    return spi


def _recorded(bus, spi):
    """The peripheral of a bus with a trace."""
    return later.tracedspi.recorded(bus, spi)


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
    device._owes = False  # room for the attribute: it is set before CS is driven idle
    device._chunk = chunk
    device._plan()
    if bus._trace is not None and drive is not None:
        device._cs = later.tracedspi.traced_cs(bus._trace, device)
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
    return later.spisession.SPISession(device, hold)


def _show(bus, key):
    return "cs%s" % key if isinstance(key, int) else str(key)
