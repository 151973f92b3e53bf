"""A pair of asyncio streams (reader, writer) in the place of a UART: CPython's, pyserial-asyncio's, MicroPython's."""

from ._rt import sleep_ms, ticks_diff, ticks_ms
from .errors import DeadlineExceeded
from .timeouts import wait_for_ms
from .uartports import Port

_LOOK_MS = 20  # how long a read lasts after reset() at most


class StreamPort(Port):
    _busy = False
    _before = None  # the port before reset(), whose read may not have ended yet

    def __init__(self, reader, writer):
        self.reader = reader
        self.writer = writer

    def again(self):
        new = self.successor(StreamPort(self.reader, self.writer))
        new._before = self
        return new

    def measure(self):
        """The speed is not known."""

    async def drain(self):
        # With no time at all MicroPython's streams read nothing, and CPython's what has come to the reader.
        return await self.receive(1)

    async def receive(self, ms):
        """What is there as soon as something is; b"" after `ms` of silence."""
        if self._kept:
            kept, self._kept = self._kept, b""
            return kept
        start = ticks_ms()
        while self._before is not None and self._before._busy:
            await sleep_ms(1)
        self._before = None
        while True:
            left = None if ms is None else max(0, ms - ticks_diff(ticks_ms(), start))
            self._busy = True
            try:
                # Cancelled here: nothing was read.
                got = await wait_for_ms(self.reader.read(256), _LOOK_MS if left is None else min(left, _LOOK_MS))
            except DeadlineExceeded:
                got = None
            finally:
                self._busy = False
            self.check()
            if got:
                return got
            if got is not None:
                raise OSError(104, "the stream was closed")
            if left is not None and left <= _LOOK_MS:
                return b""

    async def send(self, buf, echo, wait):
        """Returns when they are handed over. Nobody knows when the last bit is out."""
        self.writer.write(bytes(buf))
        await self.writer.drain()  # cancelled here: they are sent all the same
        return bytearray() if echo else None

    def left_ms(self):
        return 0
