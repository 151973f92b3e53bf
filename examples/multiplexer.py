"""The same sensor twice, with the same address, behind a TCA9548A multiplexer at 0x70: channels 0 and 1.

Each channel behaves like a bus. Selecting a channel and the transfer are one step, so no task reads the other's sensor.
"""

import asyncio

from buslock import I2CBus

import boards

board = boards.this_board()
if board.NAME == "sim":
    from buslock_sim import Multiplexer, Thermometer

    board.reset()
    board.wire.detach(0x48)
    chip = board.wire.attach(0x70, Multiplexer())
    chip.channel(0).attach(0x48, Thermometer(18.0))
    chip.channel(1).attach(0x48, Thermometer(31.5))

bus = I2CBus(board.i2c, name="i2c0")
mux = bus.mux(0x70)
inside = mux.channel(0).device(0x48)
outside = mux.channel(1).device(0x48)


async def watch(name, sensor):
    for _ in range(3):
        raw = await sensor.read_register(0x00, 2)
        print("%-8s %.2f C" % (name, int.from_bytes(raw, "big") / 128))
        await asyncio.sleep(0)


async def main():
    print("behind channel 0:", [hex(addr) for addr in await mux.channel(0).scan()])
    await asyncio.gather(watch("inside", inside), watch("outside", outside))
    await bus.aclose()


asyncio.run(main())
