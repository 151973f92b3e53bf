"""Operations of 1 ms over some keys: a table, plain counted asyncio.Locks in a dict, and one lock for everything.

Once by as many tasks as there are operations, all at once, and once by as many workers as there are keys. Times are of
the whole, so `us` is for all operations together.
"""

import asyncio

from buslock.table import LockTable
from measure import DESK, QUICK, compare, figure, report, sleep_ms

OPERATIONS, KEYS = (1000, 50) if DESK else (60, 20)
RUNS = 3 if QUICK else 9
SLOW_RUNS = 1 if QUICK else 3

table = LockTable()
counted = {}
one = asyncio.Lock()
running = {}
overlaps = 0


async def work(key):
    global overlaps
    overlaps += running.get(key, 0)
    running[key] = 1
    await sleep_ms(1)
    running[key] = 0


async def by_table(key):
    async with table.hold(key):
        await work(key)


async def by_counted_lock(key):
    entry = counted.get(key)
    if entry is None:
        entry = counted[key] = [asyncio.Lock(), 0]
    entry[1] += 1
    try:
        async with entry[0]:
            await work(key)
    finally:
        entry[1] -= 1
        if not entry[1]:
            del counted[key]


async def by_one_key(key):
    async with table.hold("all"):
        await work(key)


async def by_one_lock(key):
    async with one:
        await work(key)


def everything(operation, tasks):
    """A piece: all operations, each of so many tasks doing its share."""

    async def worker(first):
        for i in range(first, OPERATIONS, tasks):
            # Each time another key, so that the workers meet.
            await operation((i + i // tasks * 7) % KEYS)

    async def all_of_them(_):
        await asyncio.gather(*[worker(i) for i in range(tasks)])
        assert not len(table) and not counted

    return all_of_them


async def side_by_side(prefix, tasks):
    pieces = {"dict": everything(by_counted_lock, tasks), "table": everything(by_table, tasks)}
    times = await compare(pieces, rounds=RUNS, batch=1)
    for name in pieces:
        report(prefix + name, times[name], times["dict"], batch=1)
    pieces = {
        "table": everything(by_table, tasks),
        "one_key": everything(by_one_key, tasks),
        "one_lock": everything(by_one_lock, tasks),
    }
    times = await compare(pieces, rounds=SLOW_RUNS, batch=1)
    for name in ("one_key", "one_lock"):
        report(prefix + name, times[name], times["table"], batch=1)


async def main():
    await side_by_side("tables.", OPERATIONS)
    await side_by_side("tables.workers.", KEYS)
    figure("tables.overlaps", [("count", overlaps)])


def run():
    asyncio.run(main())


if __name__ == "__main__":
    run()
