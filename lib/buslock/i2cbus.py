"""The methods of I2CBus that read_register does not need; the class loads them on first use."""

from ._rt import current_task, later, ticks_ms
from .errors import NoAck, NotCovered
from .faults import from_oserror
from .holding import left_of
from .i2c import I2CDevice
from .waitqueue import check_ms

METHODS = (
    "read_register_into",
    "write_register",
    "update_register",
    "scan",
    "recover",
    "mux",
    "_check_address",
    "_new_device",
    "_show",
    "_claim",
    "_every_device",
    "_refuse_address",
    "as_machine",
    "as_busio",
    "_scan_now",
    "_end_call",
    "_configure_for",
    "_configure_for_call",
    "_clean_now",
    "_check_aliases",
    "_take_aliases",
    "_probe",
    "_fault",
    "_clean",
    "_recorded",
)


def read_register_into(bus, addr, reg, buf, timeout_ms=None):
    """The short form of `bus.device(addr).read_register_into(reg, buf)`."""
    return bus._device_of(addr).read_register_into(reg, buf, timeout_ms)


def write_register(bus, addr, reg, data, repeatable=False, timeout_ms=None):
    """The short form of `bus.device(addr).write_register(reg, data)`."""
    return bus._device_of(addr).write_register(reg, data, repeatable, timeout_ms)


def update_register(bus, addr, reg, mask, value, timeout_ms=None):
    """The short form of `bus.device(addr).update_register(reg, mask, value)`."""
    return bus._device_of(addr).update_register(reg, mask, value, timeout_ms)


async def scan(bus, timeout_ms=None):
    """The addresses that answer, with the wire held for all of it."""
    bus._refuse_wire_holder("scan")
    await bus._open(None, timeout_ms)
    # Cancelled here: nothing is owned.
    return await bus._on_wire(None, timeout_ms, 0, _scan, bus)


def _scan(bus, _):
    if bus._backend is None:
        bus._refuse_closed()  # while this task cleaned it, or waited for the wire
    try:
        if bus._muxes:  # else it would show what is behind the channel that was used last
            if bus._channel is None:
                for mux in bus._muxes:
                    mux._forget()
            bus._channel = None
            for mux in bus._muxes:
                try:
                    mux._write(0)
                except NoAck:
                    pass  # it is not there, so nothing is behind it
        return list(bus._backend.scan())
    except OSError as error:
        raise bus._fault(error, None)


async def recover(bus, timeout_ms=None):
    """Free a stuck bus and make the peripheral anew; set-ups are due again. BusStuck if SDA or SCL stays low.

    Takes the wire only, so it works inside a hold. Needs `scl=` and `sda=` to clock the bus.
    """
    await later.recovery.recover(bus, timeout_ms)


def mux(bus, addr, channels=8):
    """A TCA9548A or the like at `addr`; `.channel(n)` behaves like a bus."""
    return later.mux.declare(bus, addr, channels)


def _show(bus, key):
    if isinstance(key, tuple):  # behind multiplexers: (multiplexer, channel, ..., address)
        return "".join(["0x%02x.%d/" % key[i : i + 2] for i in range(0, len(key) - 1, 2)]) + "0x%02x" % key[-1]
    return "0x%02x" % key


def _check_address(bus, addr):
    if type(addr) is not int:
        if isinstance(addr, I2CDevice):
            raise NotCovered("%s is on another bus than %s" % (addr._label(), bus.name))
        raise TypeError("%s: an address is an int or a device, not %r" % (bus.name, addr))
    if not 0 <= addr <= 0x7F:
        text = ": 10-bit addresses are not supported" if 0x7F < addr < 0x400 else ""
        raise ValueError("%s: address %s is not in 0..0x7f%s" % (bus.name, hex(addr), text))


