"""busio.SPI of CircuitPython and Blinka on a simulated wire."""

from .arguments import integer, readable, writable
from .spimove import Clocking
from .spiports import find_busio

_TO_THE_END = 0x3FFFFFFF


class BusioSPI:
    """BusioSPI(wire, port="circuitpython"): the methods, argument rules and errors of busio.SPI.

    wire stands for the pins of a real one. On CircuitPython there is one object per pins (ValueError for a second) and
    everything needs try_lock(); port="blinka" asks for the lock only in configure().
    """

    def __init__(self, wire, *, port="circuitpython"):
        port = find_busio(port)
        if port.needs_lock:
            if wire.claimed is not None:
                raise ValueError("SCK in use")
            wire.claimed = self
        self.wire = wire
        self.port = port
        self._locked = False
        self._alive = True
        wire.configure(Clocking(port, port.baudrate, 0, 0, 8, False))

    def __enter__(self):
        return self

    def __exit__(self, exc_type, exc, tb):
        self.deinit()

    def deinit(self):
        """Give the pins back. Using the object afterwards is an error."""
        if self._alive:
            late = self.wire.called("deinit")
            self._alive = False
            if self.wire.claimed is self:
                self.wire.claimed = None
            _end(late)

    def try_lock(self):
        """True if the lock was free and is now taken."""
        late = self.wire.called("try_lock")
        taken = not self._locked and (self._alive or not self.port.needs_lock)
        if taken:
            self._locked = True
        _end(late)
        return taken

    def unlock(self):
        """Release the lock; nothing happens if it is free."""
        if self.port.needs_lock:
            self._check_alive()
        late = self.wire.called("unlock")
        self._locked = False
        _end(late)

    def configure(self, *, baudrate=100000, polarity=0, phase=0, bits=8):
        """Set the clock; what is not given is the default, not what it was."""
        self._check_alive()
        if not self._locked:
            raise RuntimeError("Function requires lock" if self.port.needs_lock else "First call try_lock()")
        baudrate = integer(baudrate)
        late = self.wire.called("configure")
        if self.port.needs_lock:
            check_range("polarity", polarity, 0, 1)
            check_range("phase", phase, 0, 1)
            check_range("bits", bits, 8, 9)
        if baudrate <= 0:
            raise ValueError("baudrate must be positive")
        self.wire.configure(Clocking(self.port, baudrate, 1 if polarity else 0, 1 if phase else 0, bits, False))
        _end(late)

    @property
    def frequency(self):
        """The actual baud rate, which may be lower than what configure() asked for."""
        self._check_alive()
        return self.wire.clocking.actual

    def write(self, buffer, *, start=0, end=_TO_THE_END):
        """Write buffer[start:end]."""
        self._check()
        out = self._slice(readable(buffer), start, end)
        self._transfer("write", len(out), out, 0, None)

    def readinto(self, buffer, *, start=0, end=_TO_THE_END, write_value=0):
        """Read into buffer[start:end] while write_value is sent."""
        self._check()
        into = self._slice(writable(buffer), start, end)
        self._transfer("readinto", len(into), None, integer(write_value) & 0xFF, into)

    def write_readinto(
        self, out_buffer, in_buffer, *, out_start=0, out_end=_TO_THE_END, in_start=0, in_end=_TO_THE_END
    ):
        """Write out_buffer[out_start:out_end] and read as much into in_buffer[in_start:in_end]."""
        self._check()
        out = self._slice(readable(out_buffer), out_start, out_end)
        into = self._slice(writable(in_buffer), in_start, in_end)
        if len(out) != len(into):
            if not self.port.needs_lock:
                raise RuntimeError("Buffer slices must be of equal length.")
            raise ValueError("buffer slices must be of equal length")
        self._transfer("write_readinto", len(out), out, 0, into)

    def _slice(self, view, start, end):
        if end is None and not self.port.needs_lock:
            end = _TO_THE_END
        return view[integer(start) : integer(end)]

    def _transfer(self, name, n, out, fill, into):
        late = self.wire.called(name)
        if n:
            self.wire.transfer(n, out, fill, into, self.port)
        _end(late)

    def _check_alive(self):
        if not self._alive:
            if not self.port.needs_lock:
                raise AttributeError("'NoneType' object has no attribute 'init'")
            raise ValueError("Object has been deinitialized and can no longer be used. Create a new object.")

    def _check(self):
        self._check_alive()
        if self.port.needs_lock and not self._locked:
            raise RuntimeError("Function requires lock")


def check_range(name, value, low, high):
    if not low <= integer(value) <= high:
        raise ValueError("%s must be %d-%d" % (name, low, high))


def _end(late):
    if late is not None:
        raise late
