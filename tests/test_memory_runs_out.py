"""Memory runs out at each allocation of each operation: nothing is held then, CS and DE are idle, the next one works.

The heap is full but for n blocks (tests/support/heap.py), for n from 0 until the operation goes through: with the
collector at work, and without it, where what cleans up may allocate nothing either. Peripherals allocate nothing but
their results. What is loaded on first use is loaded before.
"""

import asyncio
from asyncio import core

import buslock.uartlines
import buslock.waitmore
from buslock import (
    DeadlineExceeded,
    I2CBus,
    Lazy,
    Lock,
    LockTable,
    SPIBus,
    TransactionError,
    UARTBus,
    deadline,
    hold,
    wait_for_ms,
    waitqueue,
)
from raw_rig import RawI2C, RawPin, RawSPI, RawUART
from support import heap

RUNTIMES = ("micropython", "micropython-adafruit", "pico")
LEFT_OUT = {"pico": "it fills the heap of a VM of 64 bits"}
HEAP = "640K"
TIME_LIMIT = 600  # of the slow ones
SLOW = (
    "test_locks_at_each_allocation",
    "test_i2c_at_each_allocation",
    "test_spi_at_each_allocation",
    "test_uart_at_each_allocation",
    "test_uart_with_echo_at_each_allocation",
)

buslock.uartlines._QUIET_MS = 1  # an exchange that failed is followed by real silence

BUF = bytearray(2)
TWO = b"\x01\x02"
PATIENCE_MS = 40  # of real time, for an operation that memory does not suffice for
ENOUGH = 600  # blocks
SAMPLE = 29  # of so many numbers of blocks one, without the collector of thrice as many
LINE_FEED = b"\n"


class Case:
    """What is made afresh for each run. `devices`: two that are looked at afterwards."""

    def __init__(self):
        self.result = None
        self.make()

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
                await go_on()


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
                await go_on()


class I2C(OfBus):
    def make(self):
        self.raw = RawI2C()
        self.scl, self.sda = RawPin(), RawPin()
        self.bus = I2CBus(self.raw, scl=self.scl, sda=self.sda)
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
    def make(self):
        self.cs = RawPin(), RawPin()
        self.raw = RawSPI(*self.cs)
        self.bus = SPIBus(self.raw)
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
        self.bus = UARTBus(self.raw, de=self.de, echo=self.echo)
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
            await go_on()

    async def warm(self, operation):
        await operation(self)
        await self.lazy.aclose()


async def go_on():
    for _ in range(6):
        await asyncio.sleep_ms(0)


# The operations


async def with_lock(case):
    async with case.lock:
        await asyncio.sleep_ms(0)


async def with_lock_hold(case):
    async with case.lock.hold(timeout_ms=1000):
        await asyncio.sleep_ms(0)


async def acquire(case):
    await case.lock.acquire(1000)
    case.lock.release()


async def with_key(case):
    async with case.table.hold("k"):
        await asyncio.sleep_ms(0)


async def with_shared_key(case):
    async with case.table.hold("k", 1000, True):
        await asyncio.sleep_ms(0)


async def with_keys(case):
    async with case.table.hold_many(("b", "k", "a")):
        await asyncio.sleep_ms(0)


async def with_table(case):
    async with case.table.hold_all():
        await asyncio.sleep_ms(0)


async def try_key(case):
    held = case.table.try_hold("free")
    held.release()


async def in_time(case):
    async with deadline(1000):
        async with case.lock:
            await asyncio.sleep_ms(0)


async def too_late(case):
    try:
        async with deadline(1):
            while True:
                await asyncio.sleep_ms(0)
    except DeadlineExceeded:
        pass


async def wait_in_time(case):
    await wait_for_ms(case.lock.acquire(), 1000)
    case.lock.release()


async def with_device(case):
    async with case.a.hold() as session:
        await session.read(2)
        await asyncio.sleep_ms(0)


async def with_wire(case):
    async with case.a.hold(wire=True) as session:
        await session.write(TWO)
        await asyncio.sleep_ms(0)


