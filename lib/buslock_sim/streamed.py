"""Streamed: what machine.UART and busio.UART have in common, the calls of a stream."""

import io
import sys

from . import clock

EINVAL = 22

# asyncio's streams poll an object by its ioctl(); only what derives from io.IOBase has one for them.
_Base = object if sys.implementation.name == "cpython" else getattr(io, "IOBase", object)

_FLUSH = 1
_POLL = 3
_READABLE = 1
_WRITABLE = 4


class Streamed(_Base):
    """Reads with a limit for the first byte and one for pauses, _first_us and _next_us, and writes into a buffer."""

    txbuf = 0
    _on = True
    _first_us = 0
    _next_us = 0

    def _get(self, n):
        """Up to n bytes, -1 for all; None if there are none in time."""
        line = self.line
        data = b""
        line.settle()
        while n < 0:
            piece = self._get(256)
            if piece is None:
                return data or None
            data += piece
        while len(data) < n:
            if not line.received:
                until = clock.now_us() + (self._next_us if data else self._first_us)
                while not line.received and line.wait(until):
                    pass
                if not line.received:
                    return data or None
            data += line.take(n - len(data))
        return data

    def _get_into(self, view):
        data = self._get(len(view))
        if data is None:
            return None
        view[: len(data)] = data
        return len(data)

    def _get_line(self, limit):
        data = b""
        while limit < 0 or len(data) < limit:
            # Each byte is a read of its own, and waits as long as a first one.
            byte = self._get(1)
            if byte is None:
                return data or None
            data += byte
            if byte == b"\n":
                break
        return data

    def _put(self, data, first_us, next_us=0):
        """Send data; returns the count. Gives up when there is no room for first_us, later next_us; None is never."""
        line = self.line
        size = self.port.fifo + self.txbuf
        done = 0
        while done < len(data):
            room = size - line.waiting()
            if room > 0:
                line.send(data[done : done + room])
                done += min(room, len(data) - done)
                continue
            until = clock.now_us() + (1000000 if first_us is None else first_us)
            while line.waiting() >= size and line.wait(until):
                pass
            if first_us is not None:
                if line.waiting() >= size:
                    break
                first_us = next_us
        return done

    def _end(self, late):
        if late is not None:
            raise late

    def ioctl(self, request, arg):
        """For select.poll() and asyncio's streams."""
        if request == _POLL:
            if not self._on:
                return arg & (_READABLE | _WRITABLE)  # what comes is an error, but it comes at once
            line = self.line
            line.settle()
            ready = 0
            if arg & _READABLE and line.received:
                ready |= _READABLE
            if arg & _WRITABLE and line.waiting() < self.port.fifo + self.txbuf:
                ready |= _WRITABLE
            return ready
        if request == _FLUSH and hasattr(self, "flush"):
            self.flush()
            return 0
        return -EINVAL
