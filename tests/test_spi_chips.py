"""Chips as in real programs on one SPI bus: a display, an SD card, a flash, thermocouples and a radio."""

import asyncio

from buslock_sim import Display, NORFlash, Pin, Radio, SDCard, Thermocouple
from spi_rig import BUSIO, MACHINE, PORTS, Rig, sleep
from support import clock
from support.turns import turns

CLOCK = "virtual"
LEFT_OUT = {
    "pico": {
        "more memory than a Pico has: a flash chip of 64 KB": (
            "test_a_bus_with_five_chips",
            "test_a_flash_and_a_display",
        ),
    }
}


class Card:
    """A small SD card driver: CS active over a command and its answer, clocks with CS idle around it."""

    def __init__(self, rig, chunk=None):
        pin = rig.cs("a")
        # Two devices for one chip select are refused, so the slow start is made by the set-up's own configuration.
        self.device = rig.bus.device(pin, baudrate=400_000, pre_clocks=80, post_clocks=8, setup=self.start)
        self.started = 0

    async def start(self, session):
        self.started += 1
        async with session.select() as spi:
            assert await self.command(spi, 0, 0, 0x95) == 1
        async with session.select() as spi:
            assert await self.command(spi, 8, 0x1AA, 0x87) == 1
            await spi.read(4, 0xFF)
        for _ in range(10):
            async with session.select() as spi:
                await self.command(spi, 55, 0, 0x65)
            async with session.select() as spi:
                if await self.command(spi, 41, 0x40000000, 0x77) == 0:
                    return
            await sleep(1)
        raise OSError(19)

    async def command(self, spi, number, argument, crc=0xFF):
        frame = bytes([0x40 | number]) + argument.to_bytes(4, "big") + bytes([crc])
        await spi.write(b"\xff" + frame)
        for _ in range(9):
            answer = (await spi.read(1, 0xFF))[0]
            if not answer & 0x80:
                return answer
        raise OSError(5)

    async def read_block(self, block):
        async with self.device.select() as spi:
            assert await self.command(spi, 17, block) == 0
            while (await spi.read(1, 0xFF))[0] != 0xFE:
                await turns()
            data = await spi.read(512, 0xFF)
            await spi.read(2, 0xFF)
        return data

    async def write_block(self, block, data):
        async with self.device.hold() as session:
            async with session.select() as spi:
                assert await self.command(spi, 24, block) == 0
                await spi.write(b"\xff\xfe", data, b"\xff\xff")
                assert (await spi.read(1, 0xFF))[0] & 0x1F == 0x05
            while True:  # the card is busy; the wire is free for the others
                async with session.select() as spi:
                    if (await spi.read(1, 0xFF))[0] == 0xFF:
                        return
                await sleep(1)


async def test_a_display_and_an_sd_card():
    """A card and a display with different speeds and modes, used at the same time: no block is lost (E1)."""
    for port in PORTS:
        card_chip, display_chip = SDCard(), Display(1024, modes=(3,))
        rig = Rig(port, chips=(card_chip, display_chip))
        card = Card(rig)
        display = rig.bus.device(rig.cs("b"), baudrate=10_000_000, polarity=1, phase=1, chunk=256)

        async def files(first):
            for block in range(first, first + 3):
                data = bytes([block]) * 512
                await card.write_block(block, data)
                assert await card.read_block(block) == data

        async def draw():
            for n in range(8):
                await display.write(bytes([n]) * 1024)
                await sleep(2)

        await asyncio.gather(files(10), draw(), files(20))
        assert card.started == 1
        assert card_chip.writes == 6
        assert display_chip.frames == 8
        assert display_chip.frame == b"\x07" * 1024
        rig.check()


async def test_a_flash_and_a_display():
    """While a flash erases and programs, its task keeps it, and the display draws (I1)."""
    for port in PORTS:
        flash_chip, display_chip = NORFlash(erase_ms=45, program_ms=2), Display(1024)
        rig = Rig(port, chips=(flash_chip, display_chip))
        flash = rig.bus.device(rig.cs("a"), baudrate=20_000_000)
        display = rig.bus.device(rig.cs("b"), baudrate=10_000_000, chunk=256)
        drawn = []

        async def ready(session):
            while (await session.write_then_read(b"\x05", 1))[0] & 1:
                await sleep(1)

        async def store(sector, data):
            async with flash.hold() as session:
                address = (sector * 4096).to_bytes(3, "big")
                await session.write(b"\x06")
                await session.write(b"\x20", address)
                await ready(session)
                await session.write(b"\x06")
                await session.write(b"\x02", address, data)
                await ready(session)
                assert await session.write_then_read(b"\x03" + address, len(data)) == data

        async def draw():
            for n in range(10):
                await display.write(bytes([n]) * 1024)
                drawn.append(clock.now())
                await sleep(5)

        start = clock.now()
        await asyncio.gather(store(1, b"one" * 50), draw(), store(2, b"two" * 50))
        assert flash_chip.memory[8192:8198] == b"twotwo"
        assert len([time for time in drawn if time - start < 80]) >= 5
        assert display_chip.frames == 10
        rig.check()


async def start_converting(session):
    await session.write(b"\x80\xc0")
    await sleep(60)


def ratio(ohms):
    """What a Thermocouple has in its registers 1 and 2."""
    return (int(ohms * 32768 / 430) << 1).to_bytes(2, "big")


