"""Look-alikes of machine.UART and busio.UART for one node of a UARTBus."""

import time

from .facade import LookAlike
from .uartports import block_ms


class UARTLookAlike(LookAlike):
    def __init__(self, node):
        super().__init__(node._bus)
        self._node = node

    def _port(self):
        self._enter(self._node)
        return self._bus._backend

    def write(self, buf):
        """Blocks until the last bit is out where a transceiver has to be switched; counts what it has written."""
        bus = self._bus
        port = self._port()
        return self._transfer(self._node, _write, bus, port, buf)

    def _read(self, nbytes):
        """Up to nbytes (None: all) of what is there; None if nothing is."""
        port = self._port()
        got = self._transfer(self._node, port.take)
        if nbytes is not None and len(got) > nbytes:
            port.put_back(got[nbytes:])
            got = got[:nbytes]
        return bytes(got) or None

    def readinto(self, buf, nbytes=None):
        got = self.read(len(buf) if nbytes is None else nbytes)
        if got is None:
            return None
        buf[: len(got)] = got
        return len(got)

    def readline(self):
        got = self._read(None)
        if got is None:
            return None
        end = got.find(b"\n") + 1
        if 0 < end < len(got):
            self._bus._backend.put_back(got[end:])
            return got[:end]
        return got


class MachineUART(UARTLookAlike):
    """machine.UART."""

    def init(self, *args, **kwargs):
        """Nothing: the line has its speed and pins."""

    def any(self):
        port = self._port()
        got = self._transfer(self._node, port.take)
        port.put_back(got)
        return len(got)

    def read(self, nbytes=None):
        return self._read(nbytes)

    def flush(self):
        self._port().finish()

    def txdone(self):
        return True  # write() has waited for it

    def sendbreak(self):
        raise OSError("UART operation not supported")


class BusioUART(UARTLookAlike):
    """busio.UART: a read blocks until its bytes are there or `timeout` seconds are over."""

    def __init__(self, node):
        super().__init__(node)
        self.timeout = 1

    @property
    def baudrate(self):
        return int(10000 / self._bus._backend._character_ms)

    @property
    def in_waiting(self):
        port = self._port()
        got = self._transfer(self._node, port.take)
        port.put_back(got)
        return len(got)

    def reset_input_buffer(self):
        self._read(None)

    def read(self, nbytes=None):
        got = b""
        limit = time.time() + self.timeout
        while True:
            more = self._read(None if nbytes is None else nbytes - len(got))
            got += more or b""
            if nbytes is not None and len(got) >= nbytes or time.time() >= limit:
                return got or None
            block_ms(1)


def _write(bus, port, buf):
    de = bus._de
    try:
        if de is not None:
            de(bus._de_active)
        n = port.uart.write(buf)
        port.finish()
    finally:
        if de is not None:
            de(1 - bus._de_active)
    return n
