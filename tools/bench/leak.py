"""Shows the lock that `wait_for_ms(lock.acquire(), t)` loses for ever, and that buslock's does not get lost.

    MICROPYPATH=lib:.frozen micropython tools/bench/leak.py

A task holds the lock, a second one waits for it with a time limit. The lock is released, and a few turns of the
scheduler later the second one is cancelled. Then every task has ended, so nobody has the lock: is it free?
"""

import asyncio

TURNS = (0, 1, 2, 3)  # of the scheduler, from the release to the cancel


def asyncio_lock():
    lock = asyncio.Lock()
    if hasattr(asyncio, "wait_for_ms"):
        return lock, lambda: asyncio.wait_for_ms(lock.acquire(), 1000)  # pyright: ignore[reportAttributeAccessIssue]
    return lock, lambda: asyncio.wait_for(lock.acquire(), 1)


def buslock_lock():
    from buslock import Lock

    lock = Lock()
    return lock, lambda: lock.acquire(timeout_ms=1000)


async def lost(make, turns):
    """True if the lock is still locked when all is over."""
    lock, acquire = make()

    async def victim():
        await acquire()
        lock.release()

    await lock.acquire()
    task = asyncio.create_task(victim())
    for _ in range(4):  # until it waits
        await asyncio.sleep(0)
    lock.release()
    for _ in range(turns):
        await asyncio.sleep(0)
    task.cancel()
    try:  # noqa: SIM105, no contextlib on boards
        await task
    except asyncio.CancelledError:
        pass
    for _ in range(20):  # whatever was left behind comes to its end
        await asyncio.sleep(0)
    return lock.locked()


async def main():
    for name, make in (
        ("asyncio.Lock with wait_for_ms(lock.acquire(), 1000)", asyncio_lock),
        ("buslock.Lock with lock.acquire(timeout_ms=1000)", buslock_lock),
    ):
        print(name)
        for turns in TURNS:
            state = "LOST: locked for ever" if await lost(make, turns) else "free"
            print(f"    cancelled {turns} turns after the release: {state}")


if __name__ == "__main__":
    asyncio.run(main())
