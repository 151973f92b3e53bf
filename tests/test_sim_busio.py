"""busio.I2C of the simulator: lock, argument rules and errors as on CircuitPython and Blinka."""

from buslock_sim import I2C, BusioI2C, RegisterFile, Wire

PORTS = ("circuitpython", "circuitpython_esp32", "blinka")


def raised(kind, function, *args, **kwargs):
    try:
        function(*args, **kwargs)
    except kind as error:
        return error
    raise AssertionError(f"no {kind.__name__}")


def errno_of(function, *args, **kwargs):
    error = raised(OSError, function, *args, **kwargs)
    assert error.errno == error.args[0]
    return error.errno


def registers(port="circuitpython"):
    wire = Wire()
    chip = wire.attach(0x10, RegisterFile(bytes(range(16)), size=16))
    i2c = BusioI2C(wire, port=port)
    i2c.try_lock()
    return wire, chip, i2c


def operations(wire):
    return [step[0] for step in wire.transcript.steps()]


def test_every_operation_on_every_port():
    for port in PORTS:
        wire, chip, i2c = registers(port)
        assert i2c.scan() == [0x10]
        assert i2c.writeto(0x10, b"\x02\xaa\xbb") is None
        assert chip[2] == 0xAA and chip[3] == 0xBB
        i2c.writeto(0x10, b"\x99\x05\x99", start=1, end=2)
        buf = bytearray(4)
        i2c.readfrom_into(0x10, buf, start=1, end=3)
        assert buf == b"\x00\x05\x06\x00"
        wire.transcript.clear()
        i2c.writeto_then_readfrom(0x10, b"\x99\x08", buf, out_start=1, in_start=2)
        assert buf == b"\x00\x05\x08\x09"
        assert operations(wire) == ["START", "write", "RESTART", "read", "STOP"]
        i2c.writeto_then_readfrom(0x10, buf, buf, out_start=-1, in_end=-2)
        assert buf == b"\x09\x0a\x08\x09"
        wire.check()


def test_writes_always_end_with_stop():
    for port in PORTS:
        wire, _, i2c = registers(port)
        i2c.writeto(0x10, b"\x02")
        assert wire.idle()
        raised(TypeError, i2c.writeto, 0x10, b"\x02", stop=False)


def test_lock():
    _, _, i2c = registers()
    assert not i2c.try_lock()
    i2c.unlock()
    for call in (
        i2c.scan,
        lambda: i2c.probe(0x10),
        lambda: i2c.writeto(0x10, b"\x00"),
        lambda: i2c.readfrom_into(0x10, bytearray(1)),
        lambda: i2c.writeto_then_readfrom(0x10, b"\x00", bytearray(1)),
    ):
        assert "requires lock" in str(raised(RuntimeError, call))
    assert i2c.unlock() is None  # unlocking what is free is silent
    assert i2c.try_lock()


def test_blinka_does_not_ask_for_the_lock():
    wire, _, i2c = registers("blinka")
    assert not i2c.try_lock()
    i2c.unlock()
    i2c.unlock()
    i2c.writeto(0x10, b"\x02")
    assert wire.messages == 1


def test_errors_have_the_errno_of_the_port():
    for port, address, data, timeout, lost in (
        ("circuitpython", 19, 5, 110, 19),
        ("circuitpython_esp32", 19, 19, 116, 5),
        ("blinka", 121, 121, 110, 11),
    ):
        wire, chip, i2c = registers(port)
        assert errno_of(i2c.writeto, 0x11, b"a") == address
        assert errno_of(i2c.writeto, 0x11, b"") == address
        assert errno_of(i2c.readfrom_into, 0x11, bytearray(1)) == address
        assert errno_of(i2c.writeto_then_readfrom, 0x11, b"a", bytearray(1)) == address
        chip.fail("nack", at=1)
        assert errno_of(i2c.writeto, 0x10, b"\x02\xaa\xbb") == data
        assert errno_of(i2c.writeto_then_readfrom, 0x10, b"\x99", bytearray(1)) == data
        chip.fail("timeout")
        assert errno_of(i2c.writeto, 0x10, b"\x02") == timeout
        chip.fail("arbitration")
        assert errno_of(i2c.writeto, 0x10, b"\x02") == lost
        assert wire.idle()
        i2c.writeto(0x10, b"\x02")


def test_probe():
    _, _, i2c = registers()
    assert i2c.probe(0x10) is True
    assert i2c.probe(0x11) is False
    raised(TypeError, i2c.probe, "0x10")
    _, _, i2c = registers("blinka")
    assert not hasattr(i2c, "probe")


def test_arguments_of_the_wrong_type_touch_nothing():
    wire, _, i2c = registers()
    raised(TypeError, i2c.writeto, "0x10", b"\x00")
    raised(TypeError, i2c.writeto, 0x10, 5)
    raised(TypeError, i2c.writeto, 0x10, b"\x00", end=None)
    raised(TypeError, i2c.writeto, 0x10, b"\x00", 0, 1)
    raised(TypeError, i2c.readfrom_into, 0x10, b"abcd")
    raised(TypeError, i2c.readfrom_into, 0x10, bytearray(1), start="0")
    raised(TypeError, i2c.writeto_then_readfrom, 0x10, b"\x00", b"abcd")
    raised(ValueError, i2c.readfrom_into, 0x10, bytearray(0))
    raised(ValueError, i2c.readfrom_into, 0x10, bytearray(4), start=2, end=2)
    raised(ValueError, i2c.writeto_then_readfrom, 0x10, b"\x00", bytearray(0))
    assert wire.messages == 0
    _, _, blinka = registers("blinka")
    blinka.writeto(0x10, b"\x00\x01", end=None)


def test_deinit():
    wire, _, i2c = registers()
    i2c.deinit()
    i2c.deinit()
    raised(ValueError, i2c.try_lock)
    raised(ValueError, i2c.unlock)
    raised(ValueError, i2c.scan)
    with BusioI2C(wire) as again:
        assert again.try_lock()
    raised(ValueError, again.try_lock)
    _, _, blinka = registers("blinka")
    blinka.deinit()
    blinka.unlock()
    assert blinka.try_lock()
    raised(AttributeError, blinka.scan)


def test_one_object_per_pins():
    wire, _, i2c = registers()
    assert "in use" in str(raised(ValueError, BusioI2C, wire))
    i2c.deinit()
    BusioI2C(wire)
    laxer = Wire()
    BusioI2C(laxer, port="blinka")
    BusioI2C(laxer, port="blinka")


def test_a_low_line_is_noticed_at_construction():
    wire = Wire()
    chip = wire.attach(0x10, RegisterFile())
    chip.hold_sda()
    assert "pull up" in str(raised(RuntimeError, BusioI2C, wire))
    chip.power_on()
    BusioI2C(wire)


def test_bad_construction():
    wire = Wire()
    assert "I2C" in str(raised(ValueError, BusioI2C, wire, port="rp2"))
    raised(ValueError, BusioI2C, wire, frequency=0)
    raised(TypeError, BusioI2C, wire, frequency="100k")
    BusioI2C(wire)


def test_both_front_ends_drive_one_wire():
    wire, _, i2c = registers()
    machine = I2C(wire)
    machine.writeto_mem(0x10, 4, b"\x42")
    buf = bytearray(1)
    i2c.writeto_then_readfrom(0x10, b"\x04", buf)
    assert buf == b"\x42"
