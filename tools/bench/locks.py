"""What a lock costs that nobody else wants: time and bytes of `async with`, ours and asyncio's."""

import asyncio

from buslock.lock import Lock
from buslock.table import LockTable
from measure import allocated, compare, report

builtin = asyncio.Lock()
lock = Lock()
table = LockTable()


async def with_asyncio_lock(n):
    for _ in range(n):
        async with builtin:
            pass


async def with_lock(n):
    for _ in range(n):
        async with lock:
            pass


async def with_lock_hold(n):
    for _ in range(n):
        async with lock.hold():
            pass


async def with_key(n):
    for _ in range(n):
        async with table.hold(0x48):
            pass


async def key_alone(n):
    """The hold is made and not used."""
    for _ in range(n):
        table.hold(0x48)


async def loop(n):
    for _ in range(n):
        pass


PIECES = {
    "asyncio_lock": with_asyncio_lock,
    "lock": with_lock,
    "lock_hold": with_lock_hold,
    "key": with_key,
    "key_alone": key_alone,
    "loop": loop,
}


async def main():
    times = await compare(PIECES)
    for name, piece in PIECES.items():
        report("locks." + name, times[name], times["asyncio_lock"], size=await allocated(piece))


def run():
    asyncio.run(main())


if __name__ == "__main__":
    run()
