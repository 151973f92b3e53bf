"""Stuck lines of the simulator, and getting out of them by the pins."""

from buslock_sim import (
    I2C,
    BusioI2C,
    DigitalInOut,
    Direction,
    DriveMode,
    Pin,
    ProtocolError,
    Pull,
    RegisterFile,
    SoftI2C,
    Stretcher,
    StuckChip,
    VirtualClock,
    Wire,
    clock,
    forget,
)


def raised(kind, function, *args, **kwargs):
    try:
        function(*args, **kwargs)
    except kind as error:
        return error
    raise AssertionError(f"no {kind.__name__}")


def mistake_made(wire):
    assert len(wire.violations) == 1
    forget()
    return str(wire.violations.pop())


def stuck_bus(clocks=9):
    wire = Wire()
    chip = wire.attach(0x10, StuckChip(after=2, clocks=clocks))
    wire.attach(0x11, RegisterFile(b"\x42"))
    i2c = I2C(wire)
    raised(OSError, i2c.readfrom, 0x10, 4)
    return wire, chip, i2c


def clock_out(wire):
    """Up to nine clocks until SDA is free, then STOP. Returns the number of clocks."""
    sda = Pin(wire.sda, Pin.OPEN_DRAIN, value=1)
    scl = Pin(wire.scl, Pin.OPEN_DRAIN, value=1)
    clocks = 0
    while clocks < 9 and not sda.value():
        scl.value(0)
        scl.value(1)
        clocks += 1
    scl(0)
    sda(0)
    scl(1)
    sda(1)
    return clocks


def test_a_stuck_chip_blocks_everybody():
    wire, chip, i2c = stuck_bus()
    assert chip.holds_sda
    assert wire.sda.level() == 0 and wire.scl.level() == 1
    assert raised(OSError, i2c.readfrom, 0x11, 1).errno == 110
    assert i2c.scan() == []
    assert wire.idle()


def test_clocks_by_pin_free_it():
    wire, _, i2c = stuck_bus(clocks=5)
    wire.transcript.clear()
    assert clock_out(wire) == 5
    assert wire.transcript.steps()[-1] == ("STOP", None, b"")
    assert wire.sda.level() == 1
    raised(OSError, i2c.readfrom, 0x11, 1)  # the pins are still GPIO
    i2c = I2C(wire)
    assert i2c.readfrom_mem(0x11, 0, 1) == b"\x42"
    wire.check()


def test_chips_change_sda_while_scl_is_low():
    wire, _, _ = stuck_bus(clocks=1)
    scl = Pin(wire.scl, Pin.OPEN_DRAIN, value=0)
    assert wire.sda.level() == 1
    scl.value(1)
    assert "STOP" not in [step[0] for step in wire.transcript.steps()]


def test_nine_clocks_are_not_always_enough():
    wire, chip, _ = stuck_bus(clocks=None)
    assert clock_out(wire) == 9
    assert wire.sda.level() == 0
    raised(OSError, I2C(wire).readfrom, 0x11, 1)
    chip.power_on()
    assert I2C(wire).readfrom_mem(0x11, 0, 1) == b"\x42"


def test_clocks_by_digitalio_free_it():
    wire = Wire()
    wire.attach(0x10, StuckChip(after=1, clocks=9))
    i2c = BusioI2C(wire)
    i2c.try_lock()
    raised(OSError, i2c.readfrom_into, 0x10, bytearray(2))
    assert "in use" in str(raised(ValueError, DigitalInOut, wire.scl))
    i2c.deinit()
    assert "pull up" in str(raised(RuntimeError, BusioI2C, wire))
    with DigitalInOut(wire.sda) as sda, DigitalInOut(wire.scl) as scl:
        raised(ValueError, DigitalInOut, wire.scl)
        raised(ValueError, BusioI2C, wire)
        scl.switch_to_output(True, DriveMode.OPEN_DRAIN)
        for _ in range(9):
            assert not sda.value
            scl.value = False
            scl.value = True
        assert sda.value
    i2c = BusioI2C(wire)
    i2c.try_lock()
    assert i2c.probe(0x10)
    wire.check()


def test_digitalio_properties():
    wire = Wire()
    pin = DigitalInOut(wire.sda)
    assert pin.direction == Direction.INPUT and pin.value is True and pin.pull is None
    pin.pull = Pull.UP
    assert pin.pull == Pull.UP
    raised(AttributeError, setattr, pin, "value", True)
    raised(AttributeError, getattr, pin, "drive_mode")
    raised(ValueError, setattr, pin, "direction", 3)
    pin.direction = Direction.OUTPUT
    assert pin.drive_mode == DriveMode.PUSH_PULL and pin.value is False
    assert wire.sda.level() == 0
    pin.drive_mode = DriveMode.OPEN_DRAIN
    pin.value = True
    assert wire.sda.level() == 1
    raised(AttributeError, getattr, pin, "pull")
    pin.value = False
    pin.deinit()
    assert wire.sda.level() == 1
    raised(ValueError, getattr, pin, "value")
    raised(TypeError, DigitalInOut, 4)


