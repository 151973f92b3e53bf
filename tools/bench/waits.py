"""Deadlines and hand-overs: acquire(timeout_ms=...) against wait_for_ms(lock.acquire(), ...), one task after another.

In "contended" and "handover" two tasks take turns: each holds the lock until the other has asked for it, so every
acquire waits. The turn of the scheduler that this takes is in all figures alike.
"""

import asyncio

from buslock.lock import Lock
from buslock.table import LockTable
from measure import BATCH, allocated, compare, report, wait_for_ms

LIMIT = 10000

builtin = asyncio.Lock()
lock = Lock()
table = LockTable()


async def free_asyncio(n):
    for _ in range(n):
        await wait_for_ms(builtin.acquire(), LIMIT)
        builtin.release()


async def free_lock(n):
    for _ in range(n):
        await lock.acquire(LIMIT)
        lock.release()


async def free_hold(n):
    for _ in range(n):
        async with lock.hold(LIMIT):
            pass


async def free_key(n):
    for _ in range(n):
        async with table.hold(0x48, LIMIT):
            pass


async def _asyncio_in_time(n):
    for _ in range(n):
        await wait_for_ms(builtin.acquire(), LIMIT)
        await asyncio.sleep(0)
        builtin.release()


async def _lock_in_time(n):
    for _ in range(n):
        await lock.acquire(LIMIT)
        await asyncio.sleep(0)
        lock.release()


async def _key_in_time(n):
    for _ in range(n):
        async with table.hold(0x48, LIMIT):
            await asyncio.sleep(0)


async def _asyncio_plain(n):
    for _ in range(n):
        async with builtin:
            await asyncio.sleep(0)


async def _lock_plain(n):
    for _ in range(n):
        async with lock:
            await asyncio.sleep(0)


async def _key_plain(n):
    for _ in range(n):
        async with table.hold(0x48):
            await asyncio.sleep(0)


async def _turns(n):
    for _ in range(n):
        await asyncio.sleep(0)


def by_two(one):
    async def both(n):
        await asyncio.gather(one(n // 2), one(n // 2))

    return both


GROUPS = {
    "deadline": {"asyncio": free_asyncio, "lock": free_lock, "lock_hold": free_hold, "key": free_key},
    "contended": {"asyncio": by_two(_asyncio_in_time), "lock": by_two(_lock_in_time), "key": by_two(_key_in_time)},
    "handover": {
        "asyncio": by_two(_asyncio_plain),
        "lock": by_two(_lock_plain),
        "key": by_two(_key_plain),
        "turn": by_two(_turns),
    },
}


async def main():
    for group, pieces in GROUPS.items():
        times = await compare(pieces, batch=BATCH)
        for name, piece in pieces.items():
            report(f"waits.{group}.{name}", times[name], times["asyncio"], size=await allocated(piece))


def run():
    asyncio.run(main())


if __name__ == "__main__":
    run()
