"""The simulated SPI wire: chip selects, its transcript, and the mistakes it reports."""

import asyncio

from buslock_sim import (
    SPI,
    AsyncSPI,
    BusioSPI,
    DigitalInOut,
    DriveMode,
    Loopback,
    Pin,
    ProtocolError,
    SoftSPI,
    SpiChip,
    SpiWire,
    check,
    forget,
)
from support.turns import raises as raised
from support.turns import turns


class Picky(SpiChip):
    """Remembers the bytes of each selection."""

    modes = (1, 3)
    max_baudrate = 1000000

    def __init__(self):
        self.heard = []
        self.passed = 0

    def select(self):
        self.heard.append(b"")

    def exchange(self, byte):
        self.heard[-1] += bytes([byte])
        return byte ^ 0xFF

    def pass_by(self, byte, clocking):
        self.passed += 1


def two(**settings):
    """A wire with a Loopback on a and a Picky on b, both idle."""
    wire = SpiWire()
    loop = wire.attach("a", Loopback())
    picky = wire.attach("b", Picky())
    settings.setdefault("port", "esp32")
    spi = SPI(wire, **settings)
    return wire, loop, picky, spi, Pin(wire.line("a"), Pin.OUT, value=1), Pin(wire.line("b"), Pin.OUT, value=1)


def mistake_made(wire):
    """The text of the only violation of the wire, which is then forgotten."""
    assert len(wire.violations) == 1
    forget()
    return str(wire.violations.pop())


def test_transcript():
    wire, _, _, spi, a, b = two(polarity=0, phase=1, baudrate=250000)
    wire.transcript.clear()
    a(0)
    spi.write(b"\x01\x02")
    spi.read(1, 0x03)
    a(1)
    spi.init(polarity=1)
    b(0)
    spi.write_readinto(b"\x04", bytearray(1))
    b(1)
    assert wire.transcript.steps() == [
        ("select", "a", b""),
        ("write", "a", b"\x01\x02"),
        ("read", "a", b"\x03"),
        ("deselect", "a", b""),
        ("configure", "mode 3, 250000 Hz", b""),
        ("select", "b", b""),
        ("write", "b", b"\x04"),
        ("read", "b", b"\xfb"),
        ("deselect", "b", b""),
    ]
    assert "a 01 02" in str(wire.transcript)
    assert wire.idle()
    wire.check()


def test_pins_and_digitalio_select():
    wire, loop, _, spi, _, _ = two()
    cs = DigitalInOut(wire.line("a"))
    assert "in use" in str(raised(ValueError, DigitalInOut, wire.line("a")))
    cs.switch_to_output(True)
    cs.value = False
    assert wire.selected() == ["a"]
    spi.write(b"x")
    cs.value = True
    assert loop.received == b"x"
    cs.deinit()
    pin = Pin(wire.line("a"))
    assert pin.value() == 1
    pin.init(Pin.OUT, value=0)
    assert wire.selected() == ["a"]
    # One GPIO, whatever the number of objects: what was driven last counts.
    Pin(wire.line("a")).init(Pin.OUT, value=1)
    assert wire.selected() == []


def test_a_line_that_nobody_drives_has_the_level_of_its_pull():
    wire = SpiWire()
    wire.attach("a", Loopback())
    wire.attach("b", Loopback(), active=1)
    wire.attach("c", Loopback(), pull=0)  # floats, and happens to select
    assert wire.selected() == ["c"]
    pin = Pin(wire.line("b"), Pin.OUT, value=1)
    assert wire.selected() == ["b", "c"]
    pin.init(Pin.IN)
    assert wire.selected() == ["c"]
    pin = DigitalInOut(wire.line("c"))
    pin.switch_to_output(False, DriveMode.OPEN_DRAIN)
    pin.value = True
    assert wire.selected() == ["c"]
    pin.switch_to_output(True)
    assert wire.selected() == []


def test_an_output_without_a_value_drives_what_it_drove_before():
    wire = SpiWire()
    wire.attach("a", Loopback())
    Pin(wire.line("a"), Pin.OUT)  # 0 after power-on: that selects
    assert wire.selected() == ["a"]
    Pin(wire.line("a"), Pin.OUT, value=1)
    Pin(wire.line("a")).init(Pin.OUT)
    assert wire.selected() == []


