"""UARTBus and its nodes: request and reply on a line that several tasks share."""

from ._rt import later
from .bus import Bus
from .device import Device


class UARTBus(Bus):
    """A `machine.UART`, `busio.UART`, or a pair of asyncio streams (reader, writer); or a function that makes one.

    `de`: the drive-enable pin of an RS-485 transceiver, active at level `de_active`; not with streams. `echo`: what is
    sent comes back (single wire), and is removed and checked. `gap_ms`: silence before each request. `max_reply` bytes
    at most.
    `unsolicited(bytes)` is given what comes and belongs to no exchange; without it that is dropped, and counted.
    One bus object for one UART: a second one is refused (ValueError).
    """

    _directories = ("uartbus", "busmore")
    _awaits = True
    _events = ("strays", "silences")
    _owned = None  # the peripheral that is this bus object's own

    def __init__(
        self,
        uart,
        name=None,
        close=None,
        de=None,
        de_active=1,
        echo=False,
        gap_ms=0,
        max_reply=256,
        unsolicited=None,
        max_waiters=None,
        trace=None,
    ):
        self.name = name = name or "uart"
        self._set(de, de_active, echo, gap_ms, max_reply, unsolicited)
        super().__init__(uart, name, close, max_waiters, trace)
        if trace is not None:
            later.traceduart.attach(self)

    def device(self, address=0):
        """The node of that address, an int or a string: what has a key of its own. A line with one partner needs none
        but 0."""
        node = self._devices.get(address)
        if node is None:
            self._check_address(address)
            self._devices[address] = node = UARTNode(self, address)
        return node


class Exchanges:
    """What a node and its session can do. `timeout_ms` bounds the waiting for the line, `reply_ms` the silence.

    Which bytes are the reply: `nbytes` of them; or up to and with the bytes `until`; or as many as `frame(buf)` wants:
    it returns True for complete, None for more to come, False for invalid, each time a byte has come.
    """

    async def exchange(self, request, nbytes=None, until=None, frame=None, reply_ms=1000, timeout_ms=None):
        """Send a request; its reply. NoReply after `reply_ms` of silence, TransferError for an invalid reply.

        Silence counts from the last bit sent. Nobody else has the line from the request to the reply.
        """
        bus = self._node._bus
        expect = bus._expect(nbytes, until, frame, reply_ms)
        bus._check_request(request)
        return await self._run(timeout_ms, bus._exchange, request, expect)

    async def read(self, nbytes=None, until=None, frame=None, reply_ms=None, timeout_ms=None):
        """What comes by itself; the line is held until it is complete. `reply_ms` None waits for ever."""
        bus = self._node._bus
        return await self._run(timeout_ms, bus._receive, None, bus._expect(nbytes, until, frame, reply_ms))

    async def write(self, buf, timeout_ms=None):
        """Send; nothing is answered."""
        bus = self._node._bus
        bus._check_request(buf)
        await self._run(timeout_ms, bus._send, buf, None)


class UARTNode(Exchanges, Device):
    """One address. Made by `bus.device(address)`."""

    _directories = ("uartnode", "devicemore")

    def __init__(self, bus, address):
        self._bus = bus
        self._node = self
        self.address = self._key = address

    def _run(self, timeout_ms, function, a, b):
        return self._bus._with_key(self, timeout_ms, 0, function, a, b)
