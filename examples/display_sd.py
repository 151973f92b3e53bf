"""A display and an SD card on one SPI: other speeds, other modes, and each chip select comes home.

SSD1306 (128 x 64) on SPI_CS2 and SPI_DC, an SD card (SDHC) on SPI_CS. A frame is cut into pieces, so that the card has to
wait for one of them at most; a card that is busy writing is held by its task, and the display draws.
"""

import asyncio

from buslock import SPIBus

import boards

board = boards.this_board()
if board.NAME == "sim":
    from buslock_sim import SDCard

    board.spi_wire.detach("flash")
    board.spi_wire.attach("flash", SDCard(write_ms=30))


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


async def command(spi, number, argument, crc=0xFF):
    """The card's R1; the selection goes on."""
    await spi.write(b"\xff", bytes((0x40 | number,)) + argument.to_bytes(4, "big") + bytes((crc,)))
    for _ in range(10):
        answer = (await spi.read(1, 0xFF))[0]
        if not answer & 0x80:
            return answer
    raise OSError(5, "the card does not answer command %d" % number)


async def start_card(session):
    """The card's set-up, at 400 kHz: before its first use, and again after an error."""
    speed.init(baudrate=400_000)
    async with session.select() as spi:
        await command(spi, 0, 0, 0x95)
    async with session.select() as spi:
        await command(spi, 8, 0x1AA, 0x87)
        await spi.read(4, 0xFF)
    for _ in range(100):
        async with session.select() as spi:
            await command(spi, 55, 0)
            if await command(spi, 41, 0x4000_0000) == 0:
                speed.init(baudrate=10_000_000)
                return
        await asyncio.sleep(0.01)
    raise OSError(19, "no card")


bus = SPIBus(board.spi, name="spi0")
# 80 clocks before CS wake the card up; it lets go of MISO only with the 8 after it.
card = bus.device(board.SPI_CS, baudrate=400_000, pre_clocks=80, post_clocks=8, setup=start_card)
speed = card.as_machine()  # what is set with init() holds for this device
display = bus.device(board.SPI_CS2, baudrate=8_000_000, polarity=1, phase=1, chunk=(256, False))
dc = output(board.SPI_DC)
frames = 0


async def write_block(block, data):
    async with card.hold() as session:
        async with session.select() as spi:
            if await command(spi, 24, block):
                raise OSError(5, "the card refuses")
            await spi.write(b"\xff\xfe", data, b"\xff\xff")
            if (await spi.read(1, 0xFF))[0] & 0x1F != 0x05:
                raise OSError(5, "the card has not taken the block")
        # The key is kept, CS is idle and the wire is free between two looks.
        while (await session.read(1, 0xFF)) != b"\xff":
            await asyncio.sleep(0.005)


async def read_block(block):
    async with card.select() as spi:
        if await command(spi, 17, block):
            raise OSError(5, "the card refuses")
        while (await spi.read(1, 0xFF)) != b"\xfe":
            await asyncio.sleep(0)
        data = await spi.read(512, 0xFF)
        await spi.read(2, 0xFF)
    return data


async def show(frame):
    global frames
    async with display.hold() as session:
        dc(0)
        await session.write(b"\x20\x00\x21\x00\x7f\x22\x00\x07")  # horizontal, all columns, all pages
        dc(1)
        await display.write(frame)
    frames += 1


async def draw():
    while True:
        await show(bytes((frames & 0xFF,)) * 1024)
        await asyncio.sleep(0.01)


async def main():
    drawing = asyncio.create_task(draw())
    for block in range(100, 104):  # of a card without anything that you need
        before = frames
        data = bytes((block,)) * 512
        await write_block(block, data)
        good = await read_block(block) == data
        print("block %d %s, and %d frames meanwhile" % (block, "is right" if good else "is WRONG", frames - before))
    drawing.cancel()
    try:
        await drawing
    except asyncio.CancelledError:
        pass
    stats = bus.stats()
    print("chip selects left active: %d, errors: %d" % (stats["left_selected"], stats["errors"]))
    await bus.aclose()


asyncio.run(main())
