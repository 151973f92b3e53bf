"""Drivers that know nothing of asyncio or of locks, used by several tasks on one bus.

Each is given a look-alike of the peripheral that it was written for: `bus.as_machine()` for drivers of MicroPython,
`bus.as_busio()` for those of CircuitPython, whichever of the two the bus itself has. `await bus.call(device, function,
...)` runs one of its functions with the device and the wire held. Without that a call goes through while nobody else
has the device, and raises NotCovered otherwise: the driver never waits, and never gets into somebody's transfer.
"""

import asyncio

from buslock import I2CBus, NotCovered

import boards

board = boards.this_board()
bus = I2CBus(board.i2c, name="i2c0")
ADDRESS = 0x48


class Thermometer:
    """Stands for a driver of MicroPython: it is given a machine.I2C."""

    def __init__(self, i2c, address=ADDRESS):
        self.i2c = i2c
        self.address = address
        if i2c.readfrom_mem(address, 0x0F, 2) != b"\x01\x17":
            raise RuntimeError("no thermometer")

    def read(self):
        return int.from_bytes(self.i2c.readfrom_mem(self.address, 0x00, 2), "big") / 128


class Expander:
    """Stands for a driver of CircuitPython: it is given a busio.I2C, which it locks for each transfer."""

    def __init__(self, i2c, address=0x20):
        self.i2c = i2c
        self.address = address

    def read(self):
        buf = bytearray(2)
        while not self.i2c.try_lock():  # would freeze the loop if another task kept a raw bus locked
            pass
        try:
            self.i2c.writeto_then_readfrom(self.address, b"\x12", buf)
        finally:
            self.i2c.unlock()
        return buf[0] | buf[1] << 8


async def watch(name, address, driver):
    for _ in range(3):
        print(name, await bus.call(address, driver.read))
        await asyncio.sleep(0)


async def main():
    thermometer = await bus.call(ADDRESS, Thermometer, bus.as_machine())
    expander = Expander(bus.as_busio())
    await asyncio.gather(watch("temperature", ADDRESS, thermometer), watch("inputs", 0x20, expander))

    # A hold of its own for several calls with other things to await in between.
    async with bus.hold(ADDRESS):
        before = thermometer.read()
        await asyncio.sleep(0.01)
        print("changed by", thermometer.read() - before)
        # Another task that forgets to hold it is told at once whose it is.
        await asyncio.create_task(careless(thermometer))
    stats = bus.stats()
    print("longest call: %d ms, %s" % (stats["longest_call_ms"], stats["longest_call_key"] or "none to speak of"))
    await bus.aclose()


async def careless(thermometer):
    try:
        thermometer.read()
    except NotCovered as error:
        print("NotCovered:", error)


asyncio.run(main())
