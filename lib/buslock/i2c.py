"""I2CBus and its devices."""

from ._rt import later
from .bus import Bus
from .device import Device


class I2CBus(Bus):
    """A `machine.I2C`, `SoftI2C` or `busio.I2C` that tasks share, or a function that makes one on first use.

    `scl` and `sda` (Pin or number) let it free a stuck bus. `close(i2c)` ends what the function made; without it,
    its `deinit()` does. `max_waiters` bounds the line of each address.
    """

    _directories = ("i2cbus", "busmore")
    _lines = None
    _muxes = ()
    _gave_up = None  # the BusStuck that the last recovery ended with
    _channel = None  # the multiplexer channel that is open

    def __init__(self, i2c, name=None, close=None, scl=None, sda=None, max_waiters=None, trace=None):
        super().__init__(i2c, name or "i2c", close, max_waiters, trace)
        if scl is not None or sda is not None:
            self._lines = later.recovery.Lines(scl, sda)

    def device(self, addr, setup=None, addrsize=8, retries=0, aliases=(), chunk=None):
        """The device at a 7-bit address: one object; asking with other arguments is a ValueError.

        `setup(session)`: coroutine, run once before the first use. `addrsize`: bits of a register address.
        `retries`: how often what may be repeated is tried again. `aliases`: other addresses of the same chip.
        `chunk`: longer writes and reads are cut at multiples of it.
        """
        device = self._device_of(addr)
        device._ask((setup, addrsize, retries, tuple(aliases), chunk))
        return device

    def _device_of(self, addr):
        device = self._devices.get(addr)
        if device is None:
            if isinstance(addr, I2CDevice) and addr._bus is self:
                return addr
            if type(addr) is int and 0 < addr <= 0x7F and not self._muxes:
                device = I2CDevice(self, addr)
            else:
                device = self._new_device(addr)
            self._devices[addr] = device
        return device

    def _session_of(self, device, hold):
        return later.session.session(device, hold)

    def _wrap(self, peripheral):
        if hasattr(peripheral, "try_lock"):
            peripheral = later.busio_i2c.BusioI2C(peripheral)
            self._native = peripheral.free
            if self._take_over:
                self._take_over = False
                peripheral.take_over()
        elif not hasattr(peripheral, "readfrom_mem"):
            raise TypeError("%s: %r is neither a machine.I2C nor a busio.I2C" % (self.name, peripheral))
        return peripheral

    def read_register(self, addr, reg, nbytes, timeout_ms=None):
        """The short form of `bus.device(addr).read_register(reg, nbytes)`."""
        return self._device_of(addr).read_register(reg, nbytes, timeout_ms)


class Operations:
    """What a device and its session can do. A session has the key; a device's operation takes it for itself.

    Every operation is one transfer that nobody comes between. `timeout_ms` bounds the waiting for the key, the wire
    and the set-up. Raises LockTimeout, BusClosed, NoAck, BusStuck, TransferError.
    """

    async def read_register(self, reg, nbytes, timeout_ms=None):
        """`nbytes` bytes from register `reg`."""
        device = self._device
        if reg & device._beyond or nbytes & -1 < 1:  # `&` refuses floats, too
            device._refuse(reg, nbytes)
        if timeout_ms is None and self._free():
            try:
                return device._read_register(reg, nbytes)
            except OSError as error:
                raise device._failed(error)
            finally:
                device._bus._transfer = False
        return await self._slow(timeout_ms, True, device._read_checked, reg, nbytes)


class I2CDevice(Operations, Device):
    """One address. Made by `bus.device(addr)`."""

    _directories = ("i2cmore", "devicemore")
    read_register = Operations.read_register  # found sooner here than in a base, and so are these
    _free = Device._free
    _plain = _ready = True
    _declared = (None, 8, 0, (), None)  # the arguments of bus.device()
    _explicit = False  # bus.device() has been called for it
    _last_register = 0xFF
    _beyond = ~0xFF  # the bits that no register address has
    _addrsize = 8
    _retries = 0
    _chunk = None

    def __init__(self, bus, address):
        self._bus = bus
        self._device = self
        self.address = self._key = address

    def _ask(self, arguments):
        """bus.device() was called for it."""
        if arguments != self._declared and arguments != I2CDevice._declared:
            self._declare(arguments)
        self._explicit = True

    def _slow(self, timeout_ms, repeatable, function, a, b):
        if self._retries:
            return self._retrying(timeout_ms, self._retries if repeatable else 0, function, a, b)
        return self._bus._with_key(self, timeout_ms, 0, function, a, b)

    def _read_checked(self, reg, nbytes):
        try:
            return self._read_register(reg, nbytes)
        except OSError as error:
            raise self._failed(error)

    def _read_register(self, reg, nbytes):
        # Few locals and no try: a frame of more than 11 words is allocated on MicroPython's heap.
        if self._addrsize != 8:
            return self._read_wide(reg, nbytes)
        bus = self._bus
        bus._transfer = True
        return bus._backend.readfrom_mem(self.address, reg, nbytes)
