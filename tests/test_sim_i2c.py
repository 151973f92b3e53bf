"""machine.I2C and SoftI2C of the simulator: argument rules and errors as on the ports."""

from array import array

from buslock_sim import EEPROM, I2C, PORTS, Port, RegisterFile, SoftI2C, Wire, check

MACHINE_PORTS = ("rp2", "esp32", "esp32_legacy", "stm32", "soft", "esp8266")
HARDWARE_PORTS = ("rp2", "esp32", "esp32_legacy", "stm32")


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


def registers(port="rp2"):
    wire = Wire()
    chip = wire.attach(0x10, RegisterFile(bytes(range(16)), size=16))
    return wire, chip, I2C(wire, port=port)


def operations(wire):
    return [step[0] for step in wire.transcript.steps()]


def test_every_operation_on_every_port():
    for port in MACHINE_PORTS:
        _, chip, i2c = registers(port)
        assert i2c.scan() == [0x10]
        assert i2c.writeto(0x10, b"\x02\xaa\xbb") == 3
        assert i2c.writevto(0x10, [b"\x04", b"", bytearray(b"\xcc"), memoryview(b"\xdd")]) == 3
        assert chip[2] == 0xAA and chip[3] == 0xBB and chip[4] == 0xCC and chip[5] == 0xDD
        assert i2c.writeto(0x10, b"\x02") == 1
        assert i2c.readfrom(0x10, 2) == b"\xaa\xbb"
        buf = bytearray(3)
        assert i2c.readfrom_into(0x10, buf) is None
        assert buf == b"\xcc\xdd\x06"
        assert i2c.readfrom_mem(0x10, 2, 2) == b"\xaa\xbb"
        assert i2c.readfrom_mem_into(0x10, 4, memoryview(buf)[1:]) is None
        assert buf == b"\xcc\xcc\xdd"
        assert i2c.writeto_mem(0x10, 8, b"\x01\x02") is None
        assert chip[8] == 1 and chip[9] == 2
        check()


def test_address_nack_has_the_errno_of_the_port():
    expected = {"rp2": 5, "esp32": 19, "esp32_legacy": 19, "stm32": 19, "soft": 19, "esp8266": 19}
    for port in MACHINE_PORTS:
        _, _, i2c = registers(port)
        assert errno_of(i2c.writeto, 0x11, b"a") == expected[port]
        assert errno_of(i2c.readfrom, 0x11, 1) == expected[port]
        assert errno_of(i2c.readfrom_mem, 0x11, 0, 1) == expected[port]
        assert errno_of(i2c.writeto_mem, 0x11, 0, b"a") == expected[port]


def test_rp2_reports_an_empty_write_by_another_errno():
    _, _, i2c = registers("rp2")
    assert errno_of(i2c.writeto, 0x11, b"") == 19
    assert i2c.writeto(0x10, b"") == 0


def test_data_nack_is_an_error_only_where_the_port_tells():
    for port in MACHINE_PORTS:
        wire, chip, i2c = registers(port)
        chip.fail("nack", at=2, times=None)
        if port.startswith("esp32"):
            assert errno_of(i2c.writeto, 0x10, b"\x02\xaa\xbb") == 19
            assert errno_of(i2c.writeto_mem, 0x10, 2, b"\xaa\xbb") == 19
        else:
            assert i2c.writeto(0x10, b"\x02\xaa\xbb") == 2
            assert i2c.writeto_mem(0x10, 2, b"\xaa\xbb") is None
        assert chip[2] == 0xAA and chip[3] == 3
        assert wire.idle()


def test_refused_register_reads_garbage_where_the_port_counts():
    for port in MACHINE_PORTS:
        wire, _, i2c = registers(port)
        if port.startswith("esp32"):
            assert errno_of(i2c.readfrom_mem, 0x10, 0x99, 2) == 19
        else:
            assert i2c.readfrom_mem(0x10, 0x99, 2) == b"\xa5\xa5"
            assert "read" not in operations(wire)
        assert wire.idle()


