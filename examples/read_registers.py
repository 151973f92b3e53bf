"""Six coroutines share three sensors on one I2C bus: a slow conversion keeps its sensor, and the others go on.

Runs on a board with these chips, and on the desk with simulated ones:
TMP117 thermometer at 0x48, MCP23017 expander at 0x20, BMP280 pressure sensor at 0x76.
"""

import asyncio
import time

from buslock import I2CBus, LockTimeout

import boards

board = boards.this_board()
bus = I2CBus(board.i2c, name="i2c0", scl=board.I2C_SCL, sda=board.I2C_SDA)
thermometer = bus.device(0x48)
expander = bus.device(0x20)
pressure = bus.device(0x76)

now = getattr(time, "ticks_ms", None) or (lambda: int(time.monotonic() * 1000))  # CircuitPython has no ticks_ms
start = now()
rows = []
using = {}  # device: the task that has it now, to show who waited for whom


def row(task, action, asked, waited_for, result):
    rows.append((asked - start, task, action, now() - asked, waited_for or "-", result))


async def convert():
    """Holds the thermometer over its conversion; the wire is free meanwhile."""
    asked = now()
    async with thermometer.hold() as session:
        using[thermometer] = "convert"
        await session.write_register(0x01, b"\x0c\x00")  # one conversion
        while not (await session.read_register(0x01, 2))[0] & 0x20:  # data ready
            await asyncio.sleep(0.05)
        raw = await session.read_register(0x00, 2)
        del using[thermometer]
    row("convert", "thermometer: one conversion", asked, None, "%.2f C" % (int.from_bytes(raw, "big") / 128))


async def identify():
    """Wants the thermometer, too, and has time."""
    await asyncio.sleep(0.01)
    asked = now()
    before = using.get(thermometer)
    raw = await thermometer.read_register(0x0F, 2)
    row("identify", "thermometer: identity", asked, before, "0x%04x" % int.from_bytes(raw, "big"))


async def hurry():
    """Wants the thermometer within 100 ms, and does without it."""
    await asyncio.sleep(0.02)
    asked = now()
    before = using.get(thermometer)
    try:
        await thermometer.read_register(0x00, 2, timeout_ms=100)
        row("hurry", "thermometer: quick look", asked, before, "in time")
    except LockTimeout as error:
        row("hurry", "thermometer: quick look", asked, before, "missed its deadline of 100 ms")
        print("hurry:", error)


async def blink(name, pin):
    """Two of these change one output register: neither loses the other's bit."""
    await expander.update_register(0x00, 1 << pin, 0)  # the pin becomes an output
    for i in range(3):
        asked = now()
        await expander.update_register(0x14, 1 << pin, 1 << pin if i % 2 == 0 else 0)
        row(name, "expander: pin %d %s" % (pin, "off" if i % 2 else "on"), asked, using.get(expander), "")
        await asyncio.sleep(0.1)


async def weather():
    for _ in range(4):
        asked = now()
        raw = await pressure.read_register(0xF7, 3)
        row("weather", "pressure: raw value", asked, using.get(pressure), "%d" % int.from_bytes(raw, "big"))
        await asyncio.sleep(0.2)


async def main():
    await asyncio.gather(convert(), identify(), hurry(), blink("blink 0", 0), blink("blink 1", 1), weather())
    print()
    print("%6s  %-9s %-28s %8s  %-10s  %s" % ("at ms", "task", "what", "took ms", "waited for", "result"))
    for line in sorted(rows):
        print("%6d  %-9s %-28s %8d  %-10s  %s" % line)
    await bus.aclose()


asyncio.run(main())
