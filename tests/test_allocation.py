"""What an uncontended lock costs in memory: `async with lock` nothing, a key its hold and nothing else (promise 7)."""

import asyncio
import gc

from buslock import Lock, LockTable

RUNTIMES = ("micropython", "micropython-adafruit", "pico")


class Bytes:
    """`with Bytes() as used:` counts what its block allocates, without any collection in between."""

    def __init__(self):
        self.before = self.total = 0  # so that storing it below allocates nothing

    def __enter__(self):
        gc.collect()
        gc.disable()
        self.before = gc.mem_alloc()
        return self

    def __exit__(self, exc_type, exc, tb):
        self.total = gc.mem_alloc() - self.before
        gc.enable()


# Each loop runs twice, and the second time counts. Whatever else it calls would have a frame of its own on the heap.


async def enter(x):
    for _ in range(2):
        with Bytes() as used:
            for _ in range(50):  # a literal, else the range is an object of its own
                async with x:
                    pass
    return used.total


async def make_hold(x, *key):
    hold = x.hold
    for _ in range(2):
        with Bytes() as used:
            for _ in range(50):
                hold(*key)
    return used.total


async def enter_hold(x, *key):
    hold = x.hold
    for _ in range(2):
        with Bytes() as used:
            for _ in range(50):
                async with hold(*key):
                    pass
    return used.total


async def test_a_lock_allocates_nothing():
    """Taking and releasing a free Lock with `async with` allocates 0 bytes."""
    assert await enter(Lock()) == 0


async def test_a_hold_allocates_itself_only():
    """`async with table.hold(k)` allocates exactly what `table.hold(k)` does, whatever else is held."""
    table = LockTable()
    assert await enter_hold(table, "k") == await make_hold(table, "k")
    async with table.hold("a"), table.hold(5):
        assert await enter_hold(table, "k") == await make_hold(table, "k")


async def test_both_cost_less_than_asyncios_lock():
    """A Lock, its hold, and a key's hold each allocate less than `async with asyncio.Lock()`."""
    asyncios = await enter(asyncio.Lock())
    assert asyncios > 50 * 100
    assert await enter(Lock()) < asyncios
    assert await enter_hold(LockTable(), "k") < asyncios
    assert await enter_hold(Lock()) < asyncios


async def test_many_keys_leave_no_memory_behind():
    """After 300 keys have been held, waited for, and let go, a table keeps no more memory than after a few."""
    table = LockTable()

    async def user(key):
        async with table.hold(key):
            await asyncio.sleep(0)

    async def contend(keys):
        tasks = [asyncio.create_task(user(key)) for key in keys for _ in range(2)]
        for task in tasks:
            await task

    await contend(range(10))
    gc.collect()
    before = gc.mem_alloc()
    for first in range(10, 310, 10):
        await contend(range(first, first + 10))
    assert len(table) == 0
    gc.collect()
    # A stale reference on the stack can keep a task or two alive; 300 entries would be far more.
    assert gc.mem_alloc() - before < 4000
