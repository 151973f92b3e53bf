"""What an operation on a register costs that nobody else hinders, against the raw call; and where the time goes.

Two bytes at ADDRESS of boards.this_board(), which is simulated on a desk. Because a simulated chip takes longer than
all the rest, "nothing" is the same on a peripheral that does nothing, and on a desk so are the parts.
"""
# pyright: reportAttributeAccessIssue=false

import asyncio

from buslock.i2c import I2CBus
from measure import BATCH, DESK, allocated, compare, figure, median, report

import boards

ADDRESS = 0x76
REGISTER = 0xD0  # 0xD0 and 0xD1 are read
SCRATCH = 0x10  # is written


class Nothing:
    """A peripheral that takes no time."""

    _answer = bytes(2)

    def readfrom_mem(self, addr, reg, nbytes, addrsize=8):
        return self._answer

    def readfrom_mem_into(self, addr, reg, buf, addrsize=8):
        pass

    def writeto_mem(self, addr, reg, buf, addrsize=8):
        pass

    def writevto(self, addr, vector):
        return 2


def pieces_for(i2c, device):
    buf = bytearray(2)
    one = bytes(1)

    async def raw_read(n):
        for _ in range(n):
            i2c.readfrom_mem(ADDRESS, REGISTER, 2)

    async def read(n):
        for _ in range(n):
            await device.read_register(REGISTER, 2)

    async def made(n):
        for _ in range(n):
            device.read_register(REGISTER, 2).close()

    async def raw_into(n):
        for _ in range(n):
            i2c.readfrom_mem_into(ADDRESS, REGISTER, buf)

    async def into(n):
        for _ in range(n):
            await device.read_register_into(REGISTER, buf)

    async def raw_write(n):
        for _ in range(n):
            i2c.writeto_mem(ADDRESS, SCRATCH, one)

    async def write(n):
        for _ in range(n):
            await device.write_register(SCRATCH, one)

    async def session(n):
        async with device.hold() as session:
            for _ in range(n):
                await session.read_register(REGISTER, 2)

    return {
        "raw_read": raw_read,
        "read": read,
        "made": made,
        "raw_into": raw_into,
        "into": into,
        "raw_write": raw_write,
        "write": write,
        "session": session,
    }


YARDSTICKS = {"read": "raw_read", "session": "raw_read", "into": "raw_into", "write": "raw_write"}


def parts_for(i2c, device):
    """Each step of read_register by itself, in a loop of its own."""

    class Same:
        """What read_register is before it does anything: a coroutine method with these arguments."""

        async def nothing(self, reg, nbytes, timeout_ms=None):
            return None

        async def checks(self, reg, nbytes, timeout_ms=None):
            me = device
            if not 0 <= reg <= me._last_register or nbytes < 1:
                return
            if timeout_ms is None:
                return

    same = Same()

    async def loop(n):
        for _ in range(n):
            pass

    async def coroutine(n):
        for _ in range(n):
            await same.nothing(REGISTER, 2)

    async def checks(n):
        for _ in range(n):
            await same.checks(REGISTER, 2)

    async def free(n):
        for _ in range(n):
            device._free()

    async def transfer(n):
        for _ in range(n):
            device._read_register(REGISTER, 2)
        device._bus._transfer = False  # which read_register does after each

    async def raw(n):
        for _ in range(n):
            i2c.readfrom_mem(ADDRESS, REGISTER, 2)

    async def whole(n):
        for _ in range(n):
            await device.read_register(REGISTER, 2)

    names = (loop, coroutine, checks, free, transfer, raw, whole)
    return dict(zip(("loop", "coroutine", "checks", "free", "transfer", "raw", "whole"), names))  # noqa: B905


async def where_it_goes(i2c, device):
    times = await compare(parts_for(i2c, device))
    us = {name: median(t) / BATCH for name, t in times.items()}
    parts = [
        ("raw", us["raw"] - us["loop"]),
        ("coroutine", us["coroutine"] - us["loop"]),
        ("checks", us["checks"] - us["coroutine"]),
        ("free", us["free"] - us["loop"]),
        ("wrapper", us["transfer"] - us["raw"]),
    ]
    whole = us["whole"] - us["loop"]
    parts.append(("rest", whole - sum([part for _, part in parts])))
    for name, part in parts:
        figure("registers.part." + name, [("us", part), ("share", part / whole)])
    figure("registers.part.whole", [("us", whole), ("share", 1.0)])


async def side_by_side(prefix, i2c, device):
    pieces = pieces_for(i2c, device)
    times = await compare(pieces)
    for name, piece in pieces.items():
        report(prefix + name, times[name], times.get(YARDSTICKS.get(name)), size=await allocated(piece))


async def main():
    i2c = boards.this_board().i2c()
    nothing = Nothing()
    device, no_device = I2CBus(i2c).device(ADDRESS), I2CBus(nothing).device(ADDRESS)  # pyright: ignore[reportArgumentType]
    await side_by_side("registers.", i2c, device)
    await side_by_side("registers.nothing.", nothing, no_device)
    await where_it_goes(nothing if DESK else i2c, no_device if DESK else device)


def run():
    asyncio.run(main())


if __name__ == "__main__":
    run()
