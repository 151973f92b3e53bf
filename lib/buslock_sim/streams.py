"""A pair of CPython's asyncio streams on a simulated line, as pyserial-asyncio makes one on a serial port."""

import asyncio

from . import clock


async def open_streams(line, baudrate=9600, bits=8, parity=None, stop=1, limit=65536):
    """(StreamReader, StreamWriter) on line. writer.close() ends it."""
    loop = asyncio.get_running_loop()
    line.configure(baudrate, bits, parity, stop)
    reader = asyncio.StreamReader(limit=limit, loop=loop)
    protocol = asyncio.StreamReaderProtocol(reader, loop=loop)
    transport = _Transport(line, protocol, loop)
    return reader, asyncio.StreamWriter(transport, protocol, reader, loop)


class _Transport(asyncio.Transport):
    """Wakes the loop when something is due on the line, and hands over what was received."""

    def __init__(self, line, protocol, loop):
        super().__init__()
        self._line = line
        self._protocol = protocol
        self._loop = loop
        self._timer = None
        self._paused = False
        self._closing = False
        line.limit = 1 << 20  # an operating system's buffer, not a microcontroller's
        line.on_send = self._arm
        protocol.connection_made(self)
        self._arm()

    def write(self, data):
        late = self._line.called("write")
        if self._closing:
            return
        self._line.send(bytes(data))
        if late is not None:
            raise late

    def get_write_buffer_size(self):
        return self._line.waiting()

    def is_closing(self):
        return self._closing

    def close(self):
        if not self._closing:
            self._closing = True
            self._line.on_send = None
            if self._timer is not None:
                self._timer.cancel()
            self._loop.call_soon(self._protocol.connection_lost, None)

    abort = close

    def pause_reading(self):
        self._paused = True

    def resume_reading(self):
        self._paused = False
        self._arm()

    def is_reading(self):
        return not self._paused and not self._closing

    def can_write_eof(self):
        return False

    def get_extra_info(self, name, default=None):
        return self._line if name == "line" else default

    def _arm(self):
        if self._closing:
            return
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        us = clock.now_us() if self._line.received else self._line.next_us()
        if us is not None and not self._paused:
            self._timer = self._loop.call_later(max(0, us - clock.now_us()) / 1000000, self._due)

    def _due(self):
        self._timer = None
        line = self._line
        try:
            line.settle()
        finally:
            if line.received and not self._paused:
                self._protocol.data_received(line.take(len(line.received)))
            self._arm()
