"""Transactions and scripts: several operations as one."""

import asyncio

import buslock
from buslock import I2CBus
from buslock_sim import I2C, RegisterFile, Wire
from support.turns import gather_all, raises, raises_async, turns

CLOCK = "virtual"

A, B, C = 0x48, 0x49, 0x50


class Rig:
    def __init__(self, name="i2c0", addresses=(A, B, C)):
        self.wire = Wire(name)
        self.chips = {}
        for address in addresses:
            self.chips[address] = self.wire.attach(address, RegisterFile(bytes(range(64))))
        self.bus = I2CBus(lambda: I2C(self.wire, port="rp2"), name=name)

    def check(self):
        self.wire.check()
        assert len(self.bus._table) == 0
        assert not self.bus._wire.locked()


async def test_results_in_order():
    """The operations run in the order in which they were queued, and their results come back in that order."""
    rig = Rig()
    txn = rig.bus.transaction()
    txn.read_register(A, 1, 2)
    txn.write_register(rig.bus.device(B), 3, b"\x77")
    txn.read_register(B, 3, 1)
    txn.update_register(A, 5, 0x0F, 0x03)
    assert rig.wire.messages == 0
    assert len(txn) == 4
    assert await txn.execute() == [b"\x01\x02", None, b"\x77", 0x03]
    rig.check()


async def test_executed_again():
    """A transaction may be executed more than once."""
    rig = Rig()
    txn = rig.bus.transaction()
    txn.read_register(A, 1, 1)
    assert await txn.execute() == [b"\x01"]
    await rig.bus.write_register(A, 1, 9)
    assert await txn.execute() == [b"\x09"]
    rig.check()


async def test_empty():
    """A transaction without operations takes nothing and returns an empty list, also while the bus is held."""
    rig = Rig()

    async def execute():
        return await rig.bus.transaction().execute(timeout_ms=0)

    async with rig.bus.hold_all():
        assert await asyncio.create_task(execute()) == []
    rig.check()


async def test_failure_stops_the_rest():
    """TransactionError says which operation failed and what those before it gave; those after it do not run."""
    rig = Rig()
    txn = rig.bus.transaction()
    txn.read_register(A, 1, 1)
    txn.read_register(0x11, 1, 1)
    txn.write_register(B, 1, 0xEE)
    error = await raises_async(buslock.TransactionError, txn.execute())
    assert error.index == 1
    assert error.results == [b"\x01"]
    assert isinstance(error, OSError) and error.args[0] == 5
    assert "i2c0/0x11" in str(error)
    assert await rig.bus.read_register(B, 1, 1) == b"\x01"
    rig.check()


async def test_bad_operations():
    """Unknown operations and addresses are refused when queued; a bad argument is an operation that fails."""
    rig = Rig()
    txn = rig.bus.transaction()
    raises(AttributeError, lambda: txn.explode(A))
    raises(ValueError, txn.read_register, 0x80, 1, 1)
    raises(TypeError, txn.read_register, "A", 1, 1)
    assert len(txn) == 0
    txn.read_register(A, 1, 0)
    error = await raises_async(buslock.TransactionError, txn.execute())
    assert error.index == 0 and error.results == []
    await raises_async(TypeError, txn.execute(timeout_ms="x"))
    rig.check()


async def test_common_keys_follow_each_other():
    """Two transactions with a common key are serialised; one with other keys runs meanwhile."""
    rig = Rig()
    log = []

    async def run(name, *addresses):
        txn = rig.bus.transaction()
        for address in addresses:
            txn.write_register(address, 1, 1)
            txn.wait_register(address, 2, 0xFF, 2)
        log.append((name, "asks"))
        await txn.execute()
        log.append((name, "ends"))

    async with rig.bus.device(B).hold():
        first = asyncio.create_task(run("first", A, B))
        await turns(2)
        second = asyncio.create_task(run("second", B, C))
        third = asyncio.create_task(run("third", C))
        await turns(20)
        assert ("third", "ends") in log
        assert ("first", "ends") not in log and ("second", "ends") not in log
    await gather_all(first, second, third)
    assert log.index(("first", "ends")) < log.index(("second", "ends"))
    rig.check()


async def test_readers_share():
    """Transactions that only read hold their keys together; one that writes waits for them and holds them alone."""
    rig = Rig()
    bus = rig.bus
    holds = []

    async def execute(write):
        txn = bus.transaction()
        txn.wait_register(A, 0x20, 0xFF, 0xAA)
        if write:
            txn.write_register(A, 1, 1)
        holds.append(write)
        await txn.execute()

    readers = [asyncio.create_task(execute(False)) for _ in range(3)]
    await turns(3)
    entry = bus._table._entries[A]
    assert len(entry.holds) == 3
    writer = asyncio.create_task(execute(True))
    await turns(5)
    assert bus._table.waiters(A) == 1
    rig.chips[A][0x20] = 0xAA
    await gather_all(writer, *readers)
    rig.check()


