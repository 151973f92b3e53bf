"""async_spi.SPI, which CircuitPython is getting: an SPI bus whose transfers are awaited."""

import sys

from .arguments import integer, readable, writable
from .busiospi import check_range
from .spimove import Clocking
from .spiports import find_busio

_TO_THE_END = 0x3FFFFFFF
PIECES = 4  # a transfer gives up the loop so many times


class AsyncSPI:
    """AsyncSPI(wire): write, readinto and write_readinto return awaitables, and other tasks run meanwhile.

    Its interface is not settled: the drafts differ in how it is locked and set up, so choose with locked. "task": no
    lock, users hold a lock of their own, and configure() is awaited too, until a transfer that runs has finished;
    "try_lock": like busio, with try_lock(), unlock() and a plain configure(); "lock": `async with spi.lock`, and a
    plain configure(). The arguments of a transfer are checked when it is awaited. One that is cancelled stops where
    it is.
    """

    def __init__(self, wire, *, port="circuitpython", locked="task"):
        if locked not in ("task", "try_lock", "lock"):
            raise ValueError("locked must be 'task', 'try_lock' or 'lock', not %r" % (locked,))
        if wire.claimed is not None:
            raise ValueError("SCK in use")
        wire.claimed = self
        self.wire = wire
        self.port = port = find_busio(port)
        self._alive = True
        self._locked = False
        if locked == "try_lock":
            self.try_lock = self._try_lock
            self.unlock = self._unlock
        elif locked == "lock":
            self.lock = _asyncio().Lock()
        self.configure = self._configure_awaited if locked == "task" else self._configure
        wire.configure(Clocking(port, port.baudrate, 0, 0, 8, False))

    def __enter__(self):
        return self

    def __exit__(self, exc_type, exc, tb):
        self.deinit()

    def deinit(self):
        """Give the pins back. Using the object afterwards is a ValueError."""
        self._alive = False
        if self.wire.claimed is self:
            self.wire.claimed = None

    def _try_lock(self):
        late = self.wire.called("try_lock")
        taken = self._alive and not self._locked
        self._locked = self._locked or taken
        _end(late)
        return taken

    def _unlock(self):
        self._check()
        late = self.wire.called("unlock")
        self._locked = False
        _end(late)

    @property
    def frequency(self):
        """The actual baud rate."""
        self._check()
        return self.wire.clocking.actual

    def _configure(self, *, baudrate=100000, polarity=0, phase=0, bits=8):
        self._check_lock()
        check_range("polarity", polarity, 0, 1)
        check_range("phase", phase, 0, 1)
        check_range("bits", bits, 8, 9)
        late = self.wire.called("configure")
        self.wire.configure(Clocking(self.port, integer(baudrate), polarity, phase, bits, False))
        _end(late)

    async def _configure_awaited(self, **settings):
        """configure(baudrate=100000, polarity=0, phase=0, bits=8)"""
        sleep = _asyncio().sleep
        await sleep(0)
        while self.wire.running():
            await sleep(0)
        self._configure(**settings)

    async def write(self, buffer, *, start=0, end=_TO_THE_END):
        """Write buffer[start:end]."""
        self._check_lock()
        out = readable(buffer)[start:end]
        await self._transfer("write", len(out), out, 0, None)

    async def readinto(self, buffer, *, start=0, end=_TO_THE_END, write_value=0):
        """Read into buffer[start:end] while write_value is sent."""
        self._check_lock()
        into = writable(buffer)[start:end]
        await self._transfer("readinto", len(into), None, integer(write_value) & 0xFF, into)

    async def write_readinto(
        self, out_buffer, in_buffer, *, out_start=0, out_end=_TO_THE_END, in_start=0, in_end=_TO_THE_END
    ):
        """Write out_buffer[out_start:out_end] and read as much into in_buffer[in_start:in_end]."""
        self._check_lock()
        out = readable(out_buffer)[out_start:out_end]
        into = writable(in_buffer)[in_start:in_end]
        if len(out) != len(into):
            raise ValueError("buffer slices must be of equal length")
        await self._transfer("write_readinto", len(out), out, 0, into)

    async def _transfer(self, name, n, out, fill, into):
        late = self.wire.called(name)
        if n:
            sleep = _asyncio().sleep
            move = self.wire.begin(n, out, fill, into, self.port)
            try:
                for i in range(1, PIECES + 1):
                    await sleep(move.us / (PIECES * 1000000))
                    move.go_on(n * i // PIECES)
            finally:
                self.wire.end(move)
        _end(late)

    def _check(self):
        if not self._alive:
            raise ValueError("Object has been deinitialized and can no longer be used. Create a new object.")

    def _check_lock(self):
        self._check()
        if hasattr(self, "try_lock") and not self._locked:
            raise RuntimeError("Function requires lock")


def _asyncio():
    # Who awaits something has imported it.
    return sys.modules["asyncio"]


def _end(late):
    if late is not None:
        raise late
