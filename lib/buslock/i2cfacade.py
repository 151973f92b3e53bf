"""Look-alikes of machine.I2C and busio.I2C over an I2CBus, whichever of the two it has."""

from ._rt import task_name
from .errors import NotCovered
from .facade import LookAlike, enter, leave, lock_now, part, unlock_now
from .native import NativeLocked

_END = (1 << 30) - 1


class I2CLookAlike(LookAlike):
    def __init__(self, home):
        super().__init__(home._bus)
        self._home = home  # the bus or the multiplexer channel whose addresses are meant

    def _device(self, addr):
        return self._home._device_of(addr)

    def _do(self, addr, function, *args):
        """function(i2c, address, ...) for one transfer with STOP."""
        device = self._device(addr)
        self._enter(device)
        try:
            return self._transfer(device, _run, device, function, addr, args)
        finally:
            self._stopped()

    def _stopped(self):
        """The transfer had a STOP, so the wire is free again where only a write without STOP kept it."""
        bus = self._bus
        bus._open_call = None
        hold = bus._wire_hold
        if hold is not None and hold._open is not None:
            hold._open = None
            if not hold.wire and bus._locks is None:
                bus._leave_wire(hold)

    def _write(self, addr, buf, stop):
        bus = self._bus
        device = self._device(addr)
        hold = self._enter(device)
        alone = hold is None and bus._wire._holder is None
        if stop or alone or bus._native is not None:
            # busio always sends STOP; and without a hold nobody would keep the wire until the next transfer.
            try:
                return self._transfer(device, _run, device, _writeto, addr, (buf,))
            finally:
                self._stopped()
        # Found now: when it is given back there may be no memory for that.
        bus._end_transfer, bus._keep_wire  # noqa: B018
        if bus._wire._holder is None:
            bus._wire.try_acquire()
            bus._wire_hold = hold
        if bus._wire_hold is not None:
            bus._wire_hold._open = device  # its end makes the STOP if the driver does not
        else:
            bus._open_call = device  # so do bus.call() and unlock()
        return self._transfer(device, _run, device, _writeto, addr, (buf, False))

    def scan(self):
        """The addresses that answer. Without the wire only while no other task has a hold; with it as bus.scan() does,
        which disturbs nobody's key."""
        bus = self._bus
        task = self._check_wire("scan of " + bus.name)
        if bus._wire._holder is None:
            for hold in bus._table._holds():
                if hold._task is not task:
                    raise NotCovered(
                        "scan of %s: %s is held by task '%s': use `await bus.scan()` or bus.call()"
                        % (bus.name, hold._label(), task_name(hold._task))
                    )
        self._prepare("scan of " + bus.name, bus._table._any_hold_of(task) is not None)
        bus._transfer = True
        try:
            return list(bus._scan_now(self._home))
        except NativeLocked:
            raise NotCovered("scan of %s: code outside has its native lock (try_lock)" % bus.name)
        finally:
            bus._transfer = False
            self._stopped()


class MachineI2C(I2CLookAlike):
    """machine.I2C."""

    def init(self, *args, **kwargs):
        """Nothing: the bus has its speed and pins."""

    def readfrom(self, addr, nbytes, stop=True):
        return self._do(addr, lambda i2c, addr: i2c.readfrom(addr, nbytes))

    def readfrom_into(self, addr, buf, stop=True):
        self._do(addr, lambda i2c, addr: i2c.readfrom_into(addr, buf))

    def writeto(self, addr, buf, stop=True):
        acks = self._write(addr, buf, stop)
        return len(buf) if acks is None else acks

    def writevto(self, addr, vector, stop=True):
        data = bytearray()
        for buf in vector:
            data.extend(buf)
        return self.writeto(addr, data, stop)

    def readfrom_mem(self, addr, memaddr, nbytes, *, addrsize=8):
        return self._do(addr, lambda i2c, addr: i2c.readfrom_mem(addr, memaddr, nbytes, **_size(addrsize)))

    def readfrom_mem_into(self, addr, memaddr, buf, *, addrsize=8):
        self._do(addr, lambda i2c, addr: i2c.readfrom_mem_into(addr, memaddr, buf, **_size(addrsize)))

    def writeto_mem(self, addr, memaddr, buf, *, addrsize=8):
        if self._bus._native is None:
            self._do(addr, lambda i2c, addr: i2c.writeto_mem(addr, memaddr, buf, **_size(addrsize)))
        else:
            self._write(addr, memaddr.to_bytes(addrsize // 8, "big") + bytes(buf), True)

    def _primitive(self, *args, **kwargs):
        raise OSError("I2C operation not supported")  # as the hardware peripherals say

    start = stop = readinto = write = _primitive


class BusioI2C(I2CLookAlike):
    """busio.I2C."""

    __enter__ = enter
    __exit__ = leave
    try_lock = lock_now
    unlock = unlock_now

    def readfrom_into(self, address, buffer, *, start=0, end=_END):
        buf = part(buffer, start, end)
        self._do(address, lambda i2c, addr: i2c.readfrom_into(addr, buf))

    def writeto(self, address, buffer, *, start=0, end=_END):
        self._write(address, part(buffer, start, end), True)

    def writeto_then_readfrom(
        self, address, out_buffer, in_buffer, *, out_start=0, out_end=_END, in_start=0, in_end=_END
    ):
        out = part(out_buffer, out_start, out_end)
        into = part(in_buffer, in_start, in_end)
        self._do(address, write_then_read, out, into)

    def probe(self, address):
        try:
            self._write(address, b"", True)
        except OSError:
            return False
        return True


def _run(device, function, addr, args):
    return function(device._i2c(), addr, *args)  # behind a multiplexer its channel is opened here


def _writeto(i2c, addr, *args):
    return i2c.writeto(addr, *args)


def _size(addrsize):
    """The ESP8266 knows no addrsize."""
    return {} if addrsize == 8 else {"addrsize": addrsize}


def write_then_read(i2c, addr, out, into):
    if hasattr(i2c, "write_then_readinto"):
        i2c.write_then_readinto(addr, out, into)
    elif len(out) == 1:
        i2c.readfrom_mem_into(addr, out[0], into)
    elif 0 < len(out) <= 4:
        # One call, atomic on every port; esp32 sends STOP after a plain write whatever it is told.
        i2c.readfrom_mem_into(addr, int.from_bytes(bytes(out), "big"), into, addrsize=8 * len(out))
    else:
        i2c.writeto(addr, out, False)
        i2c.readfrom_into(addr, into)