def test_active_high_chip_select():
    wire = SpiWire()
    chip = wire.attach(5, Loopback(), active=1)
    spi = SPI(wire)
    cs = Pin(wire.line(5), Pin.OUT, value=0)
    cs(1)
    spi.write(b"x")
    cs(0)
    assert chip.received == b"x"
    raised(ProtocolError, spi.write, b"y")
    assert "nobody" in mistake_made(wire)


def test_two_chip_selects():
    wire, loop, picky, spi, a, b = two(phase=1)
    a(0)
    b(0)
    raised(ProtocolError, spi.write, b"x")
    assert "a and b are selected at once" in mistake_made(wire)
    a(1)
    spi.write(b"y")
    b(1)
    assert loop.received == b"" and picky.heard == [b"y"]
    wire.check()


def test_a_chip_select_that_floats_low_spoils_the_others():
    wire = SpiWire()
    wire.attach("a", Loopback())
    wire.attach("b", Loopback(), pull=0)
    spi = SPI(wire)
    Pin(wire.line("a"), Pin.OUT, value=0)
    raised(ProtocolError, spi.write, b"x")
    assert "at once" in mistake_made(wire)
    Pin(wire.line("b"), Pin.OUT, value=1)
    spi.write(b"x")


def test_bytes_for_nobody():
    wire, _, picky, spi, _, _ = two()
    raised(ProtocolError, spi.write, b"\xff\x00")
    assert "2 bytes for nobody" in mistake_made(wire)
    raised(ProtocolError, spi.read, 3, 0xFF)
    assert "3 bytes from nobody" in mistake_made(wire)
    assert picky.passed == 0
    spi.write(b"\xff\xff")  # mere clocks
    assert picky.passed == 2
    wire.check()


def test_bytes_pass_by_chips_that_are_not_selected():
    _, _, picky, spi, a, _ = two()
    a(0)
    spi.write(b"abc")
    assert picky.passed == 3 and picky.heard == []


def test_a_chip_without_a_chip_select_is_alone():
    wire = SpiWire()
    chip = wire.attach(None, Loopback())
    SPI(wire).write(b"x")
    assert chip.received == b"x"
    raised(ValueError, wire.attach, "a", Loopback())
    assert wire.detach(None) is chip
    wire.attach("a", Loopback())
    assert "alone" in str(raised(ValueError, wire.attach, None, Loopback()))
    assert "Loopback" in str(raised(ValueError, wire.attach, "a", Picky()))
    raised(TypeError, wire.attach, "b", object())
    raised(ValueError, wire.detach, "b")
    wire.detach("a")
    raised(ProtocolError, SPI(wire).write, b"x")
    mistake_made(wire)


def test_a_clock_the_chip_cannot_follow():
    for settings, said in (
        ({"polarity": 0, "phase": 0}, "mode 0, it wants 1 or 3"),
        ({"phase": 1, "baudrate": 2000000}, "2000000 Hz, its limit is 1000000"),
        ({"phase": 1, "bits": 9}, "9 bits, it wants 8"),
        ({"phase": 1, "firstbit": 1}, "lowest bit comes first"),
    ):
        wire, _, picky, spi, _, b = two(**settings)
        b(0)
        raised(ProtocolError, spi.write, b"x")
        b(1)
        said_instead = mistake_made(wire)
        assert said in said_instead and "Picky on b" in said_instead
        assert picky.heard == [b""]
    wire, _, picky, spi, _, b = two(polarity=1, phase=1, baudrate=1000000)
    b(0)
    spi.write(b"x")
    b(1)
    assert picky.heard == [b"x"]


def test_the_actual_baud_rate_counts():
    wire, _, _, spi, _, b = two(port="rp2", phase=1, baudrate=1005000)
    assert wire.clocking.actual <= 1000000
    b(0)
    spi.write(b"x")
    spi.init(baudrate=1010000)
    raised(ProtocolError, spi.write, b"x")
    assert "its limit" in mistake_made(wire)


