"""What a trace costs: read_register with it and without, on a peripheral that does nothing, and one event by itself.

A read that nobody hinders is two records, from which the dump makes six events. One with a time limit takes key and wire,
with a trace and without, and records each of the six.
"""
# pyright: reportArgumentType=false

import asyncio

from buslock import I2CBus, Trace
from measure import BATCH, allocated, compare, report
from registers import ADDRESS, REGISTER, Nothing


class Deaf:
    """In the place of a Trace: what is left is what the way of a traced operation costs."""

    def record(self, code, bus, key, task, value):
        pass


def pieces():
    trace = Trace()
    plain = I2CBus(Nothing()).device(ADDRESS)
    traced = I2CBus(Nothing(), trace=trace).device(ADDRESS)
    deaf = I2CBus(Nothing(), trace=Deaf()).device(ADDRESS)
    task = asyncio.current_task()

    async def read(n):
        for _ in range(n):
            await plain.read_register(REGISTER, 2)

    async def read_traced(n):
        for _ in range(n):
            await traced.read_register(REGISTER, 2)

    async def read_deaf(n):
        for _ in range(n):
            await deaf.read_register(REGISTER, 2)

    async def limited(n):
        for _ in range(n):
            await plain.read_register(REGISTER, 2, 1000)

    async def limited_traced(n):
        for _ in range(n):
            await traced.read_register(REGISTER, 2, 1000)

    async def loop(n):
        for _ in range(n):
            pass

    async def record(n):
        for _ in range(n):
            trace.record(0, traced, ADDRESS, task, 0)

    return {
        "read": read,
        "traced": read_traced,
        "deaf": read_deaf,
        "limited": limited,
        "limited_traced": limited_traced,
        "loop": loop,
        "record": record,
    }


async def main():
    found = pieces()
    times = await compare(found)
    yardsticks = {"traced": "read", "deaf": "read", "limited_traced": "limited"}
    for name in found:
        size = await allocated(found[name], batch=BATCH)
        report("traces." + name, times[name], times.get(yardsticks.get(name)), size=size)


def run():
    asyncio.run(main())


if __name__ == "__main__":
    run()
