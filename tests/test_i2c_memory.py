"""What an operation allocates, and which locks it takes, where nobody is in its way (promise 7)."""

import asyncio
import gc
from asyncio import core

from buslock import I2CBus
from buslock_sim import I2C, RegisterFile, Wire, check

RUNTIMES = ("micropython", "micropython-adafruit", "pico")
ROUNDS = 20


class Raw:
    """A machine.I2C that allocates nothing but its result."""

    RESULT = bytes(2)

    def __init__(self):
        self.calls = 0

    def readfrom_mem(self, addr, reg, nbytes):
        self.calls += 1
        return self.RESULT

    def readfrom_mem_into(self, addr, reg, buf):
        self.calls += 1


def allocated(before):
    return gc.mem_alloc() - before


async def test_read_register_allocates_its_coroutine():
    """An uncontended read_register allocates its coroutine when it is called, and nothing when it runs."""
    raw = Raw()
    bus = I2CBus(raw)
    device = bus.device(0x48)
    await bus.read_register(0x48, 0, 2)
    made = ran = 0
    gc.collect()
    gc.disable()
    for n in range(ROUNDS):
        before = gc.mem_alloc()
        operation = device.read_register(0, 2)
        called = gc.mem_alloc()
        await operation
        if n:  # the first of them allocates what the loop itself keeps
            made = called - before
            ran += allocated(called)
    gc.enable()
    assert ran == 0
    assert 0 < made <= 256
    assert raw.calls == ROUNDS + 1


async def test_the_short_form_allocates_no_more():
    """The short form of the bus allocates the same coroutine, and nothing of its own."""
    bus = I2CBus(Raw())
    device = bus.device(0x48)
    sizes = []
    gc.collect()
    gc.disable()
    for make in (lambda: device.read_register(0, 2), lambda: bus.read_register(0x48, 0, 2)):
        await make()
        before = gc.mem_alloc()
        operation = make()
        sizes.append(allocated(before))
        await operation
    gc.enable()
    assert sizes[0] == sizes[1]


async def test_with_the_ports_own_result():
    """With a peripheral that allocates its result, the coroutine is all that the operation adds to that."""
    wire = Wire(keep=0)
    wire.attach(0x48, RegisterFile())
    i2c = I2C(wire)
    device = I2CBus(i2c).device(0x48)
    await device.read_register(0, 2)
    costs = []
    gc.collect()
    gc.disable()
    for raw in (True, False):
        # The simulator allocates too, the same for both.
        before = gc.mem_alloc()
        for _ in range(ROUNDS):
            if raw:
                i2c.readfrom_mem(0x48, 0, 2)
            else:
                await device.read_register(0, 2)
        costs.append(allocated(before))
    before = gc.mem_alloc()
    operation = device.read_register(0, 2)
    coroutine = allocated(before)
    gc.enable()
    await operation
    assert costs[1] - costs[0] <= ROUNDS * coroutine


async def test_nothing_is_kept():
    """After a thousand operations of each kind, on a bus at rest, no memory is in use that was not before."""
    raw = Raw()
    bus = I2CBus(raw)
    device = bus.device(0x48)
    buf = bytearray(2)

    async def all_kinds():
        await device.read_register(0, 2)
        await device.read_register_into(0, buf)
        async with device.hold() as session:
            await session.read_register(0, 2)
        async with device.hold(wire=True) as session:
            await session.read_register(0, 2)
        async with bus.hold_all() as regs:
            await regs.read_register(device, 0, 2)
        await bus.call(device, len, buf)

    for _ in range(10):
        await all_kinds()
    kept = []
    for _ in range(3):  # the collector may take something on the stack for a reference, but not each time for more
        gc.collect()
        before = gc.mem_alloc()
        for _ in range(400):
            await all_kinds()
        gc.collect()
        kept.append(allocated(before))
    assert min(kept) <= 256, kept
    assert len(bus._table) == 0


async def test_no_lock_is_taken_where_nobody_is():
    """An uncontended operation runs without an entry in the table and without the wire, in one step of its task."""
    wire = Wire()
    wire.attach(0x48, RegisterFile(b"\x01\x02"))
    seen = []

    class Watching(I2C):
        def readfrom_mem(self, *args, **kwargs):
            seen.append((len(bus._table), bus._wire.locked()))
            return super().readfrom_mem(*args, **kwargs)

    bus = I2CBus(Watching(wire))
    device = bus.device(0x48)
    assert await device.read_register(0, 2) == b"\x01\x02"
    seen.clear()
    coroutine = device.read_register(0, 2)
    try:
        coroutine.send(None)
        raise AssertionError("it has waited for something")
    except StopIteration as done:
        assert done.value == b"\x01\x02"
    assert seen == [(0, False)]
    async with device.hold(wire=True):
        await device.read_register(0, 2)
    assert seen[1] == (1, True)
    check()


def test_a_hundred_waiting_tasks_give_their_memory_back():
    """Tasks that waited for a device leave nothing behind: no entry, no waiter, no pooled list that grows."""
    wire = Wire(keep=0)
    wire.attach(0x48, RegisterFile())
    bus = I2CBus(I2C(wire))
    device = bus.device(0x48)

    async def user():
        async with device.hold():
            await asyncio.sleep(0)

    async def many():
        await asyncio.gather(*[user() for _ in range(100)])

    def least_in_use():
        # The least of some: an old pointer on the VM's own stack may keep what is garbage.
        sizes = []
        for _ in range(5):
            asyncio.run(many())
            core.cur_task = None
            gc.collect()
            sizes.append(gc.mem_alloc())
        return min(sizes)

    asyncio.run(many())  # Adafruit's tasks in Python stay linked to those that waited beside them: one round stays
    before = least_in_use()
    assert least_in_use() - before <= 512
    assert len(bus._table) == 0
    check()