async def with_spi_wire(case):
    async with case.a.hold(wire=True) as session:
        case.cs[0](0)
        await session.write(TWO)
        case.cs[0](1)


async def with_devices(case):
    async with case.bus.hold(case.a, case.b) as regs:
        await regs.read(case.b, 2)


async def with_several(case):
    async with hold(case.a, case.b) as regs:
        await regs.read(case.b, 2)


async def with_bus(case):
    async with case.bus.hold_all() as regs:
        await regs.read(case.a, 2)


async def transaction(case):
    txn = case.bus.transaction()
    txn.read_register(case.a, 0, 2)
    txn.update_register(case.b, 0, 1, 1)
    txn.scan()
    assert len(await txn.execute()) == 3


async def transaction_of_two(case):
    txn = case.bus.transaction()
    txn.read_register(case.a, 0, 2)
    txn.update_register(case.b, 0, 1, 1)
    assert len(await txn.execute()) == 2


async def script(case):
    @case.bus.script(case.a)
    async def body(regs):
        await regs.write_register(case.a, 0, 1)

    await body()


async def open_write(case):
    async with case.a.hold() as session:
        await session.write(TWO, stop=False)
        await session.read(1)


async def select(case):
    async with case.a.select() as spi:
        await spi.write(TWO)
        await asyncio.sleep_ms(0)
        await spi.read(2)


async def select_in_session(case):
    async with case.a.hold() as session:
        async with session.select() as spi:
            await spi.write_then_read(TWO, 2)


async def node_hold(case):
    async with case.a.hold() as session:
        await session.exchange(b"?\n", until=LINE_FEED, reply_ms=2)


async def read_line(case):
    case.raw.reply = RawUART.REPLY
    await case.a.read(until=LINE_FEED, reply_ms=2)


LOCKS = (
    with_lock,
    with_lock_hold,
    acquire,
    with_key,
    with_shared_key,
    with_keys,
    with_table,
    try_key,
    in_time,
    wait_in_time,
    too_late,
)
OF_I2C = {
    "read_register": lambda case: case.a.read_register(0, 2),
    "read_register in time": lambda case: case.a.read_register(0, 2, 1000),
    "short form": lambda case: case.bus.read_register(0x10, 0, 2),
    "read_register_into": lambda case: case.a.read_register_into(0, BUF),
    "write_register": lambda case: case.a.write_register(0, 5),
    "update_register": lambda case: case.a.update_register(0, 1, 1),
    "wait_register": lambda case: case.a.wait_register(0, 0xFF, 0),
    "write_then_read": lambda case: case.a.write_then_read(TWO, 2),
    "write_then_read long": lambda case: case.a.write_then_read(b"123456", 2),
    "read": lambda case: case.a.read(2),
    "readinto": lambda case: case.a.readinto(BUF),
    "write": lambda case: case.a.write(TWO, 5),
    "probe": lambda case: case.a.probe(),
    "scan": lambda case: case.bus.scan(),
    "recover": lambda case: case.bus.recover(),
    "mux": lambda case: case.behind.read_register(0, 2),
    "mux scan": lambda case: case.channel.scan(),
    "call": lambda case: case.bus.call(case.a, len, BUF),
    "hold": with_device,
    "hold wire": with_wire,
    "hold devices": with_devices,
    "hold several": with_several,
    "hold all": with_bus,
    "transaction": transaction,
    "transaction of two": transaction_of_two,
    "script": script,
    "open write": open_write,
}
OF_SPI = {
    "write": lambda case: case.a.write(TWO, TWO),
    "read": lambda case: case.a.read(2),
    "readinto": lambda case: case.a.readinto(BUF),
    "write_readinto": lambda case: case.a.write_readinto(TWO, BUF),
    "write_then_read": lambda case: case.a.write_then_read(TWO, 2),
    "select": select,
    "select in a session": select_in_session,
    "hold": with_device,
    "hold wire": with_spi_wire,
    "call": lambda case: case.bus.call(case.a, len, BUF),
    "hold all": with_bus,
}
OF_UART = {
    "until": lambda case: case.a.exchange(b"?\n", until=LINE_FEED, reply_ms=2),
    "nbytes": lambda case: case.a.exchange(b"?\n", nbytes=3, reply_ms=2),
    "frame": lambda case: case.a.exchange(b"?\n", frame=lambda buf: len(buf) == 3 or None, reply_ms=2),
    "write": lambda case: case.a.write(b"x"),
    "read": read_line,
    "hold": node_hold,
    "call": lambda case: case.bus.call(case.a, len, BUF),
}


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
    assert len(getattr(waitqueue, "_waiting", ())) == 0
    case.rest()
    await case.works()
    case.rest()


