"""A simulated SPI bus with chips, in the shape of every port: what the tests of SPI are built on.

Two chips share the wire: both answer each byte with the byte XOR their own number. A test ends with `rig.check()`.
"""

import asyncio
import sys

import buslock_sim
from buslock import SPIBus
from buslock_sim import SPI, AsyncSPI, BusioSPI, DigitalInOut, Pin, SoftSPI, SpiChip, SpiWire
from support import clock
from support.small import KEPT, few_ports

MACHINE = few_ports("rp2", "late_clock", "esp32", "stm32", "esp8266", "soft")
BUSIO = few_ports("circuitpython", "blinka")
AWAITED = ("awaited",)
SYNC = MACHINE + BUSIO
PORTS = SYNC + AWAITED
SOME = few_ports("rp2", "soft", "circuitpython") + AWAITED  # one of each kind

PINS = ("pin", "number", "digital", "board")  # what a chip select is given as

if hasattr(asyncio, "sleep_ms"):
    sleep = asyncio.sleep_ms
else:

    async def sleep(ms):
        await asyncio.sleep(ms / 1000)


class Echo(SpiChip):
    """Answers each byte with the byte XOR `number`; `heard` has a bytes for each selection."""

    def __init__(self, number, modes=(0,), max_baudrate=1_000_000, bits=8, lsb_first=False):
        self.number = number
        self.modes = modes
        self.max_baudrate = max_baudrate
        self.bits = bits
        self.lsb_first = lsb_first
        self.heard = []
        self.clocks = 0  # bytes that went by while it was not selected

    def select(self):
        self.heard.append(b"")

    def exchange(self, byte):
        if not self.heard:  # a chip without a chip select
            self.heard.append(b"")
        self.heard[-1] += bytes([byte])
        return byte ^ self.number

    def pass_by(self, byte, clocking):
        self.clocks += 1

    def listen(self):
        """What it has heard since the last call, one bytes for each selection."""
        heard, self.heard = self.heard, []
        return heard


class AwaitedSPI:
    """An AsyncSPI in the form in which the bus wants awaited transfers: machine's names, and `awaitable`."""

    awaitable = True

    def __init__(self, wire):
        self.spi = AsyncSPI(wire, locked="lock")

    def init(self, baudrate, polarity, phase, bits=8):
        self.spi.configure(baudrate=baudrate, polarity=polarity, phase=phase, bits=bits)

    def write(self, buf):
        return self.spi.write(buf)

    def readinto(self, buf, write=0):
        return self.spi.readinto(buf, write_value=write)

    def write_readinto(self, out, into):
        return self.spi.write_readinto(out, into)

    def deinit(self):
        self.spi.deinit()


class Machine:
    """Stands for a board's module `machine`, in which Pin(number) is one object for each number."""

    def __init__(self, wire):
        self.wire = wire
        self.pins = {}
        self.Pin = self.pin  # MicroPython 1.26 refuses `from machine import Pin` where that is a method

    def pin(self, number):
        if number not in self.pins:
            self.pins[number] = Pin(self.wire.line(number))
        return self.pins[number]


class Rig:
    """`pins`: one of PINS. `factory`: None for a ready object, "sync" or "async" for a function that makes one.

    `chips`: (a, b) in place of two Echoes; `peripheral(wire)` makes another object than that of the port. `bus` has
    more arguments of the bus.
    """

    def __init__(self, port="rp2", pins=None, factory=None, chips=None, active=0, peripheral=None, **bus):
        self.port = port
        self.busio = port in BUSIO
        self.awaits = port in AWAITED
        self.pins = pins or ("digital" if self.busio or self.awaits else "pin")
        self.made = []  # the peripherals
        self.wire = wire = SpiWire(keep=KEPT)
        self.names = (5, 6) if self.pins == "number" else ("a", "b")
        self.a, self.b = chips or (Echo(0x5A), Echo(0xA5))
        for name, chip in zip(self.names, (self.a, self.b)):
            wire.attach(name, chip, active=active)
        sys.modules["machine"] = self.machine = Machine(wire)
        sys.modules["digitalio"] = __import__("buslock_sim.digitalio", None, None, ("DigitalInOut",))
        self.peripheral = peripheral
        make = {None: self.make, "sync": lambda: self.make, "async": lambda: self.make_slowly}[factory]
        self.bus = SPIBus(make(), **bus)

    def make(self):
        if self.peripheral is not None:
            spi = self.peripheral(self.wire)
        elif self.awaits:
            spi = AwaitedSPI(self.wire)
        elif self.busio:
            spi = BusioSPI(self.wire, port=self.port)
        elif self.port == "soft":
            spi = SoftSPI(self.wire)
        else:
            spi = SPI(self.wire, self.port)
        self.made.append(spi)
        return spi

    async def make_slowly(self):
        await sleep(1)
        return self.make()

    def cs(self, name):
        """The chip select of that line, as this rig's port calls it."""
        if self.pins == "pin":
            return Pin(self.wire.line(name))
        if self.pins == "digital":
            return DigitalInOut(self.wire.line(name))
        return name if self.pins == "number" else self.wire.line(name)

    def devices(self, **arguments):
        """The devices of both chips."""
        return [self.bus.device(self.cs(name), **arguments) for name in self.names]

    def check(self):
        """At rest: no mistake on the wire, swallowed or not; nothing held, nobody waits, nobody selected."""
        buslock_sim.check()
        assert len(self.bus._table) == 0
        assert not self.bus._wire.locked()
        assert self.bus._wire.waiters == 0
        assert self.bus._wire_hold is None
        assert self.wire.idle()
        if self.busio:
            assert self.made[-1].try_lock()
            self.made[-1].unlock()

    def steps(self):
        """(operation, whom) of what happened on the wire since the last call, without the bytes."""
        steps = [step[:2] for step in self.wire.transcript.steps()]
        self.wire.transcript.clear()
        return steps

    def sections(self):
        """The steps since the last call without clocks for nobody, and without configurations outside of a section."""
        found = []
        inside = False
        for operation, whom in self.steps():
            if operation in ("select", "deselect"):
                inside = operation == "select"
            elif not inside:
                continue
            found.append((operation, whom))
        return found


def rigs(ports=PORTS, **arguments):
    for port in ports:
        rig = Rig(port, **arguments)
        yield rig
        rig.wire.transcript.clear()  # whoever has it keeps it while the next one is made


async def use_key(device, ms, log=None, name=None):
    """Hold the device's key for a time, the wire free."""
    async with device.hold():
        if log is not None:
            log.append(name)
        await sleep(ms)


async def use_wire(device, ms):
    """Hold the device's key and the wire for a time."""
    async with device.hold(wire=True):
        await sleep(ms)


def drive(pin, level):
    """What a driver does that moves CS itself."""
    if hasattr(pin, "switch_to_output"):
        pin.value = bool(level)
    else:
        pin(level)


async def go_on(steps, us=200):
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
