"""machine.UART on a simulated line."""

from . import clock
from .arguments import integer, os_error, readable, writable
from .streamed import EINVAL, Streamed
from .uartports import find_machine


class UART(Streamed):
    """UART(line, port="rp2", baudrate=9600): the methods, argument rules and errors of machine.UART on that port.

    line stands for the number and the pins of a real UART. On MicroPython it can be polled, and given to asyncio's
    StreamReader. timeout and timeout_char in ms, rxbuf and txbuf in characters.
    """

    def __init__(self, line, port="rp2", baudrate=None, bits=8, parity=None, stop=1, **more):
        self.line = line
        self.port = port = find_machine(port)
        self.baudrate = port.baudrate if baudrate is None else baudrate
        self.bits = bits
        self.parity = parity
        self.stop = stop
        self.timeout = 0
        self.timeout_char = 0
        self.rxbuf = port.rxbuf
        self.txbuf = port.txbuf
        self._on = True
        self._init(**more)

    def __repr__(self):
        return "UART(%s, baudrate=%d, bits=%d, parity=%s, stop=%d, timeout=%d, timeout_char=%d, port=%s)" % (
            self.line.name,
            self.baudrate,
            self.bits,
            self.parity,
            self.stop,
            self.timeout,
            self.timeout_char,
            self.port.name,
        )

    def init(self, baudrate=None, bits=None, parity=-1, stop=None, **more):
        """init(baudrate, bits, parity, stop, *, timeout, timeout_char, rxbuf, txbuf); what is not given stays."""
        late = self.line.called("init")
        if baudrate is not None:
            self.baudrate = baudrate
        if bits is not None:
            self.bits = bits
        if parity != -1:
            self.parity = parity
        if stop is not None:
            self.stop = stop
        self._init(**more)
        self._end(late)

    def _init(self, timeout=None, timeout_char=None, rxbuf=None, txbuf=None, **pins):
        for name in pins:
            if name not in ("tx", "rx", "rts", "cts", "invert", "flow"):
                raise TypeError("extra keyword arguments given")
        port = self.port
        if integer(self.baudrate) <= 0:
            raise ValueError("baudrate must be positive")
        if timeout is not None:
            self.timeout = integer(timeout)
        if timeout_char is not None:
            self.timeout_char = integer(timeout_char)
        if port.char_ms is not None:
            self.timeout_char = max(self.timeout_char, 13000 // self.baudrate + port.char_ms)
        if rxbuf is not None:
            self.rxbuf = max(32, integer(rxbuf)) if port.name.startswith("rp2") else integer(rxbuf)
        if txbuf is not None:
            self.txbuf = max(32, integer(txbuf)) if port.name.startswith("rp2") else integer(txbuf)
        line = self.line
        line.settle()
        if port.init_clears:
            line.take(len(line.received))
        self._first_us = 1000 * self.timeout
        self._next_us = 1000 * self.timeout_char
        line.limit = self.rxbuf
        line.configure(self.baudrate, self.bits, self.parity, self.stop)
        self._on = True

    def deinit(self):
        """Turn it off, where the port does: using it is an OSError then, until init()."""
        late = self.line.called("deinit")
        if self.port.deinit:
            self._on = False
        self._end(late)

    def any(self):
        """The number of characters that can be read."""
        late = self._begin("any")
        self.line.settle()
        self._end(late)
        return len(self.line.received)

    def read(self, nbytes=-1):
        """Up to nbytes, or all that comes; None if nothing has come within timeout."""
        late = self._begin("read")
        nbytes = integer(nbytes)
        if nbytes < -1:
            raise MemoryError("memory allocation failed")
        data = self._get(nbytes)
        self._end(late)
        return data

    def readinto(self, buf, nbytes=None):
        """Read into buf; returns the number of bytes, or None."""
        late = self._begin("readinto")
        view = writable(buf)
        n = len(view) if nbytes is None else min(len(view), integer(nbytes))
        done = self._get_into(view[:n])
        self._end(late)
        return done

    def readline(self, max_size=-1):
        """A line with its newline, or what has come when no more does within timeout; None if nothing has."""
        late = self._begin("readline")
        data = self._get_line(max_size)
        self._end(late)
        return data

    def write(self, buf):
        """Send buf; returns the number of bytes that were taken, or None for none, where the port gives up."""
        late = self._begin("write")
        data = bytes(readable(buf))
        if self.port.write_gives_up:
            # The ports count whole milliseconds, and give up when more than these have passed.
            done = self._put(data, 1000 * self.timeout + 1000, 1000 * self.timeout_char + 1000)
        else:
            done = self._put(data, None)
        if self.port.write_waits:
            self._wait_sent()
        self._end(late)
        return done if done or not data else None

    def flush(self):
        """Wait until all is sent; on some ports the last character may still be on its way."""
        late = self._begin("flush")
        self._wait_sent()
        self._end(late)

    def txdone(self):
        """True if all is sent; on some ports the last character may still be on its way."""
        late = self._begin("txdone")
        self.line.settle()
        self._end(late)
        return clock.now_us() >= self._sent_us()

    def _begin(self, name):
        late = self.line.called(name)
        if not self._on:
            raise os_error(EINVAL)
        return late

    def _sent_us(self):
        line = self.line
        return line.last_bit_us() - (line.byte_us() if self.port.early else 0)

    def _wait_sent(self):
        while clock.now_us() < self._sent_us():
            self.line.wait(self._sent_us())
        self.line.settle()
