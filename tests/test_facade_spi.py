"""Look-alikes of SPI: settings that are remembered per device, a chip select that knows whose it is, and two drivers
that spoil each other on a raw bus.
"""

import asyncio

import buslock_sim
from buslock import BusStuck, NotCovered, NotHeld, Reentry, SPIBus, TransferError
from buslock_sim import SPI, Display, Pin, Radio, SpiWire
from spi_rig import AWAITED, BUSIO, MACHINE, SYNC, Echo, Rig, cancel, drive, rigs, sleep, use_key, use_wire

CLOCK = "virtual"
LEFT_OUT = {
    "pico": {
        "deeper calls than a Pico's stack has room for, with a driver, its look-alike and a simulated bus": (
            "test_results_are_those_of_the_ports",
            "test_settings_are_remembered_for_their_device",
        ),
    }
}


def refusal(function, *args, **kwargs):
    """The text of its NotCovered."""
    try:
        function(*args, **kwargs)
    except NotCovered as error:
        return str(error)
    raise AssertionError("it went through")


def raised(kind, function, *args):
    try:
        function(*args)
    except kind as error:
        return error
    raise AssertionError("it went through")


def both_shapes(device):
    return device.as_machine(), device.as_busio()


def talk(spi, cs, out):
    """What a driver does that moves CS itself."""
    buf = bytearray(len(out))
    drive(cs, 0)
    try:
        spi.write_readinto(out, buf)
    finally:
        drive(cs, 1)
    return bytes(buf)