def test_mode_changed_while_selected():
    wire, _, _, spi, a, _ = two()
    a(0)
    spi.init(baudrate=500000)
    spi.init(polarity=0, phase=0)
    raised(ProtocolError, spi.init, phase=1)
    assert "mode 0 becomes mode 1 while a is selected" in mistake_made(wire)
    assert wire.clocking.mode == 0
    spi.write(b"x")
    busio = BusioSPI(wire, port="blinka")
    busio.try_lock()
    raised(ProtocolError, busio.configure, polarity=1)
    mistake_made(wire)
    soft = raised(ProtocolError, SoftSPI, wire, polarity=1)
    assert "selected" in str(soft)
    mistake_made(wire)
    a(1)
    spi.init(phase=1)


def test_sck_must_idle_right_before_the_chip_select():
    wire, _, picky, spi, _, b = two(port="late_clock", polarity=0, phase=1)
    spi.init(polarity=1)
    b(0)
    raised(ProtocolError, spi.write, b"x")
    assert "SCK was 0 when CS became active, and idles at 1" in mistake_made(wire)
    b(1)
    spi.write(b"\xff")  # a clock with CS idle
    b(0)
    spi.write(b"x")
    b(1)
    assert picky.heard == [b"", b"x"]
    # The other ports move SCK at once.
    wire, _, picky, spi, _, b = two(polarity=0, phase=1)
    spi.init(polarity=1)
    b(0)
    spi.write(b"x")
    wire.transcript.clear()


def test_chip_select_left_active():
    wire, _, _, spi, a, _ = two()
    wire.check()
    a(0)
    spi.write(b"x")
    assert not wire.idle()
    assert "left active is the chip select a" in str(raised(ProtocolError, wire.check))
    assert wire.violations == []
    a(1)
    wire.check()


def test_chip_select_moves_inside_a_transfer():
    wire, loop, _, spi, a, b = two()
    caught = []

    def interrupt():
        wire.on_byte = None
        try:
            b(0)
        except ProtocolError as error:
            caught.append(error)  # swallowed, as a driver might

    wire.on_byte = interrupt
    a(0)
    spi.write(b"xy")
    assert loop.received == b"xy"
    assert len(caught) == 1
    assert raised(ProtocolError, wire.check) is caught[0]
    assert "b moves inside a transfer" in str(raised(ProtocolError, check))


def test_transfer_inside_a_transfer():
    wire, _, _, spi, a, _ = two()
    a(0)
    for intrude in (lambda: spi.write(b"z"), lambda: spi.init(baudrate=100000)):

        def interrupt(intrude=intrude):
            wire.on_byte = None
            intrude()

        wire.on_byte = interrupt
        raised(ProtocolError, spi.write, b"xy")
        assert "inside a transfer" in mistake_made(wire)
        assert not wire.running()
    spi.write(b"xy")


async def test_another_task_clocks_into_a_section():
    wire, loop, _, spi, a, _ = two()
    a(0)

    async def intruder():
        spi.write(b"x")

    try:
        await asyncio.create_task(intruder())
        raise AssertionError("it was let through")
    except ProtocolError:
        pass
    assert "into the section of" in mistake_made(wire)
    assert loop.received == b""
    wire.user = lambda: None
    a(1)
    a(0)
    await asyncio.create_task(intruder())
    assert loop.received == b"x"
    a(1)
    wire.check()


def test_chip_that_answers_no_byte_is_a_mistake():
    class Broken(SpiChip):
        def exchange(self, byte):
            return 256

    wire = SpiWire()
    wire.attach(None, Broken())
    raised(ProtocolError, SPI(wire).write, b"x")
    assert "256" in mistake_made(wire)
    assert not wire.running()


def test_pins_that_raise():
    wire, _, _, spi, a, b = two()
    wire.fail_call(at=2, what="a")
    a(0)
    b(0)
    b(1)
    error = raised(OSError, a, 1)
    assert error.args[0] == 5
    assert wire.selected() == ["a"]  # it did not move
    a(1)
    wire.fail_call(what="a", after=True)
    raised(OSError, a, 0)
    assert wire.selected() == ["a"]  # it did
    wire.fail_call()
    raised(OSError, a, 1)
    a(1)
    cs = DigitalInOut(wire.line("b"))
    cs.switch_to_output(True)
    wire.fail_call()
    try:
        cs.value = False
        raise AssertionError("it did not raise")
    except OSError:
        pass
    assert wire.selected() == []
    wire.fail_call(what="write")
    spi.init(baudrate=100000)
    raised(OSError, spi.write, b"\xff")


