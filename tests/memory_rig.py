"""Objects for tests in which memory runs out, what must be true of them afterwards, and one run with a full heap.

The heap is full but for n blocks (tests/support/heap.py). Peripherals allocate nothing but their results.
"""

import asyncio
from asyncio import core

import buslock.uartlines
import buslock.waitmore
from buslock import I2CBus, Lazy, Lock, LockTable, SPIBus, Trace, TransactionError, UARTBus, waitqueue
from raw_rig import RawAwaitedSPI, RawI2C, RawPin, RawSPI, RawUART
from support import cold, heap

buslock.uartlines._QUIET_MS = 1  # an exchange that failed is followed by real silence

BUF = bytearray(2)
TWO = b"\x01\x02"
LINE_FEED = b"\n"
PATIENCE_MS = 40  # of real time, for an operation that memory does not suffice for


class Case:
    """What is made afresh for each run. `devices`: two that are looked at afterwards."""

    traced = False

    def __init__(self):
        self.result = None
        self.occupied = self.over = False
        self.make()

    async def occupying(self):
        """Called by occupy() with everything held."""
        self.occupied = True
        while not self.over:
            await asyncio.sleep_ms(0)
        await go_on()

    async def warm(self, operation):
        await operation(self)


class Locks(Case):
    def make(self):
        self.lock = Lock("one")
        self.table = LockTable("table")

    def rest(self):
        assert not self.lock.locked()
        assert self.lock.waiters == 0
        assert len(self.table) == 0
        assert not self.table._shut
        assert self.table._gate is None or not self.table._gate._line

    async def works(self):
        async with self.lock:
            pass
        async with self.lock.hold(timeout_ms=0):
            pass
        async with self.table.hold("k", timeout_ms=0):
            pass
        async with self.table.hold_many(("a", "k"), timeout_ms=0):
            pass
        async with self.table.hold_all(timeout_ms=0):
            pass

    async def occupy(self):
        async with self.lock:
            async with self.table.hold("k"):
                await self.occupying()


class OfBus(Case):
    def rest(self):
        bus = self.bus
        assert len(bus._table) == 0
        assert not bus._table._shut
        assert not bus._wire.locked()
        assert bus._wire.waiters == 0
        assert bus._wire_hold is None
        assert not bus._transfer

    async def occupy(self):
        async with self.a.hold():
            async with self.b.hold(wire=True):
                await self.occupying()


class I2C(OfBus):
    made = False

    def make(self):
        self.raw = RawI2C()
        self.scl, self.sda = RawPin(), RawPin()
        given = (lambda: self.raw) if self.made else self.raw
        trace = Trace(64) if self.traced else None
        self.bus = I2CBus(given, scl=self.scl, sda=self.sda, trace=trace)
        self.a = self.bus.device(0x10)
        self.b = self.bus.device(0x11)
        self.channel = self.bus.mux(0x70).channel(1)
        self.behind = self.channel.device(0x20)

    def rest(self):
        super().rest()
        assert self.scl.level == 1 and self.sda.level == 1

    async def works(self):
        for device in (self.b, self.a, self.behind):
            calls = self.raw.calls
            assert await device.read_register(0, 2, timeout_ms=0) == bytes(2)
            await device.write_register(0, 1)
            assert self.raw.calls > calls
        async with self.a.hold(wire=True) as session:
            await session.read(1)


class SPI(OfBus):
    peripheral = RawSPI

    def make(self):
        self.cs = RawPin(), RawPin()
        self.raw = self.peripheral(*self.cs)
        self.bus = SPIBus(self.raw, trace=Trace(64) if self.traced else None)
        self.a = self.bus.device(self.cs[0], polarity=1)
        self.b = self.bus.device(self.cs[1])

    def rest(self):
        super().rest()
        assert self.cs[0].level == 1 and self.cs[1].level == 1
        assert self.raw.wrong == 0

    async def works(self):
        for device in (self.b, self.a):
            calls = self.raw.calls
            assert await device.read(2) == bytes(2)
            await device.write(TWO)
            async with device.select() as spi:
                await spi.write(TWO)
            assert self.raw.calls >= calls + 3


