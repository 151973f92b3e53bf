"""A flash chip that is busy erasing does not keep the display from drawing: its task has the chip, but not the wire.

W25Q flash on SPI_CS, SSD1306 (128 x 64) on SPI_CS2 and SPI_DC.
"""

import asyncio

from buslock import SPIBus

import boards

board = boards.this_board()
if board.NAME == "sim":
    board.flash.erase_ms = 150  # as a sector of a real one takes

bus = SPIBus(board.spi, name="spi0")
flash = bus.device(board.SPI_CS, baudrate=10_000_000)
display = bus.device(board.SPI_CS2, baudrate=8_000_000, chunk=256)
frames = 0


def output(pin):
    """A function that drives it, for a number, a Pin, or a pin of CircuitPython's `board`."""
    if isinstance(pin, int):
        from machine import Pin

        pin = Pin(pin)
    if hasattr(pin, "init"):
        pin.init(pin.OUT, value=0)
        return pin
    from digitalio import DigitalInOut

    out = DigitalInOut(pin)
    out.switch_to_output()

    def drive(level):
        out.value = bool(level)

    return drive


dc = output(board.SPI_DC)


async def ready(session):
    while (await session.write_then_read(b"\x05", 1))[0] & 1:
        await asyncio.sleep(0.005)  # CS is idle and the wire free


async def store(name, sector, data):
    address = (sector * 4096).to_bytes(3, "big")
    async with flash.hold() as session:
        before = frames
        await session.write(b"\x06")
        await session.write(b"\x20", address)
        await ready(session)
        during = frames - before
        await session.write(b"\x06")
        await session.write(b"\x02", address, data)
        await ready(session)
        good = await session.write_then_read(b"\x03" + address, len(data)) == data
    verdict = "is right" if good else "is WRONG"
    print("%s: sector %d %s; %d frames while it was erased" % (name, sector, verdict, during))


async def draw():
    global frames
    while True:
        async with display.hold() as session:
            dc(0)
            await session.write(b"\x20\x00\x21\x00\x7f\x22\x00\x07")  # horizontal, all columns, all pages
            dc(1)
            await display.write(bytes((frames & 0xFF,)) * 1024)
        frames += 1
        await asyncio.sleep(0.02)


async def main():
    drawing = asyncio.create_task(draw())
    await asyncio.gather(store("log", 1, b"twenty-one degrees"), store("settings", 2, b"contrast=7"))
    drawing.cancel()
    try:
        await drawing
    except asyncio.CancelledError:
        pass
    await bus.aclose()


asyncio.run(main())
