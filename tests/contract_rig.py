"""Everything that tasks take turns at, under one face: what tests/test_contract.py is run over.

Each is fresh, has been used once, and is used by `use(name, ms)`: take it, stay for some ms of virtual time, give it
back. Who is in is seen from within: in the block of a hold, by the chip or node that is spoken to, in the driver.
"""

import asyncio

import i2c_rig
import spi_rig
import uart_rig
from buslock import Lock, LockTable, TransactionError, hold, waitqueue
from i2c_rig import sleep
from support import clock


class Over:
    """`log` has the names of all that came in, in that order. At most one may be in, unless all of them only read."""

    warm = True

    def __init__(self):
        self.log = []
        self.inside = []
        self.make()

    def enter(self, name, shared=False):
        assert not self.inside or shared and self.reading, "%s and %s are in" % (name, self.inside)
        self.reading = shared
        self.inside.append(name)
        self.log.append(name)

    def leave(self, name):
        if name in self.inside:
            self.inside.remove(name)

    async def occupy(self, ms, leaving=None):
        """Keep it from the others for some ms. `leaving` is called in the last step."""
        await self.use("occupier", ms)
        if leaving is not None:
            leaving()

    async def check(self):
        """At rest: nothing held, nobody waits."""
        assert self.inside == []
        assert len(getattr(waitqueue, "_waiting", ())) == 0
        await self.rest()


class Held(Over):
    """`hold(timeout_ms)` is its hold."""

    async def use(self, name, ms=0, timeout_ms=None, error=None):
        async with self.hold(timeout_ms) as session:
            self.enter(name)
            try:
                if error is not None:
                    raise error
                await self.work(session)
                if ms:
                    await sleep(ms)
            finally:
                self.leave(name)

    async def work(self, session):
        """What is done with it while it is held."""


class OfLock(Held):
    def make(self):
        self.lock = Lock("one")

    async def rest(self):
        assert not self.lock.locked()
        assert self.lock.waiters == 0


class LockItself(OfLock):
    def hold(self, timeout_ms=None):
        return self.lock if timeout_ms is None else _Acquired(self.lock, timeout_ms)


class _Acquired:
    """`async with` by acquire() and release()."""

    def __init__(self, lock, timeout_ms):
        self.lock = lock
        self.timeout_ms = timeout_ms

    async def __aenter__(self):
        assert await self.lock.acquire(self.timeout_ms) is True

    async def __aexit__(self, exc_type, exc, tb):
        self.lock.release()


class LockHold(OfLock):
    def hold(self, timeout_ms=None):
        return self.lock.hold(timeout_ms)


class OfTable(Held):
    def make(self):
        self.table = LockTable("table")

    async def rest(self):
        assert len(self.table) == 0
        assert self.table.waiters("k") == 0
        assert not self.table._shut


class Key(OfTable):
    def hold(self, timeout_ms=None):
        return self.table.hold("k", timeout_ms)


class KeyOverReaders(Key):
    """A key used exclusively, that others read together."""

    async def occupy(self, ms, leaving=None):
        async def read(name, ms):
            async with self.table.hold("k", shared=True):
                self.enter(name, True)
                await sleep(ms)
                self.leave(name)

        other = asyncio.create_task(read("other", ms - 1))
        await read("occupier", ms)
        if leaving is not None:
            leaving()
        await other
        self.log.remove("other")


class Keys(OfTable):
    def hold(self, timeout_ms=None):
        return self.table.hold_many(("k", 7, "a"), timeout_ms)


class KeyOfMany(Keys):
    """Several keys, of which another task has one."""

    async def occupy(self, ms, leaving=None):
        async with self.table.hold("k"):
            self.enter("occupier")
            await sleep(ms)
            self.leave("occupier")
        if leaving is not None:
            leaving()


class Table(OfTable):
    def hold(self, timeout_ms=None):
        return self.table.hold_all(timeout_ms)


class TableOfKeys(Table):
    """A whole table, of which another task has a key."""

    occupy = KeyOfMany.occupy