class UART(OfBus):
    echo = False

    def make(self):
        self.raw = RawUART(self.echo)
        self.de = RawPin(0)
        self.bus = UARTBus(self.raw, de=self.de, echo=self.echo, trace=Trace(64) if self.traced else None)
        self.a = self.bus.device(1)
        self.b = self.bus.device(2)

    def rest(self):
        super().rest()
        assert self.de.level == 0

    async def works(self):
        for device in (self.b, self.a):
            assert await device.exchange(b"?\n", until=LINE_FEED, reply_ms=2) == RawUART.REPLY
        await self.a.write(b"x")


class EchoingUART(UART):
    echo = True


class AwaitedSPI(SPI):
    peripheral = RawAwaitedSPI


class MadeI2C(I2C):
    """With a peripheral that a function makes."""

    made = True


class TracedI2C(I2C):
    traced = True


class TracedSPI(SPI):
    traced = True


class TracedAwaitedSPI(AwaitedSPI):
    traced = True


class TracedUART(UART):
    traced = True


class Lazies(Case):
    def make(self):
        async def factory():
            await asyncio.sleep_ms(0)
            return BUF

        self.lazy = Lazy(factory)
        self.lock = Lock("one")

    def rest(self):
        assert self.lazy.state != "starting"
        assert not self.lock.locked() and self.lock.waiters == 0

    async def works(self):
        assert await self.lazy.get() is BUF

    async def occupy(self):
        async with self.lock:
            await self.occupying()

    async def warm(self, operation):
        await operation(self)
        await self.lazy.aclose()


async def go_on():
    for _ in range(6):
        await asyncio.sleep_ms(0)


async def ending(case, coro):
    """Runs it, and keeps what it has ended with, without allocating.

    The type alone: where no exception can be allocated, all are one object, which the next one changes.
    """
    try:
        await coro
        case.result = True
    except Exception as error:
        case.result = type(error)


async def watch(tasks, ms):
    """Until they have ended, or have had time enough."""
    start = core.ticks()
    while core.ticks_diff(core.ticks(), start) < ms:
        busy = False
        for task in tasks:
            busy = busy or not task.done()
        if not busy:
            return
        await asyncio.sleep_ms(0)


async def afterwards(case, tasks):
    await watch(tasks, 5000)  # an echo that has not come is waited for, on a machine that may be busy
    for task in tasks:
        assert task.done(), "a task waits for ever"
    await go_on()  # what a task has set going, as the making of a Lazy, goes on without it
    assert len(getattr(waitqueue, "_waiting", ())) == 0
    case.rest()
    await case.works()
    case.rest()


async def tidied(task):
    try:
        await task
    except MemoryError:
        pass


_loaded = []  # what was run once, so that its modules are loaded


def load(make, operation, taken=False):
    """Run it once with memory enough, on an object of its own."""
    if (make, operation, taken) not in _loaded:
        _loaded.append((make, operation, taken))
        case = make()
        asyncio.run(case.warm(operation))
        asyncio.run(case.works())
        if taken:
            case.over = True
            asyncio.run(case.occupy())


def struck(make, operation, blocks, taken, collect):
    """One run with so many blocks, on a new object, and with no method found yet. True if the operation went through."""
    load(make, operation, taken)
    cold.forget_methods()
    case = make()
    tasks = []
    if taken:
        core.cur_task = None
        tasks.append(asyncio.create_task(tidied(case.occupy())))
        while not case.occupied:
            asyncio.run(go_on())
        case.over = True
    core.cur_task = None
    tasks.append(asyncio.create_task(ending(case, begin(case, operation))))
    loop = full(case, tasks, blocks, collect)
    if case.result is True:
        return loop is None
    assert case.result in (None, MemoryError, TransactionError), case.result
    return False


def full(case, tasks, blocks, collect):
    """Let the tasks run with so many blocks; then with memory again. The MemoryError of the loop itself, or None."""
    core.cur_task = None
    watching = core.create_task(watch(tasks, PATIENCE_MS))
    loop = None
    try:
        heap.fill(blocks, collect)
        core.run_until_complete(watching)
    except MemoryError as error:  # it goes on, as after Ctrl-C
        loop = error
    finally:
        heap.empty()
    core.cur_task = None
    asyncio.run(afterwards(case, tasks))
    return loop


async def begin(case, operation):
    await operation(case)
