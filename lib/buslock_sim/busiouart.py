"""busio.UART of CircuitPython and Blinka on a simulated line."""

from .arguments import integer, readable, writable
from .streamed import Streamed
from .uartports import find_busio

_DEAD = "Object has been deinitialized and can no longer be used. Create a new object."


class BusioUART(Streamed):
    """BusioUART(line, baudrate=9600): the methods, argument rules and errors of busio.UART.

    line stands for the pins of a real one; on CircuitPython there is one object per pins. timeout is in seconds, for
    the first byte and between bytes. There is no way to ask whether the last bit is out: write() returns when the bytes
    have gone into the hardware's buffer.
    """

    def __init__(
        self,
        line,
        *,
        port="circuitpython",
        baudrate=9600,
        bits=8,
        parity=None,
        stop=1,
        timeout=1,
        receiver_buffer_size=64,
    ):
        port = find_busio(port)
        if not port.read_takes:
            if line.claimed is not None:
                raise ValueError("TX in use")
            if integer(receiver_buffer_size) < 1:
                raise ValueError("receiver_buffer_size must be 1-65535")
            line.claimed = self
            line.limit = receiver_buffer_size
        else:
            line.limit = port.rxbuf
        self.line = line
        self.port = port
        self._on = True
        self._format = (bits, parity, stop)
        self.txbuf = 0
        self.timeout = timeout
        self.baudrate = baudrate

    def __enter__(self):
        return self

    def __exit__(self, exc_type, exc, tb):
        self.deinit()

    def deinit(self):
        """Give the pins back. Using the object afterwards is an error."""
        if self._on:
            late = self.line.called("deinit")
            self._on = False
            if self.line.claimed is self:
                self.line.claimed = None
            self._end(late)

    @property
    def baudrate(self):
        self._check()
        return self._baudrate

    @baudrate.setter
    def baudrate(self, baudrate):
        self._check()
        if integer(baudrate) <= 0:
            raise ValueError("baudrate must be positive")
        late = self.line.called("baudrate")
        self._baudrate = baudrate
        self.line.settle()
        self.line.configure(baudrate, *self._format)
        self._end(late)

    @property
    def timeout(self):
        self._check()
        return self._timeout

    @timeout.setter
    def timeout(self, seconds):
        self._check()
        if not 0 <= seconds <= 100 and not self.port.read_takes:
            raise ValueError("timeout must be 0-100")
        self._timeout = seconds
        self._first_us = self._next_us = int((seconds or 0) * 1000000)

    @property
    def in_waiting(self):
        """The number of bytes that can be read."""
        late = self._begin("in_waiting")
        self.line.settle()
        self._end(late)
        return len(self.line.received)

    def reset_input_buffer(self):
        """Throw away what has come and was not read."""
        late = self._begin("reset_input_buffer")
        self.line.settle()
        self.line.take(len(self.line.received))
        self._end(late)

    def read(self, nbytes=None):
        """Up to nbytes, or all that comes until a pause of timeout; None if nothing has come."""
        late = self._begin("read")
        self.line.settle()
        if nbytes is None:
            nbytes = max(1, len(self.line.received)) if self.port.read_takes else -1
        data = self._get(integer(nbytes))
        self._end(late)
        return data

    def readinto(self, buf):
        """Read into buf; returns the number of bytes, or None."""
        late = self._begin("readinto")
        data = self._get_into(writable(buf))
        self._end(late)
        return data

    def readline(self):
        """A line with its newline, or what has come before a pause of timeout; None if nothing has."""
        late = self._begin("readline")
        data = self._get_line(-1)
        self._end(late)
        return data

    def write(self, buf):
        """Send buf; returns the number of bytes, when the last of them has gone into the hardware's buffer."""
        if isinstance(buf, str):
            raise TypeError("object with buffer protocol required")
        late = self._begin("write")
        done = self._put(bytes(readable(buf)), None)
        self._end(late)
        return done

    def _begin(self, name):
        self._check()
        return self.line.called(name)

    def _check(self):
        if not self._on:
            raise AttributeError("'NoneType' object") if self.port.read_takes else ValueError(_DEAD)