async def test_timeout():
    """`timeout_ms` bounds the waiting for the keys; nothing has run then."""
    rig = Rig()
    txn = rig.bus.transaction()
    txn.write_register(A, 1, 7)
    txn.write_register(B, 1, 7)

    async def execute():
        return await raises_async(buslock.LockTimeout, txn.execute(timeout_ms=20))

    async with rig.bus.device(B).hold():
        error = await asyncio.create_task(execute())
    assert "0x49" in str(error)
    assert await rig.bus.read_register(A, 1, 1) == b"\x01"
    rig.check()


async def test_whole_bus():
    """An operation that needs the whole bus makes the transaction hold all of it."""
    rig = Rig()
    txn = rig.bus.transaction()
    txn.read_register(A, 1, 1)
    txn.scan()
    held = []

    async def other():
        async with rig.bus.device(C).hold():
            held.append(1)

    async with rig.bus.device(C).hold():
        task = asyncio.create_task(txn.execute())
        await turns(3)
        assert not task.done()
    assert await task == [b"\x01", [A, B, C]]
    await other()
    rig.check()


async def test_several_buses():
    """A transaction may name devices of another bus; both are held."""
    one, two = Rig("i2c0"), Rig("i2c1")
    far = two.bus.device(B)
    txn = one.bus.transaction()
    txn.read_register(A, 1, 1)
    txn.read_register(far, 2, 1)
    assert await txn.execute() == [b"\x01", b"\x02"]
    async with far.hold():
        task = asyncio.create_task(txn.execute())
        await turns(5)
        assert not task.done()
    await task
    whole = one.bus.transaction()
    whole.read_register(far, 1, 1)
    whole.scan()
    await raises_async(ValueError, whole.execute())
    one.check()
    two.check()


async def test_script_holds_what_it_declares():
    """The body of a script has the declared devices for itself from beginning to end."""
    rig = Rig()
    inside = []

    @rig.bus.script(A, B)
    async def swap(regs, reg):
        inside.append(1)
        assert sum(inside) == 1
        a = await regs.read_register(A, reg, 1)
        await turns(2)
        b = await regs.read_register(B, reg, 1)
        await regs.write_register(A, reg, b)
        await turns(2)
        await regs.write_register(B, reg, a)
        inside.pop()

    await rig.bus.write_register(A, 9, 0xAA)
    await gather_all(swap(9), swap(9), swap(9))
    assert await rig.bus.read_register(A, 9, 1) == b"\x09"
    assert await rig.bus.read_register(B, 9, 1) == b"\xaa"
    rig.check()


async def test_script_refuses_what_it_does_not_declare():
    """An address outside raises NotCovered that names it and what was declared; an alias of a declared one is covered."""
    rig = Rig(addresses=(A, B, C, 0x51))
    rig.bus.device(C, aliases=(0x51,))

    @rig.bus.script(A, C)
    async def body(regs):
        error = await raises_async(buslock.NotCovered, regs_read(regs, B))
        assert "0x49" in str(error) and "0x48" in str(error) and "0x50" in str(error)
        return await regs.read_register(0x51, 1, 1)

    async def regs_read(regs, address):
        return await regs.read_register(address, 1, 1)

    assert await body() == b"\x01"
    rig.check()


async def test_script_of_the_whole_bus():
    """Without declared addresses a script holds the whole bus, and may scan; with some it may not."""
    rig = Rig()

    @rig.bus.script()
    async def everything(regs):
        assert await regs.read_register(B, 2, 1) == b"\x02"
        return await regs.scan()

    @rig.bus.script(A)
    async def one(regs):
        raises(buslock.NotCovered, lambda: regs.scan)
        await raises_async(buslock.Reentry, hold_all())

    async def hold_all():
        async with rig.bus.hold_all():
            pass

    assert await everything() == [A, B, C]
    await one()
    async with rig.bus.device(A).hold():
        task = asyncio.create_task(everything())
        await turns(3)
        assert not task.done()
    await task
    rig.check()


async def test_readonly():
    """readonly scripts run together and may not write."""
    rig = Rig()
    both = []

    @rig.bus.script(A, readonly=True)
    async def look(regs):
        both.append(1)
        await turns(4)
        seen = len(both)
        raises(buslock.NotCovered, lambda: regs.write_register)
        raises(buslock.NotCovered, lambda: regs.update_register)
        return seen, await regs.read_register(A, 1, 1)

    assert await gather_all(look(), look()) == [(2, b"\x01"), (2, b"\x01")]
    rig.check()


