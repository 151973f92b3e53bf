"""Lazy.get() when the object is ready, against a coroutine that returns it and does nothing else; peek()."""

import asyncio

from buslock.lazy import Lazy
from measure import allocated, compare, report

thing = object()
lazy = Lazy(lambda: thing)


async def coroutine():
    return thing


async def plain(n):
    for _ in range(n):
        await coroutine()


async def get(n):
    for _ in range(n):
        await lazy.get()


async def peek(n):
    for _ in range(n):
        lazy.peek()


PIECES = {"plain": plain, "get": get, "peek": peek}


async def main():
    times = await compare(PIECES)
    for name, piece in PIECES.items():
        report("lazies." + name, times[name], times["plain"], size=await allocated(piece))


def run():
    asyncio.run(main())


if __name__ == "__main__":
    run()
