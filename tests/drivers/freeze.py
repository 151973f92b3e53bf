"""Task A keeps the bus across an await while task B uses adafruit_bus_device: freeze.py raw|ours."""

import asyncio
import sys

from adafruit_bus_device.i2c_device import I2CDevice
from buslock import I2CBus, NotCovered
from buslock_sim import BusioI2C, RegisterFile, Wire

wire = Wire()
wire.attach(0x40, RegisterFile(bytes([5] * 16)))


def say(*words):
    print(*words)
    if hasattr(sys.stdout, "flush"):
        sys.stdout.flush()


async def keeper(i2c):
    while not i2c.try_lock():
        await asyncio.sleep(0)
    await asyncio.sleep(0.3)
    i2c.unlock()


def read(device):
    buf = bytearray(1)
    with device:
        device.write_then_readinto(b"\x01", buf)
    return bytes(buf)


async def main(ours):
    i2c = BusioI2C(wire)
    bus = None
    if ours:
        bus = I2CBus(i2c, name="i2c")
        i2c = bus.as_busio()
    device = I2CDevice(i2c, 0x40)
    task = asyncio.create_task(keeper(i2c))
    await asyncio.sleep(0.05)
    say("the loop runs")
    if ours:
        try:
            read(device)
        except NotCovered as error:
            say("B is told:", error)
        got = await bus.call(0x40, read, device)  # waits its turn, and the loop goes on
    else:
        got = read(device)
    say("B has read", got)
    await task


asyncio.run(main(sys.argv[1] == "ours"))
