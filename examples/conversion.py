"""A conversion that takes long: the sensor stays held, so nobody disturbs it, and the bus is free for everybody else.

TMP117 at 0x48 (one-shot conversion), MCP23017 at 0x20.
"""

import asyncio

from buslock import I2CBus

import boards

board = boards.this_board()
bus = I2CBus(board.i2c, name="i2c0")
thermometer = bus.device(0x48)
expander = bus.device(0x20)
converting = False


async def convert(name):
    global converting
    async with thermometer.hold() as session:
        print(name, "starts a conversion")
        converting = True
        await session.write_register(0x01, b"\x0c\x00")
        # The key is kept, the wire is free between two looks at the data-ready bit.
        await session.wait_register(0x01, 0x20, 0x20, every_ms=20)
        raw = await session.read_register(0x00, 2)
        converting = False
    print("%s has %.2f C" % (name, int.from_bytes(raw, "big") / 128))


async def blink():
    during = 0
    await expander.update_register(0x00, 0x01, 0)
    for i in range(20):
        await expander.update_register(0x14, 0x01, i & 1)
        during += converting
        await asyncio.sleep(0.05)
    print("the expander was written %s a conversion ran" % ("while" if during else "only when none of"))


async def main():
    await asyncio.gather(convert("first"), convert("second"), blink())
    await bus.aclose()


asyncio.run(main())
