"""The kinds of UART under one face: send, receive, take what is there, finish.

A port also keeps what is known of the line, so that after bus.reset() a task of before finds a dead one.
"""

import time

from ._rt import US_STEP_MS, later, sleep_ms, ticks_diff, ticks_diff_us, ticks_ms, ticks_us
from .errors import NotHeld

# So near to the last bit a drive is waited for without the loop: a sleep of 1 ms takes that and the turns of other tasks,
# and a node may answer 1.75 ms after the request (Modbus over Serial Line 1.02, 2.5.1.1).
_NEAR_MS = 2
_PIECE = 32  # bytes sent at once where the echo has to be taken meanwhile: the smallest receive buffers have 64


def port(bus, uart):
    if isinstance(uart, (tuple, list)) and len(uart) == 2:
        if bus._de is not None:
            raise ValueError(
                "%s: de= cannot go with a pair of streams, which do not tell when the last bit is out: let the "
                "operating system or the adapter drive it" % bus.name
            )
        return later.uartstreams.StreamPort(*uart)
    if hasattr(uart, "any") and hasattr(uart, "read"):
        return MachinePort(uart)
    if hasattr(uart, "in_waiting") and hasattr(uart, "read"):
        return BusioPort(uart)
    raise TypeError("%s: %r is no machine.UART, busio.UART or pair of asyncio streams" % (bus.name, uart))


class Port:
    name = ""  # of the bus
    dead = False  # after reset(): what still runs with it ends at its next step
    exact = False  # a drive has to be released right after the last bit
    sending = False  # not all that it was given is known to be out
    pause_ms = 3  # two characters
    last = None  # ticks of the last byte on the line
    unquiet = None  # ms of silence, from `since` on, without which a late byte may be taken for the next reply
    since = 0
    _kept = b""  # read already, but not part of the reply it came with

    def put_back(self, got):
        self._kept = bytes(got) + self._kept

    def check(self):
        if self.dead:
            raise NotHeld("%s was reset in this exchange" % self.name)

    def successor(self, port):
        """`port` takes over what is known of the line."""
        self.dead = True
        port.name = self.name
        port.exact = self.exact
        port.sending = self.sending
        port.last = self.last
        port.unquiet = self.unquiet
        port.since = ticks_ms()
        return port


class PolledPort(Port):
    """Looks every millisecond, so that the loop runs meanwhile; a read that has nothing to read may block."""

    _begun = 0  # ticks_us() when the UART was given something
    _out_ms = 0  # how long after that the last bit of all that it was given is out, at the latest

    def __init__(self, uart):
        self.uart = uart
        self._heard = None  # the echo, where there is one
        self.measure()

    def measure(self):
        """A driver may have set another speed."""
        self._character_ms = character_ms(self.uart)
        self.pause_ms = int(2 * self._character_ms) + 1

    def again(self):
        new = self.successor(type(self)(self.uart))
        new._begun = self._begun
        new._out_ms = self._out_ms
        return new

    def take(self):
        """All that is there, without waiting."""
        kept, self._kept = self._kept, b""
        n = self.waiting()
        return kept + (self.uart.read(n) or b"") if n else kept

    async def drain(self):
        return self.take()

    async def receive(self, ms):
        """What is there as soon as something is; b"" after `ms` of silence."""
        start = ticks_ms()
        while True:
            self.check()
            got = self.take()
            if got or ms is not None and ticks_diff(ticks_ms(), start) >= ms:
                return got
            await sleep_ms(1)  # cancelled here: nothing was read

    def put(self, buf):
        """The number of bytes that the UART has taken."""
        left = max(0, self._out_ms - gone_ms(self._begun)) if self.sending else 0
        self.sending = True
        self._begun = ticks_us()
        self._out_ms = left + len(buf) * self._character_ms  # all of it, as long as it is not known better
        n = self.uart.write(buf) or 0
        self._out_ms -= (len(buf) - n) * self._character_ms
        return n

    async def send(self, buf, echo, wait):
        """The echo so far, or None; when the last bit is out, or without `wait` when the UART has all of it."""
        self.sending = False
        self._heard = bytearray() if echo else None
        view = memoryview(buf)
        while len(view):
            n = self.put(view[:_PIECE] if echo else view)
            self._listen()
            if n:
                view = view[n:]
            else:
                await sleep_ms(1)  # its buffer is full; cancelled here: cut short
                self.check()
        if wait:
            await self.sent()  # cancelled here: cut short
        return self._heard

    def _listen(self):
        if self._heard is not None:
            self._heard.extend(self.take())

    async def _rest(self, ms):
        """Wait for so long: exactly if a drive hangs on it, else at least."""
        if not self.exact:
            await sleep_ms(int(ms) + 1)
        else:
            if ms > _NEAR_MS:
                begun = ticks_us()
                await sleep_ms(int(ms - _NEAR_MS))
                ms -= gone_ms(begun)
            if ms > 0:
                block_ms(ms)
        self.check()
        self._listen()

    def left_ms(self):
        """How long what it was given may still take, and one character: some hold the last one back."""
        return max(0, self._out_ms + self._character_ms - gone_ms(self._begun)) if self.sending else 0


class MachinePort(PolledPort):
    """machine.UART."""

    def waiting(self):
        return self.uart.any()

    async def sent(self):
        uart = self.uart
        if hasattr(uart, "txdone"):
            while not uart.txdone():
                if self.exact and 0 < self.left_ms() <= self._character_ms + _NEAR_MS:
                    block_ms(0.05)
                else:
                    await sleep_ms(1)  # cancelled here: cut short
                    self.check()
                self._listen()
            # Some ports say so one character early: their last one is still in the shift register.
            await self._rest(self._character_ms)
        else:
            await self._rest(self.left_ms())
        self.sending = False

    def finish(self):
        """Block until the last bit is out."""
        try:
            self.uart.flush()
        except (AttributeError, OSError):  # it has none, or did not end in time
            block_ms(self.left_ms())
        block_ms(self._character_ms)
        self.sending = False


class BusioPort(PolledPort):
    """busio.UART: write() returns when the last bytes have gone into the hardware's buffer."""

    def waiting(self):
        return self.uart.in_waiting

    async def sent(self):
        await self._rest(self.left_ms())
        self.sending = False

    def finish(self):
        block_ms(self.left_ms())
        self.sending = False


def character_ms(uart):
    """How long ten bits take; at 9600 baud where the port does not tell its speed."""
    baudrate = getattr(uart, "baudrate", None)
    if not isinstance(baudrate, int):
        text = repr(uart).split("baudrate=")
        digits = text[1].split(",")[0].split(")")[0] if len(text) > 1 else ""
        baudrate = int(digits) if digits.isdigit() else 9600
    return 10000 / baudrate


def gone_ms(begun):
    """The time since ticks_us() `begun`, or a little less; for ever, where that is so long ago that they cannot tell."""
    us = ticks_diff_us(ticks_us(), begun)
    return us / 1000 - US_STEP_MS if us >= 0 else 1 << 28


def block_ms(ms):
    if hasattr(time, "sleep_us"):
        time.sleep_us(int(ms * 1000) + 1)
    else:
        time.sleep(ms / 1000)