def test_timeout_has_the_errno_of_the_port():
    expected = {"rp2": 110, "esp32": 116, "esp32_legacy": 116, "stm32": 110, "soft": 110, "esp8266": 110}
    for port in MACHINE_PORTS:
        wire, chip, i2c = registers(port)
        chip.fail("timeout", at=1)
        assert errno_of(i2c.writeto, 0x10, b"\x02\xaa\xbb") == expected[port]
        assert "TIMEOUT" in operations(wire)
        assert i2c.writeto(0x10, b"\x02\xaa\xbb") == 3


def test_lost_arbitration():
    expected = {"rp2": 5, "esp32": 116, "stm32": 110}
    for port in expected:
        wire, chip, i2c = registers(port)
        chip.fail("arbitration", at=0)
        assert errno_of(i2c.readfrom, 0x10, 2) == expected[port]
        assert operations(wire) == ["START", "LOST"]
        assert wire.idle()
    # Bit-banging sees no more than a NACK.
    _, chip, i2c = registers("soft")
    chip.fail("arbitration", at=1)
    assert i2c.writeto(0x10, b"\x02\xaa\xbb") == 1


def test_stop_false_on_writes():
    for port in MACHINE_PORTS:
        wire, _, i2c = registers(port)
        i2c.writeto(0x10, b"\x02", False)
        assert wire.idle() == (port == "esp32")
        i2c.readfrom(0x10, 1)
        assert wire.idle()
        assert ("RESTART" in operations(wire)) == (port != "esp32")


def test_stop_false_on_reads():
    for port in MACHINE_PORTS:
        wire, _, i2c = registers(port)
        if port == "stm32":
            assert errno_of(i2c.readfrom, 0x10, 1, False) == 22
        else:
            i2c.readfrom(0x10, 1, False)
        assert wire.idle() == (port in ("esp32", "stm32"))


def test_empty_reads():
    for port, expected in (("rp2", 0), ("esp32", 0), ("soft", 1)):
        wire, _, i2c = registers(port)
        assert i2c.readfrom(0x10, 0) == b""
        assert wire.messages == expected
    _, _, i2c = registers("stm32")
    assert errno_of(i2c.readfrom, 0x10, 0) == 22


def test_memory_addresses_of_other_sizes():
    wire = Wire()
    memory = wire.attach(0x50, EEPROM(size=512, page=32, addrsize=16, write_ms=0))
    i2c = I2C(wire)
    i2c.writeto_mem(0x50, 0x0123, b"\x42", addrsize=16)
    assert memory.memory[0x123] == 0x42
    assert i2c.readfrom_mem(0x50, 0x0123, 1, addrsize=16) == b"\x42"
    for bad in (4, 12, 40, -8):
        raised(ValueError, i2c.readfrom_mem, 0x50, 0, 1, addrsize=bad)
    wire, chip, i2c = registers()
    chip.pointer = 7
    assert i2c.readfrom_mem(0x10, 0, 1, addrsize=0) == b"\x07"
    assert i2c.readfrom_mem(0x10, 0x502, 1) == b"\x02"  # cut off to 8 bits, without a word


def test_arguments_by_position_only():
    _, _, i2c = registers()
    raised(TypeError, i2c.writeto, 0x10, b"\x00", stop=False)
    raised(TypeError, i2c.readfrom, 0x10, nbytes=1)
    raised(TypeError, i2c.readfrom, 0x10)
    raised(TypeError, i2c.readfrom, 0x10, 1, True, 0)
    raised(TypeError, i2c.readfrom_mem, 0x10, 0, 1, 16)
    raised(TypeError, i2c.readfrom_mem, 0x10, 0, nbytes=1)
    assert i2c.readfrom_mem(addr=0x10, memaddr=3, arg=1, addrsize=8) == b"\x03"


def test_arguments_of_the_wrong_type_touch_nothing():
    wire, _, i2c = registers()
    raised(TypeError, i2c.readfrom, "0x10", 1)
    raised(TypeError, i2c.readfrom, 16.0, 1)
    raised(TypeError, i2c.readfrom, None, 1)
    raised(TypeError, i2c.readfrom, 0x10, 1.0)
    raised(TypeError, i2c.readfrom_into, 0x10, 4)
    raised(TypeError, i2c.readfrom_into, 0x10, b"abcd")
    raised(TypeError, i2c.readfrom_into, 0x10, memoryview(b"abcd"))
    raised(TypeError, i2c.readfrom_mem, 0x10, "3", 1)
    raised(TypeError, i2c.writeto, 0x10, 5)
    raised(TypeError, i2c.writeto, 0x10, [1, 2])
    raised(TypeError, i2c.writevto, 0x10, b"\x01")
    raised(TypeError, i2c.writevto, 0x10, [1])
    raised(MemoryError, i2c.readfrom, 0x10, -2)
    raised(MemoryError, i2c.readfrom_mem, 0x10, 0, -2)
    assert wire.messages == 0