async def test_keys_from_the_arguments():
    """One callable computes the devices from the arguments of the call."""
    rig = Rig()

    @rig.bus.script(lambda source, target: (source, target))
    async def copy(regs, source, target):
        await regs.write_register(target, 1, await regs.read_register(source, 2, 1))
        await raises_async(buslock.NotCovered, read(regs))

    async def read(regs):
        return await regs.read_register(C, 1, 1)

    @rig.bus.script(lambda *args: ())
    async def nothing(regs):
        raise AssertionError("the body of a script without devices has run")

    await copy(A, B)
    assert await rig.bus.read_register(B, 1, 1) == b"\x02"
    await raises_async(ValueError, nothing())
    rig.check()


async def test_script_in_a_script():
    """A script inside another one of the same task runs when it is covered, and raises NotCovered when it is not."""
    rig = Rig()

    @rig.bus.script(A)
    async def inner(regs):
        return await regs.read_register(A, 1, 1)

    @rig.bus.script(C)
    async def stranger(regs):
        return await regs.read_register(C, 1, 1)

    @rig.bus.script()
    async def all_of_it(regs):
        return 1

    @rig.bus.script(A, B)
    async def outer(regs):
        assert await inner() == b"\x01"
        error = await raises_async(buslock.NotCovered, stranger())
        assert "0x50" in str(error)
        await raises_async(buslock.NotCovered, all_of_it())
        txn = rig.bus.transaction()
        txn.read_register(A, 3, 1)
        return await txn.execute()

    assert await outer() == [b"\x03"]
    rig.check()


async def test_error_and_cancellation_in_a_script():
    """A body that raises, or is cancelled, gives everything back."""
    rig = Rig()

    @rig.bus.script(A, B)
    async def broken(regs):
        await turns(2)
        raise ValueError("boom")

    @rig.bus.script(A, B)
    async def long(regs):
        await asyncio.Event().wait()

    await raises_async(ValueError, broken())
    task = asyncio.create_task(long())
    await turns(4)
    task.cancel()
    await gather_all(task)
    assert await rig.bus.read_register(A, 1, 1, timeout_ms=0) == b"\x01"
    rig.check()


async def test_set_up_before_the_keys():
    """Declared devices are made ready before any key is taken."""
    rig = Rig()
    seen = []

    async def setup(session):
        seen.append(A in rig.bus._table)
        await session.write_register(9, 9)

    device = rig.bus.device(B, setup=setup)

    @rig.bus.script(A, device)
    async def body(regs):
        return await regs.read_register(device, 9, 1)

    assert await body() == b"\x09"
    assert seen == [False]
    rig.check()


async def test_many_at_random():
    """500 random transactions and scripts over 8 addresses and 2 buses from 20 tasks, with cancellations and NACKs: those
    with a common key never overlap, others do, nobody hangs, and the tables are empty at the end."""
    rigs = [Rig("i2c0", range(0x20, 0x28)), Rig("i2c1", range(0x20, 0x28))]
    busy = {}
    overlaps = []
    state = [12345]
    counts = [0, 0, 0]

    def rand(n):
        state[0] = (state[0] * 1103515245 + 12345) & 0x7FFFFFFF
        return (state[0] >> 8) % n

    def enter(keys, name):
        for key in keys:
            assert key not in busy, (key, busy[key], name)
        if busy:
            overlaps.append(1)
        for key in keys:
            busy[key] = name

    async def one(name):
        rig = rigs[rand(2)]
        bus = rig.bus
        addresses = sorted({0x20 + rand(8) for _ in range(1 + rand(3))})
        if rand(8) == 0:
            rig.chips[addresses[0]].fail("nack", times=1)
        if rand(2):
            keys = [(bus.name, address) for address in addresses]

            @bus.script(*addresses)
            async def body(regs):
                enter(keys, name)
                try:
                    for address in addresses:
                        await regs.update_register(address, 1, 0xFF, rand(256))
                        await turns(rand(3))
                finally:
                    for key in keys:
                        del busy[key]

            await body()
        else:
            txn = bus.transaction()
            for address in addresses:
                txn.write_register(address, 2, rand(256))
                txn.read_register(address, 2, 1)
            results = await txn.execute(timeout_ms=500)
            assert len(results) == 2 * len(addresses)

    async def ending(n):
        try:
            await one(n)
        except (buslock.BusError, buslock.LockTimeout):
            return 2
        return 0

    async def worker(n):
        for _ in range(25):
            task = asyncio.create_task(ending(n))
            if rand(5) == 0:
                await turns(rand(6))
                task.cancel()
            try:
                counts[await task] += 1
            except asyncio.CancelledError:
                counts[1] += 1

    await asyncio.gather(*[worker(n) for n in range(20)])
    assert sum(counts) == 500
    assert counts[0] > 300 and counts[1] > 10 and counts[2] > 10, counts
    assert len(overlaps) > 50
    assert busy == {}
    for rig in rigs:
        rig.check()
