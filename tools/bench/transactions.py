"""Transactions of several devices against one lock for the bus, and what a transaction costs that nobody hinders.

Each transaction starts a conversion, waits until it is ready, and reads it. Of different devices they overlap; with
one lock they follow each other, whatever they are about. Times are of the whole.
"""

# pyright: reportArgumentType=false

import asyncio

from buslock.i2c import I2CBus
from measure import BATCH, DESK, QUICK, allocated, compare, now, report, since, sleep_ms

DEVICES = 8
EACH = 10 if DESK else 3  # transactions of each task
CONVERSION_US = 5000
FIRST = 0x40
START, READY, DATA = 0, 1, 2
RUNS = 3 if QUICK else 9


class Converters:
    """An I2C with a converter at each address; a transfer takes no time, a conversion 5 ms."""

    def __init__(self):
        self._started = {}

    def writevto(self, addr, buffers):
        self._started[addr] = now()

    def readfrom_mem(self, addr, reg, nbytes, addrsize=8):
        if reg == READY:
            return b"\x01" if since(self._started[addr]) >= CONVERSION_US else b"\x00"
        return bytes(nbytes)

    def writeto_mem(self, addr, reg, buf, addrsize=8):
        self._started[addr] = now()


bus = I2CBus(Converters())
one = asyncio.Lock()


async def transaction(first, second):
    txn = bus.transaction()
    txn.write_register(first, START, 1)
    txn.wait_register(first, READY, 1, 1)
    txn.read_register(first, DATA, 2)
    txn.read_register(second, DATA, 2)
    assert await txn.execute() == [None, 1, bytes(2), bytes(2)]


async def with_one_lock(first, second):
    async with one:
        await bus.write_register(first, START, 1)
        while await bus.read_register(first, READY, 1) != b"\x01":
            await sleep_ms(1)
        await bus.read_register(first, DATA, 2)
        await bus.read_register(second, DATA, 2)


def by_tasks(operation, spread):
    """A piece: a task for each pair of devices, or, without `spread`, all for the same pair."""

    async def task(i):
        first = FIRST + 2 * i if spread else FIRST
        for _ in range(EACH):
            await operation(first, first + 1)

    async def all_of_them(_):
        await asyncio.gather(*[task(i) for i in range(DEVICES)])

    return all_of_them


async def plain(n):
    for _ in range(n):
        async with bus.hold(FIRST, FIRST + 1) as regs:
            await regs.read_register(FIRST, DATA, 2)
            await regs.read_register(FIRST + 1, DATA, 2)


async def executed(n):
    txn = bus.transaction()
    txn.read_register(FIRST, DATA, 2)
    txn.read_register(FIRST + 1, DATA, 2)
    for _ in range(n):
        await txn.execute()


async def main():
    pieces = {
        "apart": by_tasks(transaction, True),
        "together": by_tasks(transaction, False),
        "one_lock": by_tasks(with_one_lock, True),
    }
    times = await compare(pieces, rounds=RUNS, batch=1)
    for name in pieces:
        report("transactions." + name, times[name], times["apart"], batch=1)
    times = await compare({"plain": plain, "executed": executed})
    report("transactions.executed", times["executed"], times["plain"], batch=BATCH, size=await allocated(executed))


def run():
    asyncio.run(main())


if __name__ == "__main__":
    run()