async def tidied(task):
    try:
        await task
    except MemoryError:
        pass


def struck(make, operation, blocks, taken, collect):
    """One run with so many blocks. True if the operation went through."""
    case = make()
    asyncio.run(case.warm(operation))
    asyncio.run(case.works())
    tasks = []
    if taken:
        asyncio.run(case.occupy())
        core.cur_task = None
        tasks.append(asyncio.create_task(tidied(case.occupy())))
    core.cur_task = None
    tasks.append(asyncio.create_task(ending(case, begin(case, operation))))
    watching = core.create_task(watch(tasks, PATIENCE_MS))
    try:
        heap.fill(blocks, collect)
        core.run_until_complete(watching)
        loop = None
    except MemoryError as error:  # of the loop's own: it goes on, as after Ctrl-C
        loop = error
    finally:
        heap.empty()
    core.cur_task = None
    asyncio.run(afterwards(case, tasks))
    if case.result is True:
        return loop is None
    assert case.result in (None, MemoryError, TransactionError), case.result
    return False


async def begin(case, operation):
    await operation(case)


def sweep(make, operations, step=None, taken=(False, True)):
    """Every operation with 0, 1, 2... blocks until it goes through; `step` more at a time for a sample."""
    faults = 0
    for collect in (True, False):
        # Without the collector it takes thrice as many blocks.
        by = step or 1 if collect else 3 * step if step else 1
        for other in taken:
            for name in operations:
                operation = operations[name] if isinstance(operations, dict) else name
                for blocks in range(ENOUGH):
                    if (blocks + faults) % by:
                        continue
                    try:
                        if struck(make, operation, blocks, other, collect):
                            break
                    except BaseException:
                        print(make.__name__, name, "taken" if other else "free", "with", blocks, "blocks,", collect)
                        raise
                    faults += 1
    print("faults: %d times out of memory in %s" % (faults, make.__name__))


def test_locks():
    """Locks, keys and deadlines: free, and where another task has them and gives them back meanwhile."""
    sweep(Locks, LOCKS, 7)


def test_lazies():
    """A Lazy whose object is not there yet, with an async factory; every allocation."""
    sweep(Lazies, (lambda case: case.lazy.get(), in_time), None, (False,))


def test_i2c():
    """Every operation of I2C: on a free bus, and where other tasks have the device and the wire."""
    sweep(I2C, OF_I2C, 43)


def test_spi():
    """Every operation of SPI."""
    sweep(SPI, OF_SPI, SAMPLE)


def test_uart():
    """Every operation of a UART."""
    sweep(UART, OF_UART, SAMPLE)


def test_uart_with_echo():
    """The same where the echo comes back."""
    sweep(EchoingUART, OF_UART, SAMPLE)


def test_locks_at_each_allocation():
    """Not a sample, but all."""
    sweep(Locks, LOCKS)


def test_i2c_at_each_allocation():
    sweep(I2C, OF_I2C)


def test_spi_at_each_allocation():
    sweep(SPI, OF_SPI)


def test_uart_at_each_allocation():
    sweep(UART, OF_UART)


def test_uart_with_echo_at_each_allocation():
    sweep(EchoingUART, OF_UART)
