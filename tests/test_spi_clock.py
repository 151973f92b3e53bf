"""Speed, mode, bit order and clocks with CS idle: each device gets its own, before CS and never in a section."""

import asyncio

from buslock import TransferError
from spi_rig import BUSIO, MACHINE, PORTS, SOME, Echo, Rig, sleep, use_wire
from support.turns import raises_async, turns

CLOCK = "virtual"


def fast_and_slow():
    """A chip of mode 3 that can follow 8 MHz, and one of mode 0 that can follow 400 kHz."""
    return Echo(0x5A, modes=(3,), max_baudrate=8_000_000), Echo(0xA5, modes=(0,), max_baudrate=400_000)


def declare(rig):
    fast = rig.bus.device(rig.cs("a"), baudrate=8_000_000, polarity=1, phase=1)
    slow = rig.bus.device(rig.cs("b"), baudrate=400_000)
    return fast, slow


async def test_each_device_has_its_own_clock():
    """Two chips that want different modes and speeds both get theirs, whatever the order of their users (E1, E11)."""
    for port in PORTS:
        rig = Rig(port, chips=fast_and_slow())
        fast, slow = declare(rig)

        async def user(device, number):
            for i in range(4):
                assert await device.read(1) == bytes([number])
                await turns(i % 3)
                async with device.hold() as session:
                    assert await session.read(1) == bytes([number])
                    await turns(i % 2)
                    assert await session.write_then_read(b"\x01", 1) == bytes([number])

        await asyncio.gather(user(fast, 0x5A), user(slow, 0xA5), user(fast, 0x5A), user(slow, 0xA5))
        rig.check()


async def test_the_clock_is_set_only_when_it_is_another():
    """Devices whose settings are equal by value share one configuration; another is applied once per change."""
    for port in MACHINE:
        rig = Rig(port)
        rig.steps()
        a, b = rig.devices(baudrate=500_000)
        for _ in range(3):
            await a.write(b"\x01")
            await b.write(b"\x02")
            async with a.hold() as session:
                await session.read(1)
            async with b.select() as spi:
                await spi.read(1)
        assert [what for what, _ in rig.steps()].count("configure") == 1
        rig.check()
        rig = Rig(port, chips=fast_and_slow())
        rig.steps()
        fast, slow = declare(rig)
        for device in (fast, fast, slow, slow, fast):
            await device.write(b"\x01")
        assert [what for what, _ in rig.steps()].count("configure") == 3
        rig.check()


async def test_the_clock_is_ready_before_cs():
    """Mode and idle level of the clock are complete when CS falls, on a port too that moves SCK late (E5)."""
    for port in PORTS:
        for polarity in (0, 1):
            chips = Echo(0x5A, modes=(2 * polarity,)), Echo(0xA5, modes=(2 - 2 * polarity,))
            rig = Rig(port, chips=chips)
            a = rig.bus.device(rig.cs("a"), polarity=polarity)
            b = rig.bus.device(rig.cs("b"), polarity=1 - polarity)
            for device, chip, level in ((a, rig.a, polarity), (b, rig.b, 1 - polarity)) * 2:
                await device.write(b"\x01")
                assert chip.idle_sck == level, port
                async with device.select() as spi:
                    assert chip.idle_sck == level, port
                    await spi.write(b"\x01")
                async with device.hold(wire=True):
                    device._cs(0)
                    assert chip.idle_sck == level, port
                    device._cs(1)
            rig.check()


async def test_no_configuration_within_a_section():
    """Between CS active and CS idle the clock is left alone, over awaits and with others waiting, too (E6)."""
    for port in PORTS:
        rig = Rig(port, chips=fast_and_slow())
        fast, slow = declare(rig)
        await slow.write(b"\x00")

        async def other():
            for _ in range(3):
                assert await slow.read(1) == b"\xa5"

        rig.steps()
        task = asyncio.create_task(other())
        async with fast.select() as spi:
            for _ in range(3):
                await turns(2)
                await spi.write(b"\x01")
                assert await spi.write_then_read(b"\x02", 1) == b"\x5a"
        await task
        sections = rig.sections()
        assert ("write", "a") in sections and ("read", "b") in sections
        assert [what for what, _ in sections if what == "configure"] == [], port
        rig.check()


