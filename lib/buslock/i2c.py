"""I2CBus, its devices, and the sessions of their holds."""

from ._rt import current_task
from .bus import Bus
from .device import Device
from .errors import BusError, NotCovered
from .faults import from_oserror
from .holds import over
from .waitqueue import check_ms


class Operations:
    """What a device and its session can do. A session has the key; a device's operation takes it for itself.

    Every operation is one transfer that nobody comes between. `timeout_ms` bounds the waiting for the key, the wire
    and the set-up. Raises LockTimeout, BusClosed, NoAck, BusStuck, TransferError.
    """

    async def read_register(self, reg, nbytes, timeout_ms=None):
        """`nbytes` bytes from register `reg`."""
        device = self._device
        if not 0 <= reg <= device._last_register or nbytes < 1:
            device._refuse(reg, nbytes)
        if timeout_ms is None and self._free():
            return device._read_register(reg, nbytes)
        return await self._slow(timeout_ms, True, device._read_register, reg, nbytes)

    async def read_register_into(self, reg, buf, timeout_ms=None):
        """Fill `buf` from register `reg`."""
        device = self._device
        if not 0 <= reg <= device._last_register:
            device._refuse(reg, 1)
        writable(buf)
        if timeout_ms is None and self._free():
            return device._read_register_into(reg, buf)
        return await self._slow(timeout_ms, True, device._read_register_into, reg, buf)

    async def write_register(self, reg, data, repeatable=False, timeout_ms=None):
        """Write an int 0..255 or a buffer to register `reg`. `repeatable`: may be tried again after an error."""
        device = self._device
        if not 0 <= reg <= device._last_register:
            device._refuse(reg, 1)
        data = readable(data)
        if timeout_ms is None and self._free():
            return device._write_register(reg, data)
        return await self._slow(timeout_ms, repeatable, device._write_register, reg, data)

    async def update_register(self, reg, mask, value, timeout_ms=None):
        """Set the bits of `mask` in an 8-bit register to those of `value`, the wire kept over both. The new value."""
        device = self._device
        if not 0 <= reg <= device._last_register:
            device._refuse(reg, 1)
        byte(mask)
        byte(value)
        if timeout_ms is None and self._free():
            return device._update_register(reg, (mask, value))
        return await self._slow(timeout_ms, False, device._update_register, reg, (mask, value))


class I2CSession(Operations):
    """The operations of a device for the time of a hold, without locking again. Any task may use it."""

    def __init__(self, device, hold):
        self._device = device
        self._hold = hold

    def _free(self):
        bus = self._device._bus
        hold = self._hold
        if hold._task is None or hold._epoch is not bus._epoch:
            raise over(hold)
        return bus._raw is not None and bus._wire._holder is None

    async def _slow(self, timeout_ms, repeatable, function, a, b):
        self._free()
        check_ms(timeout_ms)
        device = self._device
        return await device._run(self._hold, timeout_ms, repeatable, function, a, b)


class I2CDevice(Operations, Device):
    """One address. Made by `bus.device(addr)`."""

    def __init__(self, bus, address):
        self._bus = bus
        self._device = self
        self.address = address
        self._key = address
        self._declared = None
        self._configure(*_DEFAULTS)

    def _configure(self, setup, addrsize, retries, aliases, chunk):
        self._setup = setup
        self._ready = setup is None
        self._addrsize = addrsize
        self._last_register = (1 << addrsize) - 1
        self._retries = retries
        self._aliases = aliases
        self._chunk = chunk
        self._plain = retries == 0 and chunk is None  # its operations may take the fast path

    def _free(self):
        """True if nobody has the key or the wire: a transfer that does not wait then needs neither."""
        bus = self._bus
        table = bus._table
        return (
            bus._raw is not None
            and bus._wire._holder is None
            and not table._shut
            and self._key not in table._entries
            and self._plain
            and self._ready
        )

    async def _slow(self, timeout_ms, repeatable, function, a, b):
        check_ms(timeout_ms)
        bus = self._bus
        task = current_task()
        hold = bus._wire_hold
        if bus._covers(task, self._key):
            # Under the task's own hold.
            if not self._ready:
                await self._make_ready(timeout_ms)
            if hold is not None and hold._task is not task:
                hold = None
            return await self._run(hold, timeout_ms, repeatable, function, a, b)
        # Cancelled here: nothing is owned.
        async with self.hold(timeout_ms) as session:
            return await self._run(session._hold, timeout_ms, repeatable, function, a, b)

    async def _run(self, hold, timeout_ms, repeatable, function, a, b):
        bus = self._bus
        tries = self._retries if repeatable else 0
        try:
            return await bus._on_wire(hold, timeout_ms, tries, function, a, b)
        except BusError:
            self._due()
            raise

    def _refuse(self, reg, nbytes):
        if type(reg) is not int:
            raise TypeError("%s: a register is an int, not %r" % (self._label(), reg))
        if not 0 <= reg <= self._last_register:
            raise ValueError(
                "%s: register %d does not fit addrsize=%d (0..0x%x)"
                % (self._label(), reg, self._addrsize, self._last_register)
            )
        raise ValueError("%s: cannot read %r bytes; at least 1" % (self._label(), nbytes))

    # The transfers themselves: synchronous, so that nothing comes between

    def _read_register(self, reg, nbytes):
        bus = self._bus
        try:
            if self._addrsize == 8:
                return bus._backend.readfrom_mem(self.address, reg, nbytes)
            return bus._backend.readfrom_mem(self.address, reg, nbytes, addrsize=self._addrsize)
        except OSError as error:
            raise self._failed(error)

    def _read_register_into(self, reg, buf):
        bus = self._bus
        try:
            if self._addrsize == 8:
                bus._backend.readfrom_mem_into(self.address, reg, buf)
            else:
                bus._backend.readfrom_mem_into(self.address, reg, buf, addrsize=self._addrsize)
        except OSError as error:
            raise self._failed(error)

    def _write_register(self, reg, data):
        bus = self._bus
        try:
            if self._addrsize == 8:
                bus._backend.writeto_mem(self.address, reg, data)
            else:
                bus._backend.writeto_mem(self.address, reg, data, addrsize=self._addrsize)
        except OSError as error:
            raise self._failed(error)

    def _update_register(self, reg, mask_value):
        mask, value = mask_value
        old = self._read_register(reg, 1)[0]
        new = old & ~mask | value & mask
        self._write_register(reg, bytes((new,)))
        return new

    def _failed(self, error):
        """The BusError to raise for an OSError of the port."""
        bus = self._bus
        bus._counts["errors"] += 1
        return from_oserror(error, self._label())