async def test_in_an_interrupt():
    """In the middle of a transfer of ours, from the first of its clocks to the last, a look-alike is refused."""
    for clocks in (0, 8):
        for rig in rigs(SYNC):
            a = rig.bus.device(rig.cs("a"), pre_clocks=clocks, post_clocks=clocks)
            b = rig.bus.device(rig.cs("b"), polarity=1, phase=1)
            rig.b.modes = (3,)
            for n in range(2 + clocks // 4):
                found = []
                left = n

                def interrupt(rig=rig, b=b, found=found):
                    nonlocal left
                    if not left:
                        rig.wire.on_byte = None
                        for spi in both_shapes(b):
                            found.append(str(raised(Reentry, spi.write, b"x")))
                    left -= 1

                rig.wire.on_byte = interrupt
                await a.write(b"\x01\x02")
                assert len(found) == 2 and "interrupt" in found[0], (rig.port, clocks, n)
                assert rig.a.listen() == [b"\x01\x02"]
            await b.write(b"y")
            assert rig.b.listen() == [b"y"]
            rig.check()


async def test_both_shapes_work_over_every_port():
    for rig in rigs(SYNC):
        a, b = rig.devices()
        for spi in both_shapes(a):
            assert await rig.bus.call(a, talk, spi, spi.cs, b"\x01\x02") == b"\x5b\x58", rig.port
            async with a.hold(wire=True):
                assert talk(spi, spi.cs, b"\x01\x02") == b"\x5b\x58"
        assert rig.a.listen() == [b"\x01\x02"] * 4
        assert rig.b.listen() == []
        rig.check()


async def test_results_are_those_of_the_ports():
    for rig in rigs(SYNC):
        a, _ = rig.devices()
        machine, busio = both_shapes(a)

        def machines():
            machine.cs(0)
            try:
                assert machine.write(b"\x01") is None
                buf = bytearray(2)
                assert machine.readinto(buf, 0xFF) is None and buf == b"\xa5\xa5"
                assert machine.read(2, 0x01) == b"\x5b\x5b"
                assert machine.read(1) == b"\x5a"
                assert machine.cs() == machine.cs.value() == 0
            finally:
                machine.cs.value(1)
            assert machine.cs() == 1

        def busios():
            assert busio.try_lock()
            busio.configure(baudrate=500000)
            busio.cs.value = False
            try:
                buf = bytearray(4)
                assert busio.write(b"xx\x01", start=2) is None
                assert busio.readinto(buf, start=1, end=3, write_value=0xFF) is None and buf == b"\x00\xa5\xa5\x00"
                busio.write_readinto(b"\x01\x02\x03", buf, out_start=1, in_start=1, in_end=3)
                assert buf == b"\x00\x58\x59\x00"
                assert busio.write(b"") is None
                assert "equal" in str(raised(ValueError, busio.write_readinto, b"ab", bytearray(1)))
            finally:
                busio.cs.value = True
                busio.unlock()
            assert busio.frequency == 500000

        await rig.bus.call(a, machines)
        await rig.bus.call(a, busios)
        rig.check()


async def test_first_bit_constants_are_those_of_the_port():
    for rig in rigs(MACHINE):
        a, _ = rig.devices()
        spi = a.as_machine()
        assert (spi.MSB, spi.LSB) == (rig.made[0].MSB, rig.made[0].LSB)
        raised(AttributeError, getattr, spi, "NONSENSE")


async def test_a_chip_select_is_active_only_for_who_has_the_wire():
    for rig in rigs(SYNC):
        a, b = rig.devices()
        await a.write(b"\x01")
        for spi in both_shapes(a):
            assert "only with the wire" in refusal(drive, spi.cs, 0)
            drive(spi.cs, 1)  # idle is idle
            async with a.hold():
                assert "only with the wire" in refusal(drive, spi.cs, 0)
            holder = asyncio.create_task(use_wire(a, 20))
            await sleep(2)
            text = refusal(drive, spi.cs, 0)
            assert "use_wire" in text
            await holder
            holder = asyncio.create_task(use_key(a, 20))
            await sleep(2)
            text = refusal(drive, spi.cs, 0)
            assert "use_key" in text
            assert "use_key" in refusal(spi.write, b"\x01")
            await holder
        rig.check()


async def test_nobody_deselects_anothers_chip():
    """A driver is made, and sets its pin idle, in the middle of another task's section."""
    for rig in rigs(SYNC):
        a, _ = rig.devices()
        spi = a.as_busio() if rig.busio else a.as_machine()

        async def section():
            async with a.select() as session:
                await session.write(b"\x01")
                await sleep(10)
                await session.write(b"\x02")

        task = asyncio.create_task(section())
        await sleep(2)
        assert "section" in refusal(drive, spi.cs, 1)
        await task
        assert rig.a.listen() == [b"\x01\x02"]
        rig.check()


async def test_settings_are_remembered_for_their_device():
    for rig in rigs(SYNC, chips=(Echo(0x5A, modes=(0,), max_baudrate=200_000), Echo(0xA5, modes=(3,)))):
        a, b = rig.devices(polarity=1, phase=1)
        slow = a.as_busio() if rig.busio else a.as_machine()

        def set_up():
            if rig.busio:
                slow.try_lock()
                slow.configure(baudrate=100_000)
                slow.unlock()
            else:
                slow.init(baudrate=100_000, polarity=0, phase=0)
            return talk(slow, slow.cs, b"\x01")

        assert await rig.bus.call(a, set_up) == b"\x5b"
        for _ in range(2):
            into = bytearray(1)
            await b.write_readinto(b"\x01", into)  # mode 3 still, at a megahertz
            assert into == b"\xa4"
            assert await rig.bus.call(a, talk, slow, slow.cs, b"\x02") == b"\x58"
            await a.write_readinto(b"\x04", into)  # the plain operations of the device have them, too
            assert into == b"\x5e"
        rig.check()


async def test_settings_are_not_changed_in_somebody_elses_hold():
    rig = Rig()
    a, _ = rig.devices()
    spi = a.as_machine()
    holder = asyncio.create_task(use_key(a, 20))
    await sleep(2)
    assert "use_key" in refusal(spi.init, baudrate=5000)
    spi.init(baudrate=1_000_000)  # as it is
    await holder
    spi.init(baudrate=5000)
    assert "baudrate" in str(raised(ValueError, spi.init, 0))
    rig.check()


async def test_try_lock_and_unlock():
    for rig in rigs(SYNC):
        a, b = rig.devices()
        spi, other = a.as_busio(), b.as_busio()
        raised(NotHeld, spi.unlock)
        assert spi.try_lock() and other.try_lock()
        other.unlock()
        assert rig.bus._wire.locked()
        spi.unlock()
        raised(NotHeld, spi.unlock)
        holder = asyncio.create_task(use_wire(b, 20))
        await sleep(2)
        assert "use_wire" in refusal(spi.try_lock)
        await holder
        rig.check()


async def test_a_driver_that_forgets_cs_and_lock():
    """It raises in the middle, or simply leaves them: both are idle when its call, its hold or its lock ends."""
    for rig in rigs(SYNC):
        a, b = rig.devices()
        spi = a.as_busio()

        def half(error):
            spi.try_lock()
            spi.cs.value = False
            spi.write(b"\x01")
            if error is not None:
                raise error

        for error in (ValueError("halfway"), OSError(5, "its own"), None):
            for wire in (None, False, True):
                expected = TransferError if error is None else type(error)
                try:
                    if wire is None:
                        await rig.bus.call(a, half, error)
                    else:
                        async with a.hold(wire=wire):
                            half(error)
                    raise AssertionError("nothing said")
                except expected:
                    pass
                assert rig.wire.idle() and not rig.bus._wire.locked()
            try:
                half(error)
            except (OSError, ValueError):
                pass
            spi.unlock()
            assert rig.wire.idle()
            into = bytearray(1)
            await b.write_readinto(b"\x01", into)
            assert into == b"\xa4"
        rig.check()


async def test_an_error_of_the_port_leaves_the_bus_usable():
    for rig in rigs(SYNC):
        a, b = rig.devices()
        spi = a.as_busio() if rig.busio else a.as_machine()
        rig.a.fail("error")
        try:
            await rig.bus.call(a, talk, spi, spi.cs, b"\x01")
            raise AssertionError("nothing said")
        except OSError:
            pass
        assert await rig.bus.call(a, talk, spi, spi.cs, b"\x01") == b"\x5b"
        rig.check()


async def test_a_bus_that_cannot_be_cleaned_at_once():
    """A look-alike says so: clocks that a chip waits for are awaited, or code outside has the lock. The bus can do it."""
    for port in BUSIO + AWAITED:
        rig = Rig(port)
        a, b = rig.devices(post_clocks=8)
        await a.write(b"\x01")
        spi = a.as_busio()

        def owed():
            rig.wire.fail_call(at=2, what="write")

        owed()
        await a.write(b"\x01")  # the clocks after it fail, and are owed
        assert rig.bus._dirty
        if rig.busio:
            assert rig.made[0].try_lock()
        assert "not clean" in refusal(spi.write, b"\x02")
        if rig.busio:
            rig.made[0].unlock()
        assert await b.read(1) == b"\xa5"
        async with a.hold() as session:
            owed()
            await session.write(b"\x01")
            if rig.busio:
                assert rig.made[0].try_lock()
            assert "not clean" in str(raised(BusStuck, spi.write, b"\x02"))
            if rig.busio:
                rig.made[0].unlock()
            assert await session.read(1) == b"\x5a"
        assert rig.a.listen() == [b"\x01", b"\x01", b"\x01", b"\x00"]
        rig.check()


async def test_awaited_transfers_are_refused():
    rig = Rig("awaited")
    a, _ = rig.devices()
    await a.write(b"\x01")
    for spi in both_shapes(a):
        assert "awaited" in str(raised(NotImplementedError, spi.write, b"\x01"))
    rig.check()


# E4: a display whose driver sets its speed and mode before each write, and a radio whose driver does so once.


class DisplayDriver:
    """As the drivers of SSD1306 displays do it."""

    def __init__(self, spi, dc, cs):
        self.spi, self.dc, self.cs = spi, dc, cs
        self.write(0, b"\xae\xaf")

    def write(self, level, data):
        self.spi.init(baudrate=10_000_000, polarity=1, phase=1)
        self.cs(1)
        self.dc(level)
        self.cs(0)
        self.spi.write(data)
        self.cs(1)

    def show(self, frame):
        self.write(0, b"\x22\x00\x03")
        self.write(1, frame)


class RadioDriver:
    """As those of nRF24L01 radios do it."""

    def __init__(self, spi, cs):
        self.spi, self.cs = spi, cs
        cs.init(cs.OUT, value=1)
        spi.init(baudrate=4_000_000, polarity=0, phase=0)
        self.put(5, 76)

    def put(self, register, value):
        self.cs(0)
        self.spi.write(bytes([0x20 | register, value]))
        self.cs(1)

    def get(self, register):
        self.cs(0)
        self.spi.write(bytes([register]))
        value = self.spi.read(1)
        self.cs(1)
        return value[0]


class Air:
    """A wire with both chips: the display takes mode 3 only, the radio mode 0 up to 8 MHz."""

    def __init__(self):
        self.wire = wire = SpiWire()
        self.display = wire.attach("display", Display(64, dc=wire.line("dc"), homes=(0x22,), modes=(3,)))
        self.radio = wire.attach("radio", Radio())
        self.spi = SPI(wire, "rp2")
        self.dc = Pin(wire.line("dc"), Pin.OUT, value=0)
        self.pins = [Pin(wire.line(name), Pin.OUT, value=1) for name in ("display", "radio")]


async def test_a_display_and_a_radio_spoil_each_other_on_the_raw_bus():
    air = Air()
    display = DisplayDriver(air.spi, air.dc, air.pins[0])
    radio = RadioDriver(air.spi, air.pins[1])
    assert radio.get(5) == 76
    display.show(bytes(64))
    assert "mode 3" in str(raised(AssertionError, radio.get, 5))
    air.pins[1](1)
    assert len(buslock_sim.forget()) > 0


async def test_a_display_and_a_radio_work_together_on_ours():
    air = Air()
    bus = SPIBus(air.spi)
    first, second = [bus.device(pin) for pin in air.pins]
    spi = first.as_machine()
    display = await bus.call(first, DisplayDriver, spi, air.dc, spi.cs)
    spi = second.as_machine()
    radio = await bus.call(second, RadioDriver, spi, spi.cs)

    async def draw():
        for n in range(5):
            await bus.call(first, display.show, bytes([n]) * 64)
            await asyncio.sleep(0)

    async def listen():
        for n in range(5):
            await bus.call(second, radio.put, 5, n)
            await asyncio.sleep(0)
            assert await bus.call(second, radio.get, 5) == n

    await asyncio.gather(draw(), listen())
    assert air.display.frame == b"\x04" * 64
    assert air.display.frames == 5
    buslock_sim.check()
    assert air.wire.idle() and len(bus._table) == 0


async def test_a_driver_that_gets_the_raw_pin_has_its_settings_too():
    """E1: the look-alike sees on the pin itself that CS is active."""
    air = Air()
    bus = SPIBus(air.spi)
    first, second = [bus.device(pin) for pin in air.pins]
    display = await bus.call(first, DisplayDriver, first.as_machine(), air.dc, air.pins[0])
    radio = await bus.call(second, RadioDriver, second.as_machine(), air.pins[1])
    for n in range(3):
        await bus.call(first, display.show, bytes([n]) * 64)
    buslock_sim.check()
    assert air.display.frame == b"\x02" * 64
    assert radio.cs() == 1


async def test_a_cancelled_holder_leaves_cs_idle():
    rig = Rig()
    a, b = rig.devices()
    spi = a.as_machine()

    async def half():
        async with a.hold(wire=True):
            spi.cs(0)
            spi.write(b"\x01")
            await sleep(1000)

    task = asyncio.create_task(half())
    await sleep(5)
    await cancel(task)
    assert rig.wire.idle()
    rig.check()


async def test_busio_shapes_are_there():
    for port in BUSIO:
        rig = Rig(port)
        a, _ = rig.devices()
        spi = a.as_busio()
        spi.cs.switch_to_output(value=True)
        spi.cs.switch_to_output()  # its default would select the chip
        assert spi.cs.value is True
        spi.cs.deinit()
        rig.check()
