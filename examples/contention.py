"""A display hogs the bus, and a sensor misses its deadline: who held what, seen in the statistics and in a trace.

SSD1306 (128 x 64) at 0x3C, BMP280 pressure sensor at 0x76, MCP23017 expander at 0x20. A frame is drawn in eight pages, and
each page takes a few milliseconds to make. The display keeps the wire for all of that; with HOG = False, which is the
whole fix, only its own key, and the others talk while the next page is made.

On the desk: `python3 tools/dev.py demo contention` and `python3 tools/dev.py demo contention fixed`.
"""

import asyncio
import sys

from buslock import I2CBus, LockTimeout, Trace

import boards

HOG = "fixed" not in sys.argv[1:]

board = boards.this_board()
if board.NAME == "sim":
    from buslock_sim import RegisterFile, clock

    clock.use("real")  # transfers take as long as on wires
    board.wire.attach(0x3C, RegisterFile(bytes(256)))

trace = Trace(1024)
bus = I2CBus(board.i2c, name="i2c0", trace=trace)
display = bus.device(0x3C)
pressure = bus.device(0x76)
expander = bus.device(0x20)
page = bytearray(128)
drawing = True


async def draw():
    global drawing
    trace.name("display")
    for frame in range(4):
        trace.mark("frame %d" % frame)
        async with display.hold(wire=HOG) as session:
            for i in range(8):
                await asyncio.sleep(0.004)  # the next page is made
                await session.write(b"\x00", bytes((0xB0 + i, 0x00, 0x10)))
                await session.write(b"\x40", page)
        await asyncio.sleep(0.03)
    drawing = False


async def measure():
    """Wants a reading every 20 ms, and has no use for one that comes later than 10 ms."""
    trace.name("sensor")
    readings = missed = 0
    while drawing:
        try:
            await pressure.read_register(0xF7, 3, timeout_ms=10)
            readings += 1
        except LockTimeout:
            missed += 1
        await asyncio.sleep(0.02)
    print("sensor: %d readings, %d missed" % (readings, missed))


async def blink():
    """Has time."""
    trace.name("blink")
    await expander.update_register(0x00, 0x01, 0)
    on = 0
    while drawing:
        on ^= 1
        await expander.update_register(0x14, 0x01, on)
        await asyncio.sleep(0.05)


async def main():
    await asyncio.gather(draw(), measure(), blink())
    await bus.aclose()


asyncio.run(main())
print(bus.stats())
trace.dump()