_DEFAULTS = (None, 8, 0, (), None)


class I2CBus(Bus):
    """A `machine.I2C`, `SoftI2C` or `busio.I2C` that tasks share, or a function that makes one on first use."""

    def __init__(self, i2c, name=None, close=None, scl=None, sda=None, max_waiters=None, trace=None):
        self._scl = scl
        self._sda = sda
        super().__init__(i2c, name or "i2c", close, max_waiters, trace)

    def device(self, addr, setup=None, addrsize=8, retries=0, aliases=(), chunk=None):
        """The device at a 7-bit address."""
        check_address(addr)
        device = self._implicit(addr)
        asked = (setup, addrsize, retries, tuple(aliases), chunk)
        if asked == _DEFAULTS and device._declared is not None:
            return device
        if device._declared is None:
            if addrsize not in (8, 16, 24, 32):
                raise ValueError("addrsize is 8, 16, 24 or 32 bits, not %r" % (addrsize,))
            device._configure(*asked)
            device._declared = asked
        elif device._declared != asked:
            raise ValueError(
                "%s is declared already with other arguments; declare it once and share the object" % device._label()
            )
        return device

    def _implicit(self, addr):
        device = self._devices.get(addr)
        if device is None:
            self._devices[addr] = device = I2CDevice(self, addr)
        return device

    def _device_of(self, device):
        if isinstance(device, I2CDevice):
            if device._bus is not self:
                raise NotCovered("%s is on another bus than %s" % (device._label(), self.name))
            return device
        check_address(device)
        return self._implicit(device)

    def _session_of(self, device, hold):
        return I2CSession(device, hold)

    def _label(self, key):
        return "%s/0x%02x" % (self.name, key) if isinstance(key, int) else "%s/%s" % (self.name, key)

    # Short forms

    def read_register(self, addr, reg, nbytes, timeout_ms=None):
        return self._device_of(addr).read_register(reg, nbytes, timeout_ms)

    def read_register_into(self, addr, reg, buf, timeout_ms=None):
        return self._device_of(addr).read_register_into(reg, buf, timeout_ms)

    def write_register(self, addr, reg, data, repeatable=False, timeout_ms=None):
        return self._device_of(addr).write_register(reg, data, repeatable, timeout_ms)

    def update_register(self, addr, reg, mask, value, timeout_ms=None):
        return self._device_of(addr).update_register(reg, mask, value, timeout_ms)

    def _wrap(self, peripheral):
        if hasattr(peripheral, "try_lock"):
            from .busio_i2c import BusioI2C

            return BusioI2C(peripheral)
        if not hasattr(peripheral, "readfrom_mem"):
            raise TypeError(
                "%s: %r is neither a machine.I2C nor a busio.I2C; pass one, or a function that makes one"
                % (self.name, peripheral)
            )
        return peripheral


def check_address(addr):
    if type(addr) is not int:
        raise TypeError("an I2C address is an int, not %r" % (addr,))
    if not 0 <= addr <= 0x7F:
        raise ValueError(
            "I2C address %s is not in 0..0x7f%s"
            % (hex(addr), ": 10-bit addresses are not supported" if 0x7F < addr < 0x400 else "")
        )


def byte(value):
    if type(value) is not int:
        raise TypeError("a byte is an int, not %r" % (value,))
    if not 0 <= value <= 255:
        raise ValueError("a byte is 0..255, not %d" % value)


def readable(data):
    """Bytes to send for an int 0..255 or a buffer that is not empty."""
    if isinstance(data, int):
        byte(data)
        return bytes((data,))
    if isinstance(data, str):
        raise TypeError("data is an int or a buffer such as bytes, not a string: encode it first")
    if not len(data):
        raise ValueError("there is no data to write")
    return data


def writable(buf):
    if not len(buf):
        raise ValueError("the buffer is empty")
    buf[0] = buf[0]  # TypeError for bytes and other read-only buffers, before anything is sent