def test_pin_methods():
    wire = Wire()
    pin = Pin(wire.sda)
    assert pin.value() == 1 and pin() == 1
    assert wire.peripheral  # looking at a pin does not take it from the peripheral
    pin.value(0)
    assert pin.value() == 1  # nor does a value
    pin.init(Pin.OPEN_DRAIN, Pin.PULL_UP, value=0)
    assert not wire.peripheral
    assert pin.value() == 0
    pin.on()
    assert pin.value() == 1
    pin.off()
    assert pin.value() == 0
    pin.init(Pin.IN)
    assert pin.value() == 1
    pin.init(Pin.OUT, value=1)
    assert pin.mode() == Pin.OUT and pin.value() == 1
    pin.low()
    assert pin.value() == 0
    pin.toggle()
    assert pin.value() == 1
    raised(ValueError, pin.init, 9)
    raised(TypeError, Pin, 4)


def test_a_pin_does_nothing_once_the_peripheral_has_the_line_again():
    wire = Wire()
    wire.attach(0x10, RegisterFile())
    pin = Pin(wire.sda, Pin.OPEN_DRAIN, value=0)
    i2c = I2C(wire)
    pin.value(0)
    assert pin.value() == 1
    assert i2c.writeto(0x10, b"\x00") == 1


def test_driving_high_against_a_chip_is_a_mistake():
    wire, _, _ = stuck_bus()
    raised(ProtocolError, Pin, wire.sda, Pin.OUT, value=1)
    assert "OPEN_DRAIN" in mistake_made(wire)


def test_gpio_cuts_the_peripheral_off_until_it_is_made_again():
    wire = Wire()
    wire.attach(0x10, RegisterFile())
    for make in (I2C, lambda wire: I2C(wire, port="esp32"), lambda wire: I2C(wire, port="stm32")):
        i2c = make(wire)
        i2c.writeto(0x10, b"\x00")
        Pin(wire.scl, Pin.IN)
        raised(OSError, i2c.writeto, 0x10, b"\x00")
        make(wire)
        i2c.writeto(0x10, b"\x00")
    # SoftI2C works by the pins anyway and takes them back.
    soft = SoftI2C(wire)
    Pin(wire.scl, Pin.OPEN_DRAIN, value=0)
    soft.writeto(0x10, b"\x00")


def test_gpio_ends_what_was_left_open():
    wire = Wire()
    wire.attach(0x10, RegisterFile())
    i2c = I2C(wire)
    i2c.writeto(0x10, b"\x00", False)
    Pin(wire.scl, Pin.IN)
    assert wire.idle()
    I2C(wire).writeto(0x10, b"\x00")
    wire.check()


def test_a_stuck_clock_stays_stuck():
    wire = Wire()
    chip = wire.attach(0x10, RegisterFile())
    for make in (I2C, SoftI2C):
        i2c = make(wire)
        chip.fail("stuck_scl", at=0)
        raised(OSError, i2c.writeto, 0x10, b"\x00\x01")
        assert wire.scl.level() == 0
        assert clock_out(wire) == 0
        assert wire.scl.level() == 0
        assert raised(OSError, make(wire).writeto, 0x10, b"\x00").errno == 110
        chip.power_on()
        make(wire).writeto(0x10, b"\x00")


def test_stuck_after_an_address():
    wire = Wire()
    chip = wire.attach(0x10, RegisterFile())
    i2c = I2C(wire)
    chip.fail("stuck_sda")
    raised(OSError, i2c.writeto, 0x10, b"\x00")
    assert chip.holds_sda
    assert clock_out(wire) == 9
    I2C(wire).writeto(0x10, b"\x00")


def test_soft_i2c_takes_a_low_line_for_an_answer():
    wire, _, _ = stuck_bus(clocks=20)
    soft = SoftI2C(wire)
    assert soft.scan()[:2] == [0x08, 0x09]  # nobody is there: it is SDA that is low
    # Its clocks have freed the chip in the end.
    assert wire.sda.level() == 1
    assert soft.scan() == [0x10, 0x11]


def test_stretching_takes_time_and_times_out_beyond_the_limit():
    before = clock.use(VirtualClock())
    try:
        wire = Wire()
        wire.attach(0x10, Stretcher(ms=2))
        wire.attach(0x11, Stretcher(ms=60))
        wire.attach(0x12, RegisterFile())
        i2c = I2C(wire)
        start = clock.now_us()
        i2c.writeto(0x10, b"\x00\x01")
        assert 3 * 2000 <= clock.now_us() - start < 7000
        start = clock.now_us()
        assert raised(OSError, i2c.writeto, 0x11, b"\x00").errno == 110
        assert 50000 <= clock.now_us() - start < 51000
        i2c.writeto(0x12, b"\x00")
        I2C(wire, timeout=100000).writeto(0x11, b"\x00")
    finally:
        clock.use(before)


def test_lines_are_released_when_a_chip_recovers():
    wire, chip, i2c = stuck_bus(clocks=None)
    chip.recover()
    assert wire.sda.level() == 1
    assert i2c.readfrom_mem(0x11, 0, 1) == b"\x42"
