"""The kinds of UART under one face: send, receive, take what is there, finish."""

from ._rt import sleep_ms, ticks_diff, ticks_ms


def port(name, uart):
    if isinstance(uart, (tuple, list)) and len(uart) == 2:
        return StreamPort(*uart)
    if hasattr(uart, "any") and hasattr(uart, "read"):
        return MachinePort(uart)
    if hasattr(uart, "in_waiting") and hasattr(uart, "read"):
        return BusioPort(uart)
    raise TypeError("%s: %r is no machine.UART, busio.UART or pair of asyncio streams" % (name, uart))


class PolledPort:
    """Looks every millisecond, so that the loop runs meanwhile; a read that has nothing to read may block."""

    def __init__(self, uart):
        self.uart = uart
        self._kept = b""  # read already, but not part of the reply it came with
        self._character_ms = character_ms(uart)

    def put_back(self, got):
        self._kept = bytes(got) + self._kept

    def take(self):
        """All that is there, without waiting."""
        kept, self._kept = self._kept, b""
        n = self.waiting()
        return kept + (self.uart.read(n) or b"") if n else kept

    async def drain(self):
        """What is there."""
        return self.take()

    async def receive(self, ms):
        """What is there as soon as something is; b"" after `ms` of silence."""
        start = ticks_ms()
        while True:
            got = self.take()
            if got or ms is not None and ticks_diff(ticks_ms(), start) >= ms:
                return got
            await sleep_ms(1)  # cancelled here: nothing was read

    async def send(self, buf):
        view = memoryview(buf)
        while len(view):
            n = self.uart.write(view)
            if n:
                view = view[n:]
            else:
                await sleep_ms(1)  # its buffer is full
        await self._sent(len(buf))


class MachinePort(PolledPort):
    """machine.UART."""

    def waiting(self):
        return self.uart.any()

    async def _sent(self, nbytes):
        uart = self.uart
        if hasattr(uart, "txdone"):
            while not uart.txdone():
                await sleep_ms(1)
        else:
            await sleep_ms(1 + int(nbytes * self._character_ms))
        # Some ports say so one character early: their last one is still in the shift register.
        await sleep_ms(1 + int(self._character_ms))

    def finish(self):
        if hasattr(self.uart, "flush"):
            try:
                self.uart.flush()
            except OSError:
                pass  # it did not end in time
        block_ms(1 + int(self._character_ms))


class BusioPort(PolledPort):
    """busio.UART: write() returns when the bytes are in its buffer."""

    def waiting(self):
        return self.uart.in_waiting

    async def _sent(self, nbytes):
        await sleep_ms(1 + int((nbytes + 1) * self._character_ms))

    def finish(self):
        block_ms(1 + int(2 * self._character_ms))


class StreamPort:
    """(reader, writer) of CPython's asyncio, pyserial-asyncio among them."""

    def __init__(self, reader, writer):
        self.reader = reader
        self.writer = writer
        self._kept = b""

    def put_back(self, got):
        self._kept = bytes(got) + self._kept

    async def drain(self):
        kept, self._kept = self._kept, b""
        return kept or await self.receive(0)

    async def receive(self, ms):
        from .errors import DeadlineExceeded
        from .timeouts import wait_for_ms

        if self._kept:
            kept, self._kept = self._kept, b""
            return kept
        try:
            got = await wait_for_ms(self.reader.read(256), ms)
        except DeadlineExceeded:
            return b""
        if not got:
            raise OSError(104, "the stream was closed")
        return got

    async def send(self, buf):
        self.writer.write(bytes(buf))
        await self.writer.drain()

    def finish(self):
        """The operating system sends what it has."""

    def deinit(self):
        self.writer.close()


def character_ms(uart):
    """How long ten bits take; at 9600 baud where the port does not tell its speed."""
    baudrate = getattr(uart, "baudrate", None)
    if not isinstance(baudrate, int):
        text = repr(uart).split("baudrate=")
        digits = text[1].split(",")[0].split(")")[0] if len(text) > 1 else ""
        baudrate = int(digits) if digits.isdigit() else 9600
    return 10000 / baudrate


def block_ms(ms):
    import time

    if hasattr(time, "sleep_ms"):
        time.sleep_ms(ms)
    else:
        time.sleep(ms / 1000)
