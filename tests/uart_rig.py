"""A simulated UART with nodes, in the shape of every port: what the tests of UART are built on.

Two nodes speak a protocol of lines: "1:hello" is answered by node 1 with "1=hello". A test ends with `rig.check()`.
"""

import asyncio
import sys
import time

import buslock_sim
from buslock import UARTBus
from buslock_sim import UART, BusioUART, DigitalInOut, Node, Pin, UartLine
from support import clock
from support.small import KEPT, few_ports

CPYTHON = sys.implementation.name == "cpython"

MACHINE = few_ports("rp2", "rp2_1_23", "esp32", "stm32", "esp8266", "nrf")
BUSIO = few_ports("circuitpython", "blinka")
STREAMS = ("streams",)
PORTS = MACHINE + BUSIO + STREAMS
WITH_DE = MACHINE + BUSIO
SOME = ("rp2", "circuitpython") + STREAMS  # one of each kind

CHAR_MS = 1.04  # at 9600 baud

if hasattr(asyncio, "sleep_ms"):
    sleep = asyncio.sleep_ms
else:

    async def sleep(ms):
        await asyncio.sleep(ms / 1000)


class BlockingTime:
    """The module `time`, whose sleeps block for virtual time: what the library does where it may not await."""

    def __getattr__(self, name):
        return getattr(time, name)

    def sleep(self, seconds):
        clock.busy_us(int(seconds * 1000000))

    def sleep_ms(self, ms):
        clock.busy_us(ms * 1000)

    def sleep_us(self, us):
        clock.busy_us(us)


sys.modules["time"] = BlockingTime()
from buslock import uartports  # noqa: E402  (with this time)

uartports.ticks_us = clock.now_us
uartports.ticks_diff_us = lambda end, start: end - start


class Liner(Node):
    """Answers the line "1:hello" with "1=hello"; `asked` is what it was asked. A pause of 10 ms ends it."""

    end_us = 0

    def __init__(self, address, delay_ms=2, full_duplex=False):
        super().__init__()
        self.address = b"%d" % address
        self.delay_ms = delay_ms
        self.full_duplex = full_duplex
        self.asked = []
        self.line_so_far = b""

    def reset(self):
        self.line_so_far = b""

    def hear(self, byte, start_us, end_us):
        if start_us - self.end_us > 10000:
            self.line_so_far = b""
        self.end_us = end_us
        self.line_so_far += bytes([byte])
        if byte != 10:
            return
        whole, self.line_so_far = self.line_so_far, b""
        if whole[:2] == self.address + b":":
            self.asked.append(whole[2:-1])
            self.answer(self.address + b"=" + whole[2:], end_us)


class ReadChecked:
    """What stands between the bus and the raw UART in some tests: it knows which tasks have read.

    From a task's request to the end of its exchange nobody else may look at the input (F7).
    """

    def __init__(self, uart):
        self.uart = uart
        self.readers = []
        if hasattr(uart, "txdone"):
            self.txdone = uart.txdone
            self.flush = uart.flush
        self.baudrate = uart.baudrate

    def _note(self):
        task = asyncio.current_task()
        if not self.readers or self.readers[-1] is not task:
            self.readers.append(task)

    def any(self):
        self._note()
        return self.uart.any()

    def read(self, n):
        self._note()
        return self.uart.read(n)

    def write(self, buf):
        return self.uart.write(buf)


class Rig:
    """`nodes`: a function that makes others than two Liners. `factory`: None for a ready object, "sync" or "async" for
    a function that makes one. `bus` has more arguments of the bus.
    """

    def __init__(
        self, port="rp2", nodes=None, de=False, de_active=1, echo=False, baudrate=9600, factory=None, wrap=None, **bus
    ):
        self.port = port
        self.busio = port in BUSIO
        self.baudrate = baudrate
        self.wrap = wrap
        self.made = []
        self.line = line = UartLine(de=de, de_active=de_active, echo=echo, keep=KEPT)
        self.nodes = (Liner(1), Liner(2)) if nodes is None else nodes()
        for node in self.nodes:
            line.attach(node)
        self.a = self.nodes[0] if self.nodes else None
        self.b = self.nodes[-1] if self.nodes else None
        if de:
            self.de = DigitalInOut(line.de) if self.busio else Pin(line.de)
            bus.update(de=self.de, de_active=de_active)
        if port in STREAMS:
            factory = "async"
        make = {None: self.make, "sync": lambda: self.make, "async": lambda: self.make_slowly}[factory]
        self.bus = UARTBus(make(), echo=echo, **bus)

    def make(self):
        if self.busio:
            uart = BusioUART(self.line, port=self.port, baudrate=self.baudrate)
        else:
            uart = UART(self.line, self.port, baudrate=self.baudrate)
        if self.wrap is not None:
            uart = self.wrap(uart)
        self.made.append(uart)
        return uart

    async def make_slowly(self):
        await sleep(1)
        if self.port not in STREAMS:
            return self.make()
        if CPYTHON:
            from buslock_sim import open_streams

            streams = await open_streams(self.line, baudrate=self.baudrate)
        else:
            streams = (asyncio.StreamReader(UART(self.line, baudrate=self.baudrate)),) * 2
        self.made.append(streams)
        return streams

    async def check(self):
        """At rest: no mistake on the line, swallowed or not; nothing held, nobody waits, DE idle."""
        if self.port in STREAMS:
            await self.bus.aclose()
            await sleep(0)
        buslock_sim.check()
        self.line.check()
        assert len(self.bus._table) == 0
        assert not self.bus._wire.locked()
        assert self.bus._wire.waiters == 0
        assert self.bus._wire_hold is None

    def de_idle(self):
        return self.line.de is None or self.line.de.level() != self.line._de_active


def rigs(ports=PORTS, **arguments):
    for port in ports:
        rig = Rig(port, **arguments)
        yield rig
        rig.line.transcript.clear()  # whoever has it keeps it while the next one is made


def ask(node, text, **arguments):
    """One exchange with a Liner: the text comes back."""
    return node.exchange(b"%s:%s\n" % (str(node.address).encode(), text), until=b"\n", **arguments)


def answer(node, text):
    return b"%s=%s\n" % (str(node.address).encode(), text)


async def use_key(node, ms):
    """Hold the node's key for a time, the line free."""
    async with node.hold():
        await sleep(ms)


async def use_line(node, ms):
    """Hold the node's key and the line for a time."""
    async with node.hold(wire=True):
        await sleep(ms)


async def go_on(steps, us=500):
    """So many turns of the scheduler, on each of which a little time passes: sleeps of the others end, too."""
    for _ in range(steps):
        clock.busy_us(us)
        await asyncio.sleep(0)


async def cancel(task):
    """Cancel and wait until it has ended."""
    task.cancel()
    try:
        await task
    except asyncio.CancelledError:
        pass


def record_calls(line):
    """The names of the calls from now on, in a list that grows."""
    names = []
    called = line.called

    def recording(what):
        names.append(what)
        return called(what)

    line.called = recording
    return names


def turning_points(names):
    """Where calls are worth to fail: the first and the last of those with equal neighbours, of which there are many."""
    first = {}
    last = {}
    for i in range(len(names)):
        key = tuple(names[max(0, i - 1) : i + 2])
        if key not in first:
            first[key] = i
        last[key] = i
    return sorted(set(first.values()) | set(last.values()))