def test_address_of_more_than_seven_bits_reaches_another_chip():
    # No port checks it: the bits above the seventh are lost.
    _, _, i2c = registers()
    i2c.writeto(0x90, b"\x03")
    assert i2c.readfrom(0x110, 1) == b"\x03"


def test_buffers_of_any_kind():
    _, chip, i2c = registers()
    assert i2c.writeto(0x10, "\x02A") == 2
    assert chip[2] == 0x41
    words = array("b", [1, 2, 3])
    i2c.writeto(0x10, b"\x04")
    i2c.readfrom_into(0x10, words)
    assert list(words) == [4, 5, 6]


def test_scan_leaves_out_the_reserved_addresses():
    wire = Wire()
    for address in (0x00, 0x07, 0x08, 0x77, 0x78, 0x7F):
        wire.attach(address, RegisterFile())
    for port in MACHINE_PORTS:
        assert I2C(wire, port=port).scan() == [0x08, 0x77]


def test_init_and_deinit_where_the_port_has_them():
    for port in HARDWARE_PORTS:
        _, _, i2c = registers(port)
        assert "not supported" in str(raised(OSError, i2c.init, scl=1, sda=2))
        assert not hasattr(i2c, "deinit")
    wire, _, i2c = registers("soft")
    raised(TypeError, i2c.init)
    i2c.init(wire.scl, wire.sda, freq=100000)
    assert i2c.byte_us == 90
    newer = I2C(Wire(), deinit=True)
    assert newer.deinit() is None


def test_primitives_where_the_port_has_them():
    for port in HARDWARE_PORTS:
        wire, _, i2c = registers(port)
        raised(OSError, i2c.start)
        raised(OSError, i2c.stop)
        raised(OSError, i2c.write, b"\x20")
        raised(OSError, i2c.readinto, bytearray(1))
        assert wire.messages == 0
    wire = Wire()
    chip = wire.attach(0x10, RegisterFile(bytes(range(16)), size=16))
    i2c = SoftI2C(wire)
    i2c.start()
    assert i2c.write(b"\x20\x03\x77") == 3
    i2c.start()
    assert i2c.write(b"\x21") == 1
    buf = bytearray(2)
    i2c.readinto(buf)
    assert not wire.idle()
    i2c.stop()
    assert wire.idle()
    assert chip[3] == 0x77 and buf == b"\x04\x05"
    assert operations(wire) == ["START", "write", "write", "RESTART", "read", "read", "STOP"]
    i2c.start()
    assert i2c.write(b"\x66\x00") == 0
    i2c.stop()
    # Without a START nobody listens.
    assert i2c.write(b"\x20\x01") == 0
    i2c.readinto(buf)
    assert buf == b"\xff\xff"


def test_a_new_object_ends_what_another_left_open():
    wire, _, i2c = registers()
    i2c.writeto(0x10, b"\x02", False)
    I2C(wire)
    assert wire.idle()
    assert operations(wire) == ["START", "write", "STOP"]


def test_bad_construction():
    wire = Wire()
    assert "known are" in str(raised(ValueError, I2C, wire, port="rp2350"))
    assert "BusioI2C" in str(raised(ValueError, I2C, wire, port="circuitpython"))
    raised(ValueError, I2C, wire, freq=0)
    raised(TypeError, I2C, wire, freq="400k")


def test_a_port_of_your_own():
    odd = Port("odd", nack=121, write_stop=False)
    wire = Wire()
    wire.attach(0x10, RegisterFile())
    i2c = I2C(wire, port=odd)
    assert errno_of(i2c.writeto, 0x11, b"a") == 121
    i2c.writeto(0x10, b"\x01", False)
    assert wire.idle()
    raised(TypeError, Port, "odd", nac=121)
    assert "odd" not in PORTS
