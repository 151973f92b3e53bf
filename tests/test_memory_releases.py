"""The end of a hold does not hang on memory: with a full heap it raises nothing, and those who wait are granted what
they wait for, or are told that memory ran out.

One task holds something, others wait for it or for a part of it. Then the heap is filled but for n blocks, for n from 0
on, with the collector off; the hold ends; and memory comes back.
"""

import asyncio
from asyncio import core

from buslock import Lazy, hold
from buslock._rt import DONE
from buslock.shards import divide
from memory_rig import I2C, SPI, TWO, UART, Locks, TracedI2C, TracedSPI, TracedUART, afterwards, full, go_on
from support import cold

RUNTIMES = ("micropython", "micropython-adafruit", "pico")
LEFT_OUT = {"pico": "it fills the heap of a VM of 64 bits"}
HEAP = "1M"
TIME_LIMIT = 300  # of the slow one
SLOW = ("test_each_number_of_blocks",)

ENOUGH = 2000  # blocks
SAMPLE = 41


def shared(case):
    return case.table.hold("k", shared=True)


class Divided(Locks):
    """With a table of so many keys that it is in parts."""

    def make(self):
        super().make()
        for n in range(66):
            self.table.try_hold(n)
        divide(self.table)
        for held in list(self.table._holds()):
            held.release()


class Opened:
    """A hold whose block has sent a write without STOP."""

    def __init__(self, case):
        self.hold = case.a.hold()

    async def __aenter__(self):
        session = await self.hold.__aenter__()
        await session.write(TWO, stop=False)

    def __aexit__(self, exc_type, exc, tb):
        return self.hold.__aexit__(exc_type, exc, tb)


class InSession:
    """A selection under a hold of the device."""

    def __init__(self, case):
        self.hold = case.a.hold()

    async def __aenter__(self):
        session = await self.hold.__aenter__()
        self.selection = session.select()
        spi = await self.selection.__aenter__()
        await spi.write(TWO)

    def __aexit__(self, exc_type, exc, tb):
        self.selection.__aexit__(exc_type, exc, tb)
        return self.hold.__aexit__(exc_type, exc, tb)


class Locked:
    """A wire that a driver took with try_lock() of a look-alike, and gives back with unlock()."""

    def __init__(self, case):
        self.look = case.a.as_busio() if isinstance(case, SPI) else case.bus.as_busio()

    async def __aenter__(self):
        self.look.try_lock()

    def __aexit__(self, exc_type, exc, tb):
        self.look.unlock()
        return DONE


# What is held, and what others wait for meanwhile.
OF_LOCKS = {
    "lock": (lambda case: case.lock, (lambda case: case.lock,) * 3),
    "lock.hold": (lambda case: case.lock.hold(), (lambda case: case.lock.hold(), lambda case: case.lock.hold(1000))),
    "key": (lambda case: case.table.hold("k"), (lambda case: case.table.hold("k"),) * 3),
    "key, readers": (lambda case: case.table.hold("k"), (shared,) * 7),
    "reader": (shared, (lambda case: case.table.hold("k"), shared, shared)),
    "key, hold_all": (
        lambda case: case.table.hold("k"),
        (lambda case: case.table.hold_all(), lambda case: case.table.hold("k"), lambda case: case.table.hold("j")),
    ),
    "keys": (
        lambda case: case.table.hold_many(("a", "b", "c")),
        (
            lambda case: case.table.hold("c"),
            lambda case: case.table.hold("b"),
            lambda case: case.table.hold_many(("a", "b")),
            lambda case: case.table.hold("a", 1000),
        ),
    ),
    "hold_all": (
        lambda case: case.table.hold_all(),
        (
            lambda case: case.table.hold("k"),
            lambda case: case.table.hold("j", 1000),
            lambda case: case.table.hold("k"),
            lambda case: case.table.hold_many(("a", "b", "k")),
            lambda case: case.table.hold_all(1000),
            shared,
            shared,
        ),
    ),
    "hold_all, many": (
        lambda case: case.table.hold_all(),
        [lambda case, n=n: case.table.hold(n) for n in range(9)] + [shared] * 7,
    ),
}
OF_I2C = {
    "device": (lambda case: case.a.hold(), (lambda case: case.a.hold(), lambda case: case.bus.hold_all())),
    "wire": (
        lambda case: case.a.hold(wire=True),
        (lambda case: case.b.hold(wire=True), lambda case: case.a.hold(1000), lambda case: case.bus.hold_all()),
    ),
    "write without STOP": (Opened, (lambda case: case.b.hold(wire=True), lambda case: case.a.hold())),
    "devices": (
        lambda case: case.bus.hold(case.a, case.b),
        (lambda case: case.b.hold(), lambda case: case.bus.hold(case.a, case.b), lambda case: case.a.hold()),
    ),
    "several buses": (
        lambda case: hold(case.a, case.b),
        (lambda case: hold(case.b), lambda case: case.a.hold(), lambda case: hold(case.a, case.b)),
    ),
    "all of it": (
        lambda case: case.bus.hold_all(),
        (lambda case: case.a.hold(), lambda case: case.b.hold(wire=True), lambda case: case.bus.hold_all()),
    ),
    "channel": (
        lambda case: case.behind.hold(wire=True),
        (lambda case: case.behind.hold(), lambda case: case.a.hold(wire=True)),
    ),
    "try_lock": (Locked, (lambda case: case.a.hold(wire=True), lambda case: case.b.hold(wire=True))),
}
OF_SPI = {
    "device": (lambda case: case.a.hold(), (lambda case: case.a.hold(), lambda case: case.bus.hold_all())),
    "selection": (
        lambda case: case.a.select(),
        (lambda case: case.b.select(), lambda case: case.a.select(), lambda case: case.b.hold(wire=True)),
    ),
    "selection in a session": (InSession, (lambda case: case.b.select(), lambda case: case.a.hold())),
    "wire": (lambda case: case.a.hold(wire=True), (lambda case: case.b.select(), lambda case: case.a.hold())),
    "try_lock": (Locked, (lambda case: case.a.select(), lambda case: case.b.select())),
}
OF_UART = {
    "node": (lambda case: case.a.hold(), (lambda case: case.a.hold(), lambda case: case.bus.hold_all())),
    "line": (
        lambda case: case.a.hold(wire=True),
        (lambda case: case.b.hold(wire=True), lambda case: case.a.hold(), lambda case: case.bus.hold_all()),
    ),
}