async def test_what_a_driver_has_set_does_not_last():
    """After a driver that calls init() itself its own device, or the next one, has its own clock again (E4)."""
    for port in MACHINE + BUSIO:
        rig = Rig(port, chips=fast_and_slow())
        fast, slow = declare(rig)
        spi = rig.made[0]

        def driver(polarity):
            if rig.busio:
                assert spi.try_lock()
                spi.configure(baudrate=8_000_000, polarity=polarity, phase=polarity)
                spi.unlock()
            else:
                spi.init(baudrate=8_000_000, polarity=polarity, phase=polarity)

        # The settings that the device has not.
        for device, polarity in ((slow, 1), (fast, 0)):
            for following in (slow, fast):
                await device.write(b"\x01")
                await rig.bus.call(device, driver, polarity)
                await following.write(b"\x01")
                async with device.hold(wire=True):
                    driver(polarity)
                await following.write(b"\x01")
                async with rig.bus.hold(device, wire=True):
                    driver(polarity)
                await following.write(b"\x01")
        rig.check()


async def test_a_driver_finds_its_own_clock():
    """call() and hold(wire=True) apply the device's configuration before the driver's code runs."""
    for port in PORTS:
        rig = Rig(port, chips=fast_and_slow())
        fast, slow = declare(rig)
        modes = []

        def driver():
            modes.append(rig.wire.clocking.mode)

        await slow.write(b"\x01")
        await rig.bus.call(fast, driver)
        await rig.bus.call(slow, driver)
        async with fast.hold(wire=True):
            driver()
        async with slow.hold(wire=True):
            driver()
        assert modes == [3, 0, 3, 0], port
        rig.check()


async def test_a_configuration_that_fails():
    """When the clock cannot be set no CS moves, the error is a TransferError, and the next operation sets it again."""
    for port in PORTS:
        rig = Rig(port, chips=fast_and_slow())
        fast, slow = declare(rig)
        await slow.write(b"\x01")
        rig.steps()
        for operate in (lambda: fast.write(b"\x02"), lambda: enter(fast.select()), lambda: enter(fast.hold(wire=True))):
            for after in (False, True):
                rig.wire.fail_call(what="configure" if rig.busio or rig.awaits else "init", after=after)
                error = await raises_async(TransferError, operate())
                assert error.args[0] == 5 and "spi" in str(error)
                assert rig.sections() == []
                assert await fast.read(1) == b"\x5a"
                assert await slow.read(1) == b"\xa5"
                rig.steps()
        rig.check()


async def enter(hold):
    async with hold:
        pass


async def test_what_the_port_cannot_do():
    """A setting that the port refuses is an error at the first use, with no CS moved, and the others go on."""
    for port, arguments in (
        ("rp2", {"firstbit": 0}),
        ("esp8266", {"firstbit": 1}),
        ("esp8266", {"bits": 9}),
        ("soft", {"bits": 9}),
        ("circuitpython", {"bits": 10}),
        ("circuitpython", {"firstbit": 1}),
    ):
        rig = Rig(port)
        refused = rig.bus.device(rig.cs("a"), **arguments)
        fine = rig.bus.device(rig.cs("b"))
        for _ in range(2):
            await raises_async((ValueError, TypeError, NotImplementedError), refused.write(b"\x01"))
            await raises_async((ValueError, TypeError, NotImplementedError), enter(refused.select()))
            assert rig.sections() == []
            assert await fine.read(1) == b"\xa5"
            rig.steps()
        rig.check()


async def test_lowest_bit_first():
    """A device with the lowest bit first, where the port has that, and one that names none: each gets its own."""
    for port in ("esp32", "stm32", "soft"):
        rig = Rig(port, chips=(Echo(0x5A, lsb_first=True), Echo(0xA5)))
        spi = rig.made[0]
        lowest = rig.bus.device(rig.cs("a"), firstbit=spi.LSB)
        rig.wire.attach("c", Echo(0x11))
        default = rig.bus.device(rig.cs("b"))
        highest = rig.bus.device(rig.cs("c"), firstbit=spi.MSB)
        for _ in range(2):
            assert await lowest.read(1) == b"\x5a"
            assert await default.read(1) == b"\xa5"
            assert await lowest.read(1) == b"\x5a"
            assert await highest.read(1) == b"\x11"
            assert await default.read(1) == b"\xa5"
        rig.check()


