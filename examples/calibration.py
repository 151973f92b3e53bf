"""A calibration is moved from an EEPROM to a sensor as one step, while a third device is polled without noticing.

24C32 at 0x50, a sensor with its calibration in registers 0x10 to 0x13 at 0x76, MCP23017 at 0x20.
"""

import asyncio

from buslock import I2CBus

import boards

board = boards.this_board()
if board.NAME == "sim":
    from buslock_sim import EEPROM

    board.wire.attach(0x50, EEPROM(contents=b"\x12\x34\x56\x78"))

bus = I2CBus(board.i2c, name="i2c0")
eeprom = bus.device(0x50, addrsize=16)
sensor = bus.device(0x76)
expander = bus.device(0x20)
moving = True
polls = 0


@bus.script(eeprom, sensor)
async def calibrate(regs):
    """Nobody else uses either of the two in between; whoever wants them waits in line."""
    for i in range(4):
        value = await regs.read_register(eeprom, i, 1)
        await regs.write_register(sensor, 0x10 + i, value)
        await asyncio.sleep(0.02)  # the sensor wants time after each
    return await regs.read_register(sensor, 0x10, 4)


async def poll():
    global polls
    while moving:
        await expander.read_register(0x12, 1, timeout_ms=0)  # never has to wait
        polls += 1
        await asyncio.sleep(0.005)


async def impatient():
    """A transaction that needs both, too: it runs before or after the calibration, never inside."""
    await asyncio.sleep(0.01)
    txn = bus.transaction()
    txn.read_register(sensor, 0x10, 4)
    txn.read_register(eeprom, 0, 4)
    there, here = await txn.execute()
    print("the transaction saw the same in both" if there == here else "the transaction saw a half-moved calibration")


async def main():
    global moving
    task = asyncio.create_task(poll())
    result = (await asyncio.gather(calibrate(), impatient()))[0]
    moving = False
    await task
    print("calibration is now", result)
    print("the expander was polled %s" % ("meanwhile, and never waited" if polls > 5 else "too seldom"))
    await bus.aclose()


asyncio.run(main())
