"""busio.I2C of CircuitPython and Blinka on a simulated wire."""

from .arguments import integer, os_error, readable, writable
from .errors import Fault
from .ports import BUSIO, find

_TO_THE_END = 0x3FFFFFFF


class BusioI2C:
    """BusioI2C(wire, frequency=100_000, port="circuitpython"): the methods, argument rules and errors of busio.I2C.

    wire stands for the pins of a real one. On CircuitPython there is one object per pins (ValueError for a second),
    transfers need try_lock(), and a line that is low at construction is a RuntimeError; port="blinka" is
    laxer in all of this, as Blinka is.
    """

    soft = False

    def __init__(self, wire, *, frequency=100000, timeout=255, port="circuitpython"):
        port = find(port, BUSIO, "I2C")
        frequency = integer(frequency)
        if frequency <= 0:
            raise ValueError("frequency must be positive")
        if port.checks_pins:
            for line in (wire.scl, wire.sda):
                if wire.claimed is not None or line.pin is not None:
                    raise ValueError("%s in use" % line.name.upper())
            if not wire.sda.level() or not wire.scl.level():
                raise RuntimeError("No pull up found on SDA or SCL; check your wiring")
            wire.claimed = self
        self.wire = wire
        self.port = port
        self.byte_us = 9 * 1000000 // frequency
        self.limit_us = port.limit_us
        self._locked = False
        self._alive = True
        if port.probe:
            self.probe = self._probe
        wire.take_back()

    def __enter__(self):
        return self

    def __exit__(self, exc_type, exc, tb):
        self.deinit()

    def deinit(self):
        """Give the pins back. Using the object afterwards is a ValueError."""
        if self._alive:
            self._alive = False
            if self.wire.claimed is self:
                self.wire.claimed = None

    def try_lock(self):
        """True if the lock was free and is now taken."""
        self._check_alive()
        if self._locked:
            return False
        self._locked = True
        return True

    def unlock(self):
        """Release the lock; nothing happens if it is free."""
        self._check_alive()
        self._locked = False

    def scan(self):
        """The addresses 0x08 to 0x77 that answer, as a list."""
        self._check_lock()
        return [address for address in range(0x08, 0x78) if self._answers(address)]

    def _probe(self, address):
        # probe(address): True if a chip answers at address
        self._check_lock()
        return self._answers(integer(address))

    def readfrom_into(self, address, buffer, *, start=0, end=_TO_THE_END):
        """Read into buffer[start:end], at least one byte."""
        self._check_lock()
        address = integer(address)
        self._read(address, self._slice(writable(buffer), start, end))

    def writeto(self, address, buffer, *, start=0, end=_TO_THE_END):
        """Write buffer[start:end], then STOP."""
        self._check_lock()
        address = integer(address)
        self._transfer(address, False, self._slice(readable(buffer), start, end), True)

    def writeto_then_readfrom(
        self, address, out_buffer, in_buffer, *, out_start=0, out_end=_TO_THE_END, in_start=0, in_end=_TO_THE_END
    ):
        """Write out_buffer[out_start:out_end], repeated START, read into in_buffer[in_start:in_end]."""
        self._check_lock()
        address = integer(address)
        out = self._slice(readable(out_buffer), out_start, out_end)
        into = self._slice(writable(in_buffer), in_start, in_end)
        if not len(into) and not self.port.python_arguments:
            raise ValueError("in_buffer length must be >= 1")
        self._transfer(address, False, out, False)
        self._read(address, into)

    def _slice(self, view, start, end):
        if end is None and self.port.python_arguments:
            end = _TO_THE_END
        return view[integer(start) : integer(end)]

    def _answers(self, address):
        try:
            self._transfer(address, False, b"", True)
        except OSError:
            return False
        return True

    def _read(self, address, view):
        if not len(view) and not self.port.python_arguments:
            raise ValueError("buffer length must be >= 1")
        self._transfer(address, True, view, True)

    def _transfer(self, address, read, view, stop):
        try:
            done = self.wire.message(address, read, view, stop, self)
        except Fault as fault:
            kind = fault.kind
        else:
            if done == len(view):
                return
            raise os_error(self.port.data_nack)
        port = self.port
        raise os_error(port.timeout if kind == "timeout" else port.lost if kind == "arbitration" else port.nack)

    def _check_alive(self):
        if not self._alive and self.port.needs_lock:
            raise ValueError("Object has been deinitialized and can no longer be used. Create a new object.")

    def _check_lock(self):
        self._check_alive()
        if not self._alive:
            raise AttributeError("'I2C' object has no attribute '_i2c'")
        if self.port.needs_lock and not self._locked:
            raise RuntimeError("Function requires lock")
