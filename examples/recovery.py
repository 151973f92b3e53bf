"""A chip was interrupted in the middle of a byte and holds SDA low: the bus frees itself before the next transfer.

On the desk a simulated chip does it. On a board pull SDA to ground for a moment while this runs.
"""

import asyncio

from buslock import BusError, I2CBus

import boards

board = boards.this_board()
bus = I2CBus(board.i2c, name="i2c0", scl=board.I2C_SCL, sda=board.I2C_SDA)


async def prepare(session):
    """The sensor's set-up: run before its first use, and again after a recovery."""
    print("set-up of the pressure sensor")
    await session.write_register(0xF4, 0x27)


pressure = bus.device(0x76, setup=prepare)


async def main():
    for n in range(6):
        if n == 2 and board.NAME == "sim":
            print("(a chip holds SDA)")
            board.pressure.hold_sda(clocks=5)
        try:
            raw = await pressure.read_register(0xF7, 3)
            print("pressure", int.from_bytes(raw, "big"))
        except BusError as error:
            print("failed:", error)
        await asyncio.sleep(0.1)
    print("recoveries:", bus.stats()["recoveries"])
    await bus.aclose()


asyncio.run(main())
