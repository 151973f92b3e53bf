"""Look-alikes of machine.UART and busio.UART for one node of a UARTBus."""

from ._rt import ticks_diff, ticks_ms
from .errors import NotCovered
from .facade import LookAlike, enter, leave
from .uartlines import lower
from .uartports import block_ms

_REPLY_MS = 1000  # so long a reply may still come when a driver has given up waiting for it


class UARTLookAlike(LookAlike):
    def __init__(self, node):
        super().__init__(node._bus)
        self._node = node

    def _port(self):
        self._enter(self._node)
        port = self._bus._backend
        if not hasattr(port, "take"):
            raise NotImplementedError(
                "%s: a pair of asyncio streams is read by awaiting it, and a driver that is not async cannot"
                % self._bus.name
            )
        return port

    def write(self, buf):
        """Blocks until the last bit is out, as a transceiver has to be switched; counts what it has written."""
        port = self._port()
        return self._transfer(self._node, _write, self._bus, port, buf)

    def _take(self):
        """All that is there."""
        port = self._port()
        got = self._transfer(self._node, port.take)
        if got:
            port.last = ticks_ms()
            port.unquiet = None
        return got, port

    def _waiting(self):
        got, port = self._take()
        port.put_back(got)
        return len(got)

    def _read(self, nbytes, ms, line=False):
        """Up to nbytes (None: all), and of a line no more than that; it waits for more until `ms` of silence."""
        got = b""
        start = ticks_ms()
        while True:
            more, port = self._take()
            got += more
            end = got.find(b"\n") + 1 if line else 0
            if not end and nbytes is not None and len(got) >= nbytes:
                end = nbytes
            if end:
                port.put_back(got[end:])
                got = got[:end]
            if more:
                start = ticks_ms()
            if end or nbytes == 0 or ticks_diff(ticks_ms(), start) >= ms:
                return got or None
            block_ms(1)

    def _readinto(self, buf, nbytes, ms):
        got = self._read(nbytes, ms)
        if not got:
            return got
        buf[: len(got)] = got
        return len(got)


class MachineUART(UARTLookAlike):
    """machine.UART, with the `timeout` that the driver gives to init(); until then it waits for nothing."""

    _timeout = 0

    def __getattr__(self, name):
        """Constants, which have other values on other ports."""
        if name[:1] != "_" and name.upper() == name:
            bus = self._bus
            if bus._backend is None:
                bus._make_now()
            return getattr(bus._backend.uart, name)
        raise AttributeError(name)

    def init(self, baudrate=9600, bits=8, parity=None, stop=1, *, timeout=None, **kwargs):
        """The line has its speed and pins."""
        if timeout is not None:
            self._timeout = timeout

    def any(self):
        return self._waiting()

    def read(self, nbytes=None):
        return self._read(nbytes, self._timeout)

    def readinto(self, buf, nbytes=None):
        return self._readinto(buf, len(buf) if nbytes is None else min(nbytes, len(buf)), self._timeout)

    def readline(self):
        return self._read(None, self._timeout, True)

    def flush(self):
        self._transfer(self._node, self._port().finish)

    def txdone(self):
        return True  # write() has waited for it

    def sendbreak(self):
        raise OSError("UART operation not supported")

    def irq(self, handler=None, trigger=0, hard=False):
        raise NotCovered(
            "%s: an interrupt comes whoever has the line: give the handler to the peripheral itself"
            % self._node._label()
        )


class BusioUART(UARTLookAlike):
    """busio.UART: a read blocks until its bytes are there, or until `timeout` seconds of silence."""

    __enter__ = enter
    __exit__ = leave

    def __init__(self, node):
        super().__init__(node)
        self.timeout = 1

    def _ms(self):
        return int(self.timeout * 1000)

    @property
    def baudrate(self):
        return round(10000 / self._port()._character_ms)

    @baudrate.setter
    def baudrate(self, baudrate):
        if baudrate != self.baudrate:
            raise ValueError("%s: its speed is that of all nodes: set it on the peripheral" % self._bus.name)

    @property
    def in_waiting(self):
        return self._waiting()

    def reset_input_buffer(self):
        self._take()

    def read(self, nbytes=None):
        return self._read(nbytes, self._ms())

    def readinto(self, buf):
        return self._readinto(buf, len(buf), self._ms())

    def readline(self):
        return self._read(None, self._ms(), True)


def _write(bus, port, buf):
    n = None
    try:
        if bus._de is not None:
            bus._de(bus._de_active)
        n = port.put(buf)
        port.unquiet = _REPLY_MS
    finally:
        try:
            port.finish()  # what is under way goes out with the drive enabled
        finally:
            failed = lower(bus)
            port.last = ticks_ms()
    if failed is not None:
        raise failed
    return n
