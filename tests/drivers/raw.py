"""Two tasks read one converter without locks, as an asynchronous driver would: its conversions get mixed up.

This is why the readings of the other tests mean something.
"""

import asyncio

from buslock_sim import I2C, Wire
from parts import ADS1115

VOLTS = (0.5, 1.25, 2.5, 3.0)
wire = Wire()
wire.attach(0x48, ADS1115(VOLTS))
i2c = I2C(wire)
wrong = []


async def user(n):
    for _ in range(5):
        i2c.writeto_mem(0x48, 1, bytes([0xC3 | n << 4, 0x83]))
        await asyncio.sleep(0.01)
        raw = int.from_bytes(i2c.readfrom_mem(0x48, 0, 2), "big")
        if abs(raw / 32768 * 4.096 - VOLTS[n]) > 0.01:
            wrong.append(n)


async def main():
    await asyncio.gather(user(0), user(2))
    print("wrong readings:", len(wrong))


asyncio.run(main())