async def test_two_thermocouples():
    """Two converters on one bus, read by several tasks: the readings never change places (E7)."""
    for port in PORTS:
        rig = Rig(port, chips=(Thermocouple(100.0), Thermocouple(250.0)))
        devices = rig.devices(baudrate=4_000_000, phase=1, setup=start_converting)

        async def watch(device, ohms):
            for i in range(8):
                assert await device.write_then_read(b"\x01", 2) == ratio(ohms)
                await turns(i % 3)
                async with device.select() as spi:
                    await spi.write(b"\x01")
                    await turns(1 + i % 2)
                    high = await spi.read(1)
                    await turns()
                    assert high + await spi.read(1) == ratio(ohms)
                await sleep(1)

        await asyncio.gather(watch(devices[0], 100.0), watch(devices[1], 250.0), watch(devices[0], 100.0))
        rig.check()


class RadioDriver:
    """As the unmodified nrf24l01.py: it keeps the SPI object, sets it up once, and moves its own CS."""

    def __init__(self, spi, cs):
        self.spi = spi
        self.cs = cs
        cs.init(cs.OUT, value=1)

    def set_up(self):
        self.spi.init(baudrate=4_000_000, polarity=0, phase=0)

    def register(self, number, *value):
        self.cs(0)
        if value:
            self.spi.write(bytes([0x20 | number, value[0]]))
        else:
            self.spi.read(1, number)
            result = self.spi.read(1)[0]
        self.cs(1)
        return None if value else result


class DisplayDriver:
    """As the unmodified ssd1306.py: it sets the SPI up before each write."""

    def __init__(self, spi, cs):
        self.spi = spi
        self.cs = cs
        cs.init(cs.OUT, value=0)
        self.cs(1)

    def show(self, frame):
        self.spi.init(baudrate=10_000_000, polarity=1, phase=1)
        self.cs(1)
        self.cs(0)
        self.spi.write(frame)
        self.cs(1)


async def test_two_unmodified_drivers():
    """A driver that sets the clock once and one that does so before each write: both get their own (E4)."""
    for port in MACHINE:
        radio_chip, display_chip = Radio(), Display(64, modes=(3,))
        rig = Rig(port, chips=(radio_chip, display_chip))
        pins = [Pin(rig.wire.line(name)) for name in "ab"]
        a = rig.bus.device(pins[0], baudrate=4_000_000)
        b = rig.bus.device(pins[1], baudrate=10_000_000, polarity=1, phase=1)
        radio = RadioDriver(rig.made[0], pins[0])
        display = DisplayDriver(rig.made[0], pins[1])
        await rig.bus.call(a, radio.set_up)

        async def talk():
            for n in range(6):
                await rig.bus.call(a, radio.register, 5, n)
                await turns(n % 2)
                assert await rig.bus.call(a, radio.register, 5) == n
                async with a.hold(wire=True):
                    assert radio.register(5) == n
                    await turns()
                    assert radio.register(5) == n

        async def draw():
            for n in range(6):
                await rig.bus.call(b, display.show, bytes([n]) * 64)
                await turns(n % 3)

        await asyncio.gather(talk(), draw())
        assert display_chip.frames == 6
        rig.check()


async def test_a_bus_with_five_chips():
    """Five devices with five configurations, ten tasks, all operations: no chip minds anything, on any port."""
    for port in PORTS:
        rig = Rig(port, chips=(SDCard(), Display(256, modes=(0,))))
        wire = rig.wire
        wire.attach("c", NORFlash())
        wire.attach("d", Thermocouple(100.0))
        wire.attach("e", Radio())
        card = Card(rig)
        display = rig.bus.device(rig.cs("b"), baudrate=8_000_000)
        flash = rig.bus.device(rig.cs("c"), baudrate=16_000_000)
        thermo = rig.bus.device(rig.cs("d"), baudrate=2_000_000, polarity=1, phase=1, setup=start_converting)
        radio = rig.bus.device(rig.cs("e"), baudrate=5_000_000)

        async def use_card():
            await card.write_block(1, b"\x55" * 512)
            assert await card.read_block(1) == b"\x55" * 512

        async def use_display():
            for _ in range(5):
                await display.write(bytes(256))
                await turns()

        async def use_flash():
            for _ in range(5):
                assert await flash.write_then_read(b"\x03\x00\x00\x00", 4) == b"\xff" * 4
                await turns(2)

        async def use_thermo():
            buf = bytearray(3)
            for _ in range(5):
                await thermo.write_readinto(b"\x01\x00\x00", buf)
                assert buf[1:] == ratio(100.0)
                await turns()

        async def use_radio():
            for n in range(5):
                async with radio.select() as spi:
                    await spi.write(bytes([0x25, n]))
                buf = bytearray(2)
                async with radio.hold() as session:
                    await session.write_readinto(b"\x05\x00", buf)
                await turns()

        await asyncio.gather(*[use() for use in (use_card, use_display, use_flash, use_thermo, use_radio) * 2])
        assert rig.bus.stats()["errors"] == 0
        rig.check()


def test_the_ports_are_those_of_the_rig():
    """These tests go over machine-shaped, busio-shaped and awaited buses."""
    assert set(MACHINE) | set(BUSIO) < set(PORTS)
