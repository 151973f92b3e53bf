"""What other keys and other waiters cost: an operation among few and many live keys, a hand-over before few and many.

Keys are numbers, texts, or texts among numbers. The live numbers are consecutive: in MicroPython's dicts that is a run
of occupied places, through which whatever falls among them has to search. The numbers that are asked for lie apart.
"""
# pyright: reportAttributeAccessIssue=false

import asyncio
import gc

from buslock.lock import Lock
from buslock.table import LockTable
from measure import BATCH, DESK, QUICK, ROUNDS, compare, figure, median, now, report, since

FEW = 10
MANY_KEYS = 5000 if DESK else 112  # as many as an I2C bus has addresses
MANY_WAITERS = 2000 if DESK else 60
LIMIT = 100000

NUMBERS = [MANY_KEYS + 1000 + 997 * i for i in range(BATCH)]
TEXTS = [f"sensor{i}" for i in range(BATCH)]


def number(i):
    return i


def text(i):
    return f"k{i}"


STYLES = {
    "numbers": (number, NUMBERS),
    "texts": (text, TEXTS),
    "mixed": (number, TEXTS),
}


def among(live, name, keys):
    """A piece: the keys are taken one by one while another task holds so many others."""
    table = LockTable()
    tasks = []

    async def keep():
        holds = [table.try_hold(name(i)) for i in range(live)]
        assert None not in holds
        await asyncio.Event().wait()

    async def piece(n):
        if not tasks:
            tasks.append(asyncio.create_task(keep()))
            while len(table) < live:
                await asyncio.sleep(0)
        for key in keys:
            async with table.hold(key):
                pass

    return piece, tasks


async def stop(tasks):
    for task in tasks:
        task.cancel()
        try:  # noqa: SIM105, no contextlib on boards
            await task
        except asyncio.CancelledError:
            pass


def line(length, make, enter):
    """A piece: so many tasks wait; microseconds from a release to the next in line, the median of the whole line."""

    async def piece(n):
        lock = make()
        took = []
        released = 0

        async def waiter():
            nonlocal released
            await enter(lock)
            took.append(since(released))
            await asyncio.sleep(0)
            released = now()
            lock.release()

        tasks = await lined_up(lock, length, waiter)
        gc.collect()
        released = now()
        lock.release()
        await tasks[-1]
        return median(took)

    return piece


async def bytes_in_line(make, enter):
    """Bytes that a waiting task takes, the task and its own coroutine with it."""
    if not hasattr(gc, "mem_alloc"):
        return None
    lock = make()

    async def waiter():
        await enter(lock)
        lock.release()

    taken = []
    for length in (20, 60):
        gc.collect()
        before = gc.mem_alloc()
        tasks = await lined_up(lock, length, waiter)
        gc.collect()
        taken.append(gc.mem_alloc() - before)
        lock.release()
        for task in tasks:
            await task
        tasks = task = None
    return (taken[1] - taken[0]) / 40


async def lined_up(lock, length, waiter):
    """So many tasks that wait for the lock, which the running task holds."""
    await lock.acquire()
    tasks = [asyncio.create_task(waiter()) for _ in range(length)]
    for _ in range(3):
        await asyncio.sleep(0)
    return tasks


async def without_limit(lock):
    await lock.acquire()


async def with_limit(lock):
    await lock.acquire(LIMIT)


async def main():
    for style, (name, keys) in STYLES.items():
        few, few_tasks = among(FEW, name, keys)
        many, many_tasks = among(MANY_KEYS, name, keys)
        times = await compare({"few": few, "many": many})
        report("growth.keys.few." + style, times["few"])
        report("growth.keys." + style, times["many"], times["few"])
        await stop(few_tasks + many_tasks)
    for name, make, enter in (
        ("lock", Lock, without_limit),
        ("deadline", Lock, with_limit),
        ("asyncio", asyncio.Lock, without_limit),
    ):
        pieces = {
            "few": line(FEW, make, enter),
            "many": line(MANY_WAITERS, make, enter),
        }
        times = await compare(pieces, rounds=5 if QUICK else min(ROUNDS, 15))
        report("growth.waiters.few." + name, times["few"], batch=1)
        report("growth.waiters." + name, times["many"], times["few"], batch=1)
        size = await bytes_in_line(make, enter)
        if size is not None:
            figure("growth.in_line." + name, [("bytes", size)])


def run():
    asyncio.run(main())


if __name__ == "__main__":
    run()
