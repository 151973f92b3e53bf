"""A simulated bus with chips, in the shape of every port: what the tests of I2C are built on.

Two register files, an IO expander, a thermometer and an EEPROM share the wire. Each test ends with `rig.check()`.
"""

import asyncio
import sys
import time

import buslock.recovery
import buslock_sim
from buslock import I2CBus
from buslock_sim import (
    EEPROM,
    I2C,
    BusioI2C,
    IOExpander,
    Pin,
    RegisterFile,
    SoftI2C,
    Thermometer,
    Wire,
)
from support import clock
from support.outcome import skip
from support.small import KEPT, SMALL, few_ports

try:
    import _thread
except ImportError:
    _thread = None

MACHINE = few_ports("rp2", "esp32", "stm32", "soft")
BUSIO = few_ports("circuitpython", "blinka")
PORTS = MACHINE + BUSIO

A = 0x10
B = 0x11
EXPANDER = 0x20
THERMOMETER = 0x48
MEMORY = 0x50
NOBODY = 0x3C


class VirtualTime:
    """What recovery asks for its pauses of some us, when the tests' clock is virtual."""

    sleep_us = staticmethod(clock.busy_us)


if clock.is_virtual():
    buslock.recovery.time = VirtualTime

if hasattr(asyncio, "sleep_ms"):
    sleep = asyncio.sleep_ms
else:

    async def sleep(ms):
        await asyncio.sleep(ms / 1000)


class Counter(RegisterFile):
    """A register file that counts the clocks it saw while it held SDA, and the transfers that reached it."""

    clocks = 0
    starts = 0
    _kind = None

    def clock(self):
        self.clocks += 1
        super().clock()

    def fail_nth(self, kind, nth, at=None):
        """The nth START from now on fails (0 is the next), at the address or at the data byte `at`."""
        self._kind, self._left, self._at = kind, nth, at
        self.fail("nack", at=-1)  # one that never strikes: the wire asks only where there is one

    def fault_at(self, index, read):
        if self._kind is not None:
            if index is None:
                self._left -= 1
            if self._left < 0 and index == self._at and not (read and self._kind == "nack" and index is not None):
                kind, self._kind = self._kind, None
                return kind
        return super().fault_at(index, read)

    def recover(self):
        self._kind = None
        super().recover()

    def start(self, read):
        self.starts += 1
        return super().start(read)


class NumberedI2C(I2C):
    """I2C(0, scl=..., sda=...): made by number and pins, as on the boards."""

    wires = {}
    latest = {}

    def __init__(self, number, scl=None, sda=None, freq=400000, port="rp2"):
        self.number = number
        self.latest[number] = self
        super().__init__(self.wires[number], port, freq=freq)

    def __repr__(self):
        return "I2C(%d, freq=%d, scl=5, sda=4, timeout=50000)" % (self.number, self.freq)


class Rig:
    """`factory`: None for a ready object, "sync" or "async" for a function that makes one. `bus` has more arguments."""

    def __init__(self, port="rp2", factory=None, pins=False, wire=None, **bus):
        self.port = port
        self.factory = factory
        self.busio = port in BUSIO
        self.made = []  # the peripherals
        self.closed = []
        if wire is None:
            wire = Wire(keep=KEPT)
            self.a = wire.attach(A, Counter(bytes(range(256))))
            self.b = wire.attach(B, Counter(bytes(range(255, -1, -1))))
            self.expander = wire.attach(EXPANDER, IOExpander())
            self.thermometer = wire.attach(THERMOMETER, Thermometer(21.5, conversion_ms=20))
            self.memory = wire.attach(MEMORY, EEPROM(size=1024, page=32))
        self.wire = wire
        if pins and self.busio:
            # CircuitPython's pins are names; the module that makes them inputs and outputs is the simulator's.
            sys.modules["digitalio"] = __import__("buslock_sim.digitalio", None, None, ("DigitalInOut",))
            bus.update(scl=wire.scl, sda=wire.sda)
        elif pins:
            bus.update(scl=Pin(wire.scl), sda=Pin(wire.sda))
        make = {None: self.make, "sync": lambda: self.make, "async": lambda: self.make_slowly}[factory]
        self.bus = I2CBus(make(), **bus)

    def make(self):
        if self.busio:
            i2c = BusioI2C(self.wire, port=self.port)
        elif self.port == "soft":
            i2c = SoftI2C(self.wire)
        elif self.port == "numbered":
            NumberedI2C.wires[0] = self.wire
            i2c = NumberedI2C(0)
        else:
            i2c = I2C(self.wire, self.port, deinit=True)
        self.made.append(i2c)
        return i2c

    async def make_slowly(self):
        await sleep(1)
        return self.make()

    def check(self):
        """At rest: no mistake on the wire, swallowed or not; nothing held, nobody waits."""
        buslock_sim.check()
        assert len(self.bus._table) == 0
        assert not self.bus._wire.locked()
        assert self.bus._wire.waiters == 0
        assert self.wire.idle()

    def steps(self):
        """(operation, address) of what happened on the wire since the last call, without the bytes."""
        steps = [step[:2] for step in self.wire.transcript.steps()]
        self.wire.transcript.clear()
        return steps

    def users(self):
        """The addresses that were started, in order."""
        return [address for operation, address in self.steps() if operation in ("START", "RESTART")]


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


async def outcome(awaitable):
    """Its result, or the exception that it ended with: for tasks that fail while nobody awaits them."""
    try:
        return await awaitable
    except Exception as error:
        return error


async def cancel(task):
    """Cancel and wait until it has ended."""
    task.cancel()
    try:
        await task
    except asyncio.CancelledError:
        pass


def in_thread(function):
    """Runs the function in another thread and returns its result or exception."""
    if _thread is None:
        skip("this MicroPython has no threads: it is built without _thread")
    if SMALL:
        skip("a thread of a Pico is its other core, which the emulator does not have")
    results = []

    def run():
        try:
            results.append(function())
        except Exception as error:
            results.append(error)

    if CPYTHON:
        __import__("threading").Thread(target=run).start()  # which tells tracers of it
    else:
        _thread.start_new_thread(run, ())
    for _ in range(2000):
        if results:
            return results[0]
        time.sleep(0.002)
    raise AssertionError("the other thread has not ended")


CPYTHON = sys.implementation.name == "cpython"


class Loops:
    """Runs coroutines in one loop after the other, and leaves what they leave behind, as MicroPython's run() does."""

    def __init__(self):
        self.all = []
        self.left = []
        self.new()

    def new(self):
        """Replaces the loop: what sleeps in the old one never runs again."""
        if CPYTHON:
            if self.all:
                self._abandon(self.loop)
            self.loop = asyncio.new_event_loop()
            self.all.append(self.loop)
        else:
            asyncio.core.cur_task = None
            asyncio.new_event_loop()

    def run(self, coro):
        if CPYTHON:
            return self.loop.run_until_complete(coro)
        asyncio.core.cur_task = None
        return asyncio.run(coro)

    def close(self):
        """Forgets what was left, which was left on purpose."""
        if CPYTHON:
            self._abandon(self.loop)
            for task in self.left:
                task.get_coro().close()
        else:
            self.new()

    def _abandon(self, loop):
        for task in asyncio.all_tasks(loop):
            task._log_destroy_pending = False
            self.left.append(task)
        loop.close()
