"""Channel: one channel of an I2C multiplexer, which behaves like a bus."""

from ._rt import later
from .i2c import I2CDevice
from .i2cbus import _claim
from .i2cverbs import as_busio, as_machine, read_register_into, update_register, write_register
from .mux import MuxDevice


class Channel:
    """Made by `bus.mux(addr).channel(n)`. Its devices are used like any other; addresses are those behind it."""

    read_register_into = read_register_into
    write_register = write_register
    update_register = update_register
    as_machine = as_machine
    as_busio = as_busio

    def __init__(self, owner, n):
        self._owner = owner
        self._bus = owner._bus
        self._n = n
        parent = owner._parent
        self._key = getattr(parent, "_key", ()) + (owner.address, n)
        self.name = "%s/0x%02x.%d" % (parent.name, owner.address, n)
        self._devices = {}
        self._muxes = ()

    def device(self, addr, setup=None, addrsize=8, retries=0, aliases=(), chunk=None):
        """Like I2CBus.device()."""
        device = self._device_of(addr)
        device._ask((setup, addrsize, retries, tuple(aliases), chunk))
        return device

    def mux(self, addr, channels=8):
        """A multiplexer behind this channel."""
        return later.mux.mux(self, addr, channels)

    def read_register(self, addr, reg, nbytes, timeout_ms=None):
        return self._device_of(addr).read_register(reg, nbytes, timeout_ms)

    def hold(self, *devices, timeout_ms=None, wire=False):
        """Like Bus.hold(), with addresses behind this channel."""
        if not devices:
            raise ValueError("%s: hold() needs a device; the whole bus is hold_all()" % self.name)
        hold = later.groups.GroupHold(self._bus, [self._device_of(device) for device in devices], timeout_ms, wire)
        hold._home = self
        return hold

    def call(self, device, function, *args, timeout_ms=None):
        """Like Bus.call(), with this channel open while `function` runs."""
        device = self._device_of(device)

        def opened():
            if self._bus._channel is not self:
                self._select()
            return function(*args)

        return self._bus.call(device, opened, timeout_ms=timeout_ms)

    async def scan(self, timeout_ms=None):
        """The addresses that answer behind this channel and not on the bus before it."""
        bus = self._bus
        bus._refuse_wire_holder("scan of " + self.name)
        await bus._open(None, timeout_ms)
        # Cancelled here: nothing is owned.
        return await bus._on_wire(None, timeout_ms, 0, self._scan, None)

    def _scan(self, _, __):
        bus = self._bus
        if bus._backend is None:
            bus._refuse_closed()  # while this task cleaned it, or waited for the wire
        try:
            self._select()
            found = bus._backend.scan()
            self._owner._write(0)
            before = bus._backend.scan()
        except OSError as error:
            raise bus._fault(error, None)
        finally:
            bus._channel = None
        return [addr for addr in found if addr not in before]

    def _select(self):
        """Open this channel and close every other; synchronous, with the wire held."""
        bus = self._bus
        way = []
        home = self
        while home is not bus:
            way.insert(0, home)
            home = home._owner._parent
        if bus._channel is None:
            for mux in bus._muxes:
                mux._forget()
        bus._channel = None  # until it is done, nothing is known
        home = bus
        for channel in way + [None]:
            for mux in home._muxes:
                if channel is None or mux is not channel._owner:
                    mux._write(0)
            if channel is not None:
                channel._owner._write(1 << channel._n)
                home = channel
        bus._channel = self

    def _device_of(self, addr):
        device = self._devices.get(addr)
        if device is None:
            if isinstance(addr, I2CDevice) and addr._bus is self._bus:
                return addr
            if addr == 0:
                raise ValueError("%s: the general call belongs to the whole bus: bus.hold_all()" % self.name)
            self._claim(addr)
            if addr in [mux.address for mux in self._muxes]:
                raise ValueError("%s: 0x%02x is a multiplexer: use its channels" % (self.name, addr))
            self._devices[addr] = device = MuxDevice(self, addr)
        return device

    def _claim(self, addr):
        _claim(self, addr)

    def _refuse_address(self, addr):
        """ValueError if a chip before this channel has the address: both would answer."""
        owner = self._owner
        parent = owner._parent
        if addr in parent._devices or addr in [mux.address for mux in parent._muxes]:
            raise ValueError(
                "%s: 0x%02x is in use before this multiplexer, and would answer too: change that chip's address"
                % (self.name, addr)
            )
        parent._refuse_address(addr)

    def _has(self, addr):
        """True if the address is in use behind this channel."""
        if addr in self._devices:
            return True
        for mux in self._muxes:
            if mux.address == addr or any(channel is not None and channel._has(addr) for channel in mux._channels):
                return True
        return False