async def test_words_of_nine_bits():
    """A device with words of nine bits, where the port has them, and one of eight: each gets its own."""
    for port in ("rp2", "esp32", "stm32", "circuitpython"):
        rig = Rig(port, chips=(Echo(0x5A, bits=9), Echo(0xA5)))
        nine = rig.bus.device(rig.cs("a"), bits=9)
        eight = rig.bus.device(rig.cs("b"))
        for _ in range(2):
            await nine.write(b"\x01\x00")
            assert await eight.read(1) == b"\xa5"
        rig.check()


class Card(Echo):
    """An SD card: it wants 80 clocks with CS idle first, and drives MISO until it has seen 8 after its CS."""

    def select(self):
        super().select()
        if self.clocks < 10:
            self.complain("selected after %d bytes of clocks" % self.clocks)
        self.drives_miso = True

    def pass_by(self, byte, clocking):
        super().pass_by(byte, clocking)
        self.drives_miso = False


def card_and_chip(port, **arguments):
    rig = Rig(port, chips=(Card(0x5A), Echo(0xA5)))
    return rig, rig.bus.device(rig.cs("a"), pre_clocks=80, post_clocks=8, **arguments), rig.bus.device(rig.cs("b"))


async def test_clocks_with_cs_idle():
    """pre_clocks come before CS and post_clocks after it, in every way to reach the device: an SD card needs both."""
    for port in PORTS:
        into = bytearray(1)
        rig, card, chip = card_and_chip(port)

        async def under_hold():
            async with card.hold() as session:
                await session.write(b"\x01")
                rig.a.clocks = 0
                await session.read(1)

        async def under_hold_all():
            async with rig.bus.hold_all() as regs:
                await regs.write(card, b"\x01")

        async def selected():
            async with card.select() as spi:
                await spi.write(b"\x01")
                await turns()
                await spi.read(1)

        async def selected_in_a_session():
            async with card.hold() as session:
                async with session.select() as spi:
                    await spi.read(1)

        for operate in (
            lambda: card.write(b"\x01"),
            lambda: card.read(1),
            lambda: card.readinto(into),
            lambda: card.write_readinto(b"\x01", into),
            lambda: card.write_then_read(b"\x01", 1),
            under_hold,
            under_hold_all,
            selected,
            selected_in_a_session,
        ):
            rig.a.clocks = 0
            await operate()
            assert await chip.read(1) == b"\xa5", port  # nobody drives MISO against it
            rig.steps()
        rig.a.clocks = 0
        await card.write(b"\x01")
        steps = [step for step in rig.steps() if step[0] != "configure"]
        assert steps[-5:] == [("write", None), ("select", "a"), ("write", "a"), ("deselect", "a"), ("write", None)]
        rig.check()


async def test_clocks_after_a_failure():
    """A transfer or a block that fails leaves no card that drives MISO: the clocks after CS come all the same."""
    for port in PORTS:
        rig, card, chip = card_and_chip(port)
        for at in (0, 1):
            rig.a.clocks = 0
            rig.a.fail("error", at=at)
            await raises_async(TransferError, card.read(2))
            assert await chip.read(1) == b"\xa5"
            rig.a.clocks = 0
            await raises_async(KeyError, failing_block(card))
            assert await chip.read(1) == b"\xa5"
        rig.check()


async def failing_block(device):
    async with device.select() as spi:
        await spi.write(b"\x01")
        raise KeyError


async def test_clocks_and_chunks():
    """A long write to a card that is cut into pieces has the clocks around it, or around each piece."""
    for port in SOME:
        for chunk in (2, (2, False)):
            rig, card, chip = card_and_chip(port, chunk=chunk)
            if chunk != 2:
                rig.a.clocks = 10  # at once from here on
            await card.write(b"\x01\x02\x03")
            assert await chip.read(1) == b"\xa5"
            assert b"".join(rig.a.listen()) == b"\x01\x02\x03"
            rig.check()


async def test_others_wait_for_their_clock():
    """A device that waits for the wire is configured when it has it, not before."""
    for port in SOME:
        rig = Rig(port, chips=fast_and_slow())
        fast, slow = declare(rig)
        task = asyncio.create_task(use_wire(fast, 2))
        await turns(3)
        waiting = asyncio.create_task(slow.read(1))
        await sleep(1)
        assert rig.wire.clocking.mode == 3
        assert await waiting == b"\xa5"
        assert rig.wire.clocking.mode == 0
        await task
        rig.check()