class OfI2C(Held):
    def make(self):
        self.rig = i2c_rig.Rig()
        self.bus = self.rig.bus
        self.device = self.bus.device(i2c_rig.A)

    async def work(self, session):
        assert await session.read_register(1, 1) == b"\x01"

    async def rest(self):
        self.rig.check()


class I2CHold(OfI2C):
    def hold(self, timeout_ms=None):
        return self.device.hold(timeout_ms)


class I2CWire(OfI2C):
    def hold(self, timeout_ms=None):
        return self.device.hold(timeout_ms, wire=True)


class I2CWireOfTwo(I2CWire):
    """A wire that another device of the bus has."""

    async def occupy(self, ms, leaving=None):
        async with self.bus.device(i2c_rig.B).hold(wire=True):
            self.enter("occupier")
            await sleep(ms)
            self.leave("occupier")
        if leaving is not None:
            leaving()


class I2CDevices(OfI2C):
    def hold(self, timeout_ms=None):
        return self.bus.hold(i2c_rig.B, i2c_rig.A, timeout_ms=timeout_ms)

    async def work(self, regs):
        assert await regs.read_register(i2c_rig.B, 1, 1) == b"\xfe"


class I2CBus(I2CDevices):
    def hold(self, timeout_ms=None):
        return self.bus.hold_all(timeout_ms)


class Buses(OfI2C):
    def make(self):
        super().make()
        self.other = i2c_rig.Rig(port="circuitpython")
        self.there = self.other.bus.device(i2c_rig.B)

    def hold(self, timeout_ms=None):
        return hold(self.there, self.device, timeout_ms=timeout_ms)

    async def work(self, regs):
        assert await regs.read_register(self.there, 1, 1) == b"\xfe"

    async def rest(self):
        self.rig.check()
        self.other.check()


class OfSPI(Held):
    def make(self):
        self.rig = spi_rig.Rig()
        self.device, self.second = self.rig.devices()

    async def work(self, session):
        assert await session.read(1) == b"\x5a"

    async def rest(self):
        self.rig.check()


class SPISelect(OfSPI):
    def hold(self, timeout_ms=None):
        return self.device.select(timeout_ms)


class SPISelectOfTwo(SPISelect):
    """A selection that waits for the one of another chip."""

    async def occupy(self, ms, leaving=None):
        async with self.second.select():
            self.enter("occupier")
            assert self.rig.wire.selected() == ["b"]
            await sleep(ms)
            self.leave("occupier")
        if leaving is not None:
            leaving()


class SPIHold(OfSPI):
    def hold(self, timeout_ms=None):
        return self.device.hold(timeout_ms)


class SPIWire(OfSPI):
    def hold(self, timeout_ms=None):
        return self.device.hold(timeout_ms, wire=True)

    async def work(self, session):
        spi_rig.drive(self.device._cs, 0)
        assert await session.read(1) == b"\x5a"
        spi_rig.drive(self.device._cs, 1)


class OfUART(Over):
    def make(self):
        self.rig = uart_rig.Rig(wrap=self.watch, baudrate=115200)
        self.node = self.rig.bus.device(1)

    def watch(self, uart):
        return uart

    async def rest(self):
        await self.rig.check()


class UARTHold(OfUART, Held):
    def hold(self, timeout_ms=None):
        return self.node.hold(timeout_ms)

    async def work(self, session):
        assert await uart_rig.ask(self.node, b"x") == b"1=x\n"


class UARTLine(UARTHold):
    def hold(self, timeout_ms=None):
        return self.node.hold(timeout_ms, wire=True)


class _Watched(uart_rig.ReadChecked):
    over = None

    def write(self, buf):
        self.over.started(bytes(buf)[2:-1].decode())
        return super().write(buf)


class Exchange(OfUART):
    """One exchange, from its first byte to its end."""

    held = UARTHold.hold

    def make(self):
        super().make()
        self.delays = {}

    def started(self, name):
        self.enter(name)
        self.rig.a.delay_ms = self.delays[name]

    def watch(self, uart):
        watched = _Watched(uart)
        watched.over = self
        return watched

    async def use(self, name, ms=0, timeout_ms=None, error=None):
        def frame(buf):
            if error is not None:
                raise error
            return buf[-1:] == b"\n" or None

        self.delays[name] = ms
        try:
            # The silence that follows a failure is short, and longer than a reply takes.
            request = ("1:%s\n" % name).encode()
            reply = await self.node.exchange(request, frame=frame, reply_ms=ms + 10, timeout_ms=timeout_ms)
        finally:
            self.leave(name)
        assert reply == request.replace(b":", b"=")


