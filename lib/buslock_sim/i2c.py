"""machine.I2C and machine.SoftI2C on a simulated wire."""

from .arguments import integer, new_buffer, os_error, positional, readable, writable
from .errors import Fault
from .ports import MACHINE, find

# What a port's readfrom_mem returns in place of data when the chip refuses the register: memory nobody has written.
GARBAGE = 0xA5


class I2C:
    """I2C(wire, port="rp2", freq=400_000): the methods, argument rules and errors of machine.I2C on that port.

    wire stands for the number and the pins of a real I2C. As on the ports, most arguments go by position only, the
    methods a port cannot do raise OSError, and only some ports have init() and deinit() (deinit=True gives it, as
    MicroPython after 1.28 does). freq in Hz, timeout in us.
    """

    def __init__(self, wire, port="rp2", *, freq=400000, timeout=None, deinit=None):
        port = find(port, MACHINE, "BusioI2C")
        self.wire = wire
        self.port = port
        self.soft = port.soft
        self.limit_us = port.limit_us if timeout is None else integer(timeout)
        self._set_freq(freq)
        if port.deinit if deinit is None else deinit:
            self.deinit = self._deinit
        wire.take_back()

    def __repr__(self):
        return "I2C(%s, freq=%d, port=%s)" % (self.wire.name, self.freq, self.port.name)

    def _set_freq(self, freq):
        freq = integer(freq)
        if freq <= 0:
            raise ValueError("freq must be positive")
        self.freq = freq
        self.byte_us = 9 * 1000000 // freq  # eight bits and the ACK

    def init(self, *args, **kwargs):
        """init(scl, sda, *, freq=400000, timeout=50000) where the port has it."""
        if not self.port.init:
            raise OSError("I2C operation not supported")
        self._init(*args, **kwargs)

    def _init(self, scl, sda, *, freq=400000, timeout=50000):
        self._set_freq(freq)
        self.limit_us = integer(timeout)
        self.wire.take_back()

    def _deinit(self):
        # machine.I2C.deinit() of most ports does nothing.
        pass

    def scan(self):
        """The addresses 0x08 to 0x77 that answer, as a list."""
        found = []
        for address in range(0x08, 0x78):
            try:
                self._transfer(address, False, b"", True)
                found.append(address)
            except OSError:
                pass
        return found

    def readfrom(self, *args):
        """readfrom(addr, nbytes, stop=True) -> bytes"""
        addr, nbytes, stop = positional(args, 2)
        addr = integer(addr)
        buf = new_buffer(nbytes)
        self._transfer(addr, True, buf, stop)
        return bytes(buf)

    def readfrom_into(self, *args):
        """readfrom_into(addr, buf, stop=True)"""
        addr, buf, stop = positional(args, 2)
        addr = integer(addr)
        self._transfer(addr, True, writable(buf), stop)

    def writeto(self, *args):
        """writeto(addr, buf, stop=True) -> number of bytes acknowledged"""
        addr, buf, stop = positional(args, 2)
        addr = integer(addr)
        return self._transfer(addr, False, readable(buf), stop)

    def writevto(self, *args):
        """writevto(addr, vector, stop=True): the buffers of a list or tuple as one write -> bytes acknowledged"""
        addr, vector, stop = positional(args, 2)
        addr = integer(addr)
        if not isinstance(vector, (list, tuple)):
            raise TypeError("object '%s' isn't a tuple or list" % type(vector).__name__)
        return self._transfer(addr, False, b"".join([bytes(readable(buf)) for buf in vector]), stop)

    def readfrom_mem(self, addr, memaddr, arg, *, addrsize=8):
        """readfrom_mem(addr, memaddr, nbytes, *, addrsize=8) -> bytes"""
        buf = new_buffer(arg)
        self._read_mem(addr, memaddr, buf, addrsize)
        return bytes(buf)

    def readfrom_mem_into(self, addr, memaddr, arg, *, addrsize=8):
        """readfrom_mem_into(addr, memaddr, buf, *, addrsize=8)"""
        self._read_mem(addr, memaddr, writable(arg), addrsize)

    def writeto_mem(self, addr, memaddr, arg, *, addrsize=8):
        """writeto_mem(addr, memaddr, buf, *, addrsize=8). A data NACK goes unseen where the port counts."""
        addr = integer(addr)
        self._transfer(addr, False, _memory_address(memaddr, addrsize) + bytes(readable(arg)), True)

    def start(self):
        """START (bit-banged ports only)."""
        self._primitive(self.wire.start, self)

    def stop(self):
        """STOP (bit-banged ports only)."""
        self._primitive(self.wire.stop, self)

    def readinto(self, buf, nack=True):
        """Read the bytes of buf after start() and an address (bit-banged ports only)."""
        if not self.soft:
            raise OSError("I2C operation not supported")
        view = writable(buf)
        for i in range(len(view)):
            view[i] = self._primitive(self.wire.get, self)

    def write(self, buf):
        """Write bytes after start(), the address first (bit-banged ports only) -> bytes acknowledged"""
        if not self.soft:
            raise OSError("I2C operation not supported")
        acks = 0
        for byte in readable(buf):
            if not self._primitive(self.wire.put, byte, self):
                break
            acks += 1
        return acks

    def _primitive(self, function, *args):
        if not self.soft:
            raise OSError("I2C operation not supported")
        try:
            return function(*args)
        except Fault as fault:
            kind = fault.kind
        raise self._os_error(kind, False)

    def _read_mem(self, addr, memaddr, buf, addrsize):
        addr = integer(addr)
        where = _memory_address(memaddr, addrsize)
        if self.port.atomic_mem:
            self._transfer(addr, False, where, False, mem=True)
            self._transfer(addr, True, buf, True, mem=True)
            return
        error = None
        try:
            acks = self._transfer(addr, False, where, False)
        except OSError as problem:
            error = problem
            acks = -1
        if acks == len(where):
            self._transfer(addr, True, buf, True)
            return
        try:
            # The ports make sure of a STOP this way.
            self._transfer(addr, False, b"", True)
        except OSError:
            pass
        if error is not None:
            raise error
        for i in range(len(buf)):
            buf[i] = GARBAGE

    def _transfer(self, addr, read, buf, stop, mem=False):
        port = self.port
        if read:
            if not stop and not mem:
                if port.read_stop is False:
                    stop = True
                elif port.read_stop is not True:
                    raise os_error(port.read_stop)
            if not len(buf) and port.empty_read != "wire":
                if port.empty_read != "nothing":
                    raise os_error(port.empty_read)
                return 0
        elif not stop and not mem and not port.write_stop:
            stop = True
        try:
            done = self.wire.message(addr, read, buf, stop, self)
        except Fault as fault:
            kind = fault.kind
        else:
            if done == len(buf) or port.data_nack is None:
                return 0 if read else done
            raise os_error(port.data_nack)
        raise self._os_error(kind, not read and not len(buf))

    def _os_error(self, kind, empty):
        port = self.port
        if kind == "timeout":
            return os_error(port.timeout)
        if kind == "arbitration":
            return os_error(port.lost)
        return os_error(port.empty_nack if empty and port.empty_nack else port.nack)


class SoftI2C(I2C):
    """SoftI2C(wire, freq=400_000): machine.SoftI2C, which has start(), stop(), readinto(), write() and init()."""

    def __init__(self, wire, *, freq=400000, timeout=50000, deinit=None):
        super().__init__(wire, "soft", freq=freq, timeout=timeout, deinit=deinit)


def _memory_address(memaddr, addrsize):
    memaddr = integer(memaddr)
    size = integer(addrsize) & 0xFF
    if size & 7 or size > 32:
        raise ValueError("invalid addrsize")
    # What does not fit is cut off without a word, as on the ports.
    return bytes([(memaddr >> shift) & 0xFF for shift in range(size - 8, -1, -8)])