def test_other_lines():
    wire = SpiWire()
    reset = Pin(wire.line("reset"), Pin.OUT, value=0)
    assert wire.line("reset").level() == 0
    reset(1)
    assert wire.line("reset").level() == 1
    assert wire.selected() == [] and wire.idle()
    assert wire.calls == 2


# Awaited transfers


def awaited(locked="task"):
    """The transfers may be made by other tasks than the one that moves the chip select."""
    wire = SpiWire()
    wire.user = lambda: None
    wire.attach("a", Loopback())
    return wire, AsyncSPI(wire, locked=locked), Pin(wire.line("a"), Pin.OUT, value=1)


async def test_awaited_transfers():
    for locked in ("task", "try_lock", "lock"):
        wire, spi, a = awaited(locked)
        if locked == "try_lock":
            assert "lock" in str(raised(RuntimeError, spi.configure, baudrate=500000))
            assert spi.try_lock() and not spi.try_lock()
        done = spi.configure(baudrate=500000, phase=1)
        assert hasattr(done, "send") == (locked == "task")
        if locked == "task":
            await done
        assert (wire.clocking.baudrate, wire.clocking.mode) == (500000, 1)
        a(0)
        await spi.write(b"abc", start=1)
        buf = bytearray(4)
        await spi.readinto(buf, start=1, end=3, write_value=0x55)
        assert buf == b"\x00\x55\x55\x00"
        await spi.write_readinto(b"wxyz", buf, out_start=2, in_end=2)
        assert buf == b"yz\x55\x00"
        await spi.write(b"")
        a(1)
        assert wire.transcript.steps()[-5:-1] == [
            ("write", "a", b"bc"),
            ("read", "a", b"\x55\x55"),
            ("write", "a", b"yz"),
            ("read", "a", b"yz"),
        ]
        if locked == "try_lock":
            spi.unlock()
        if locked == "lock":
            async with spi.lock:
                pass
        assert spi.frequency <= 500000
        wire.check()


async def test_other_tasks_run_during_an_awaited_transfer():
    _, spi, a = awaited()
    a(0)
    task = asyncio.create_task(spi.write(bytes(100)))
    await turns(2)
    assert not task.done()
    await task


async def test_mistakes_during_an_awaited_transfer():
    wire, spi, a = awaited()
    a(0)
    task = asyncio.create_task(spi.write(bytes(100)))
    await turns(2)
    raised(ProtocolError, a, 1)
    assert "moves inside a transfer" in mistake_made(wire)
    try:
        await spi.write(b"x")
        raise AssertionError("it was let through")
    except ProtocolError:
        assert "inside a transfer" in mistake_made(wire)
    await task
    wire.check()


async def test_configure_waits_for_an_awaited_transfer():
    wire, spi, a = awaited()
    a(0)
    task = asyncio.create_task(spi.write(bytes(100)))
    await turns(1)
    await spi.configure(baudrate=200000)
    assert task.done()
    await task


async def test_cancelled_transfer_stops_where_it_is():
    wire, spi, a = awaited()
    a(0)
    task = asyncio.create_task(spi.write(bytes(100)))
    while not wire.chips["a"].received:
        await turns(1)
    task.cancel()
    try:
        await task
    except asyncio.CancelledError:
        pass
    assert 0 < len(wire.chips["a"].received) < 100
    assert not wire.running()
    assert wire.transcript.steps()[-1][2] == bytes(wire.chips["a"].received)
    a(1)


def test_construction_of_awaited():
    wire, spi, _ = awaited()
    assert "in use" in str(raised(ValueError, AsyncSPI, wire))
    with spi:
        pass
    AsyncSPI(wire).deinit()
    raised(ValueError, AsyncSPI, wire, locked="never")
    raised(ValueError, lambda: spi.frequency)