class Call(OfI2C):
    """A driver's function, which stops the loop for so long."""

    def held(self, timeout_ms=None):
        return self.device.hold(timeout_ms)

    async def use(self, name, ms=0, timeout_ms=None, error=None):
        def driver():
            self.enter(name)
            try:
                if error is not None:
                    raise error
                clock.advance(ms)
            finally:
                self.leave(name)
            return name

        assert await self.bus.call(self.device, driver, timeout_ms=timeout_ms) == name

    async def occupy(self, ms, leaving=None):
        async with self.device.hold(wire=True):
            self.enter("occupier")
            await sleep(ms)
            self.leave("occupier")
        if leaving is not None:
            leaving()


class _Flag(i2c_rig.Counter):
    """Register 5 becomes 1 after some ms. Who begins to speak to it is in."""

    over = None

    def start(self, read):
        self.over.started()
        return super().start(read)


class Transaction(OfI2C):
    """Some operations as one, from the first to the last."""

    held = Call.held

    def make(self):
        super().make()
        self.names = {}
        rig = self.rig
        rig.wire.detach(i2c_rig.A)
        rig.a = rig.wire.attach(i2c_rig.A, _Flag(bytes(16)))
        rig.a.over = self

    def started(self):
        name, ms = self.names[asyncio.current_task()]
        if name not in self.inside:
            self.enter(name)
            self.until = clock.now() + ms
        self.rig.a[5] = clock.now() >= self.until

    async def use(self, name, ms=0, timeout_ms=None, error=None):
        self.names[asyncio.current_task()] = name, ms
        txn = self.bus.transaction()
        txn.read_register(self.device, 1, 1)
        txn.wait_register(self.device, 5, 0xFF, 1)
        txn.update_register(self.device, 6, 1, 1)
        if error is not None:
            txn.wait_register(i2c_rig.NOBODY, 5, 0xFF, 1)
        try:
            assert await txn.execute(timeout_ms) == [b"\x00", 1, 1]
        except TransactionError as failed:
            assert failed.index == 3 and error is not None
            raise error
        finally:
            self.leave(name)


class Script(Transaction):
    """The same as a script."""

    async def use(self, name, ms=0, timeout_ms=None, error=None):
        self.names[asyncio.current_task()] = name, ms

        @self.bus.script(self.device)
        async def body(regs):
            await regs.wait_register(self.device, 5, 0xFF, 1)
            await regs.update_register(self.device, 6, 1, 1)
            if error is not None:
                raise error

        try:
            await body(timeout_ms=timeout_ms)
        finally:
            self.leave(name)


KINDS = {
    "lock": LockItself,
    "lock_hold": LockHold,
    "key": Key,
    "key_over_readers": KeyOverReaders,
    "keys": Keys,
    "key_of_many": KeyOfMany,
    "table": Table,
    "table_of_keys": TableOfKeys,
    "i2c_hold": I2CHold,
    "i2c_wire": I2CWire,
    "i2c_wire_of_two": I2CWireOfTwo,
    "i2c_devices": I2CDevices,
    "i2c_bus": I2CBus,
    "buses": Buses,
    "spi_select": SPISelect,
    "spi_select_of_two": SPISelectOfTwo,
    "spi_hold": SPIHold,
    "spi_wire": SPIWire,
    "uart_hold": UARTHold,
    "uart_line": UARTLine,
    "exchange": Exchange,
    "call": Call,
    "transaction": Transaction,
    "script": Script,
}


async def fresh(kind):
    """One of that kind, that has been used once: what is loaded or set up on first use is there."""
    over = KINDS[kind]()
    await over.use("first")
    assert over.log == ["first"]
    over.log.clear()
    return over