class Scene:
    def __init__(self, case, wanted):
        self.case = case
        self.wanted = wanted
        self.entered = self.over = False
        self.results = [None] * (1 + len(wanted[1]))

    async def holding(self):
        try:
            async with self.wanted[0](self.case):
                self.entered = True
                while not self.over:
                    await asyncio.sleep_ms(0)
            self.results[0] = True
        except BaseException as error:
            self.results[0] = type(error)

    async def waiting(self, i):
        try:
            async with self.wanted[1][i - 1](self.case):
                await asyncio.sleep_ms(0)
            self.results[i] = True
        except Exception as error:
            self.results[i] = type(error)

    def start(self):
        """The tasks, of which the first has it and the others wait."""
        core.cur_task = None
        tasks = [asyncio.create_task(self.holding())]
        asyncio.run(go_on())
        assert self.entered, self.results
        core.cur_task = None
        tasks += [asyncio.create_task(self.waiting(i)) for i in range(1, len(self.results))]
        asyncio.run(go_on())
        assert self.results == [None] * len(tasks), self.results
        self.over = True
        return tasks


def ended(make, wanted, blocks):
    """One run with so many blocks (None: memory enough). True if all that was waited for was granted."""
    cold.forget_methods()
    scene = Scene(make(), wanted)
    tasks = scene.start()
    if blocks is None:
        asyncio.run(afterwards(scene.case, tasks))
    else:
        full(scene.case, tasks, blocks, False)
    results = scene.results
    assert results[0] is True, results
    assert all(result in (True, MemoryError) for result in results), results
    return all(result is True for result in results)


def sweep(make, scenes, step):
    faults = 0
    for number, name in enumerate(scenes):
        assert ended(make, scenes[name], None)  # and its modules are loaded
        for blocks in range(17 * number % step, ENOUGH, step):  # a sample: from another number on for each
            try:
                if ended(make, scenes[name], blocks):
                    break
            except BaseException:
                print(make.__name__, name, "with", blocks, "blocks")
                raise
            faults += 1
        else:
            raise AssertionError("%s does not go through with %d blocks" % (name, ENOUGH))
    print("faults: %d times out of memory at the end of holds of %s" % (faults, make.__name__))


ALL = (
    (Locks, OF_LOCKS),
    (Divided, OF_LOCKS),
    (I2C, OF_I2C),
    (SPI, OF_SPI),
    (UART, OF_UART),
    (TracedI2C, OF_I2C),
    (TracedSPI, OF_SPI),
    (TracedUART, OF_UART),
)


class Making:
    """A Lazy that three tasks wait for, each with less time than the one before it."""

    def __init__(self):
        self.over = False
        self.results = [None] * 3
        self.lazy = Lazy(self.factory)

    async def factory(self):
        while not self.over:
            await asyncio.sleep_ms(0)
        return TWO

    async def getting(self, i):
        try:
            self.results[i] = await self.lazy.get((None, 2000, 1000)[i]) is TWO
        except Exception as error:
            self.results[i] = type(error)

    def rest(self):
        assert self.lazy.state != "starting"

    async def works(self):
        assert await self.lazy.get() is TWO


def made(blocks):
    cold.forget_methods()
    case = Making()
    core.cur_task = None
    tasks = [asyncio.create_task(case.getting(i)) for i in range(3)]
    asyncio.run(go_on())
    case.over = True
    if blocks is None:
        asyncio.run(afterwards(case, tasks))
    else:
        full(case, tasks, blocks, False)
    assert all(result in (True, MemoryError) for result in case.results), case.results
    return all(result is True for result in case.results)


def test_the_end_of_a_making():
    """Whoever waits for a Lazy is given its object, or told that memory ran out."""
    assert made(None)
    blocks = 0
    while not made(blocks):
        blocks += 1
    print("faults: %d times out of memory at the end of a making" % blocks)


def test_some_numbers_of_blocks():
    for make, scenes in ALL:
        sweep(make, scenes, SAMPLE)


def test_each_number_of_blocks():
    for make, scenes in ALL:
        sweep(make, scenes, 1)