def _new_device(bus, addr):
    bus._claim(addr)
    return GeneralCall(bus, addr) if addr == 0 else I2CDevice(bus, addr)


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

    def _due(self):
        self._main._due()

    def _failed_setup(self):
        self._main._failed_setup()

    def _i2c(self):
        return self._main._i2c()  # which opens the channel of a multiplexer

    def _read_register(self, reg, nbytes):
        self._i2c()
        return super()._read_register(reg, nbytes)


def _claim(home, addr):
    """A bus or a channel gets a chip at `addr`: ValueError where another one would answer too."""
    home._bus._check_address(addr)
    home._refuse_address(addr)
    for mux in home._muxes:
        mux._refuse_root(addr)


def _refuse_address(bus, addr):
    """Nothing is before the bus itself."""


def _every_device(bus):
    """Those behind multiplexers too."""
    homes = [bus]
    for home in homes:  # grows as it goes
        for device in home._devices.values():
            yield device
        for mux in home._muxes:
            homes += [channel for channel in mux._channels if channel is not None]


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


async def _probe(bus, me, timeout_ms):
    check_ms(timeout_ms)
    device = me._device
    device._permit()
    task = current_task()
    if me is not device:
        me._free()  # NotHeld after its block
        return await me._transfer(timeout_ms, 0, _acknowledges, device, None)
    if bus._table._hold_of(task, device._key) is not None:
        hold = bus._wire_hold
        mine = hold is not None and hold._task is task
        return await bus._on_wire(hold if mine else None, timeout_ms, 0, _acknowledges, device)
    bus._refuse_wire_holder(device._label())
    start = ticks_ms()
    await bus._open(None, timeout_ms)
    # The key without a set-up. Cancelled here: nothing is owned.
    async with bus._table.hold(device._key, left_of(timeout_ms, start)):
        return await bus._on_wire(None, left_of(timeout_ms, start), 0, _acknowledges, device)


def _acknowledges(device, _):
    if device._bus._backend is None:
        device._bus._refuse_closed()  # while this task cleaned it
    i2c = device._i2c()
    try:
        if hasattr(i2c, "scan_for"):
            return i2c.scan_for(device.address)
        i2c.writeto(device.address, b"")
        return True
    except OSError as error:
        fault = device._bus._fault(error, device)
        if isinstance(fault, NoAck):
            return False
        raise fault


def _fault(bus, error, device):
    """The BusError for an OSError of the port. A bus that may be stuck is looked at before the next transfer."""
    bus._transfer = False
    label = bus.name if device is None else device._label()
    fault = from_oserror(error, label)
    bus._count("nacks" if isinstance(fault, NoAck) else "errors")
    if bus._channel is not None:
        bus._channel = None  # what the multiplexer has open now is not known
    if not isinstance(fault, NoAck):
        bus._soil()
    return fault


def as_machine(bus):
    """An object with the methods of machine.I2C, for drivers that know nothing of this bus."""
    return later.i2cfacade.MachineI2C(bus)


def as_busio(bus):
    """An object with the methods of busio.I2C, for drivers that know nothing of this bus."""
    return later.i2cfacade.BusioI2C(bus)


def _scan_now(bus, home):
    return home._scan(None, None) if home is not bus else _scan(bus, None)


def _configure_for(bus, hold):
    """The wire is held for a driver of its own: the channel of its device is open."""
    if hold._devices is not None:
        hold._devices[0]._i2c()


def _configure_for_call(bus, device):
    device._i2c()


def _end_call(bus, device):
    bus._channel = None  # the driver may have switched a multiplexer
    if bus._open_call is not None:
        device, bus._open_call = bus._open_call, None
        bus._end_transfer(device)


def _clean_now(bus):
    if bus._unmade or bus._lines is not None and bus._lines.stuck(bus._unmade and bus._factory is not None) != "":
        return False
    bus._cleaned()
    return True


def _recorded(bus, i2c):
    """The peripheral of a bus with a trace."""
    return later.tracedi2c.recorded(bus._trace, i2c)


async def _clean(bus):
    """Called with the wire held, when something may be left on it."""
    await later.recovery.clean(bus)
