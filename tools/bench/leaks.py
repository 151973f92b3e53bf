"""Random programs of tasks that wait for a lock with deadlines and are cancelled: how many of them lose the lock.

Every program is run twice, with asyncio.Lock and wait_for_ms(lock.acquire(), t), and with ours. When its tasks have
all ended, nobody has the lock. Also counted: tasks that were cancelled in time and never saw it. The programs are the
same from run to run; how their steps fall together depends on the clock.
"""

import asyncio

from buslock.lock import Lock
from leak import TURNS, asyncio_lock, buslock_lock, lost
from measure import DESK, QUICK, figure, sleep_ms, wait_for_ms

PROGRAMS = (60 if QUICK else 400) if DESK else (20 if QUICK else 60)
TASKS = 4
STEPS = 3
LONGEST = 4  # milliseconds of a deadline


class Dice:
    """The same numbers on every runtime."""

    def __init__(self, seed):
        self._state = seed * 7919 + 1

    def roll(self, n):
        self._state = (self._state * 1103515245 + 12345) & 0x7FFFFFFF
        return (self._state >> 12) % n


class Kind:
    def __init__(self, make, acquire):
        self.make = make
        self.acquire = acquire
        self.acquisitions = 0
        self.leaks = 0
        self.deaf = 0


async def pause(kind, n):
    if kind:
        await sleep_ms(n % LONGEST)
    else:
        for _ in range(n):
            await asyncio.sleep(0)


async def user(kind, lock, plan):
    for limit, way, length in plan:
        try:
            await kind.acquire(lock, limit)
        except asyncio.TimeoutError:  # noqa: UP041, no such builtin on MicroPython
            continue
        kind.acquisitions += 1
        try:
            await pause(way, length)
        finally:
            lock.release()


async def program(kind, seed):
    dice = Dice(seed)
    lock = kind.make()
    plans = [[(1 + dice.roll(LONGEST), dice.roll(2), dice.roll(6)) for _ in range(STEPS)] for _ in range(TASKS)]
    tasks = [asyncio.create_task(user(kind, lock, plan)) for plan in plans]
    cancelled = set()
    for _ in range(dice.roll(4)):
        await pause(dice.roll(2), dice.roll(8))
        i = dice.roll(TASKS)
        if not tasks[i].done():
            tasks[i].cancel()
            cancelled.add(i)
    for i in range(TASKS):
        try:
            await tasks[i]
            kind.deaf += i in cancelled
        except asyncio.CancelledError:
            pass
    await sleep_ms(2)
    kind.leaks += lock.locked()


async def main():
    kinds = {
        "asyncio": Kind(asyncio.Lock, lambda lock, ms: wait_for_ms(lock.acquire(), ms)),
        "buslock": Kind(Lock, lambda lock, ms: lock.acquire(ms)),
    }
    for seed in range(PROGRAMS):
        for kind in kinds.values():
            await program(kind, seed)
    for name, kind in kinds.items():
        figure(
            "leaks." + name,
            [
                ("count", kind.leaks),
                ("programs", PROGRAMS),
                ("acquisitions", kind.acquisitions),
                ("deaf", kind.deaf),
            ],
        )
    for name, make in (("asyncio", asyncio_lock), ("buslock", buslock_lock)):
        found = 0
        for turns in TURNS:
            found += await lost(make, turns)
        figure("leaks.turns." + name, [("count", found), ("of", len(TURNS))])


def run():
    asyncio.run(main())


if __name__ == "__main__":
    run()
