"""The simulator's chips."""

from buslock_sim import (
    EEPROM,
    I2C,
    IOExpander,
    Multiplexer,
    ProtocolError,
    RegisterFile,
    SoftI2C,
    Thermometer,
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
    """The text of the only violation of the wire, which is then forgotten."""
    assert len(wire.violations) == 1
    forget()
    return str(wire.violations.pop())


def bench(chip, address=0x20):
    """A virtual clock (to be given back by clock.use), and an I2C with that chip."""
    wire = Wire()
    wire.attach(address, chip)
    return wire, I2C(wire)


class At:
    """A virtual clock for a block."""

    def __enter__(self):
        self._time = VirtualClock()
        self._before = clock.use(self._time)
        return self._time

    def __exit__(self, kind, error, tb):
        clock.use(self._before)


# Registers


def test_registers_count_up_and_wrap():
    _, i2c = bench(RegisterFile({0: 1, 3: 4}, size=4))
    assert i2c.readfrom_mem(0x20, 2, 4) == b"\x00\x04\x01\x00"
    i2c.writeto_mem(0x20, 3, b"\x07\x08")
    assert i2c.readfrom_mem(0x20, 3, 2) == b"\x07\x08"


def test_registers_with_wide_addresses():
    chip = RegisterFile(size=0x300, addrsize=16)
    wire, i2c = bench(chip)
    i2c.writeto_mem(0x20, 0x0201, b"\x42", addrsize=16)
    assert chip[0x201] == 0x42
    assert i2c.readfrom_mem(0x20, 0x201, 1, addrsize=16) == b"\x42"
    raised(ProtocolError, i2c.writeto, 0x20, b"\x02")
    assert "one of its two bytes" in mistake_made(wire)


def test_readonly_registers():
    chip = RegisterFile({0xD0: 0x60}, readonly=(0xD0,))
    _, i2c = bench(chip)
    i2c.writeto_mem(0x20, 0xD0, b"\x00\x01")
    assert chip[0xD0] == 0x60 and chip[0xD1] == 1
    wire, i2c = bench(RegisterFile({0xD0: 0x60}, readonly=(0xD0,), strict=True))
    raised(ProtocolError, i2c.writeto_mem, 0x20, 0xD0, b"\x00")
    assert "read-only" in mistake_made(wire)
    assert wire.idle()


def test_registers_with_a_meaning():
    class Counter(RegisterFile):
        def get(self, register):
            if register == 5:
                self[5] = (self[5] + 1) & 0xFF
            return self[register]

        def put(self, register, value):
            self[register] = value | 0x80

    _, i2c = bench(Counter())
    assert i2c.readfrom_mem(0x20, 5, 1) + i2c.readfrom_mem(0x20, 5, 1) == b"\x01\x02"
    i2c.writeto_mem(0x20, 6, b"\x01")
    assert i2c.readfrom_mem(0x20, 6, 1) == b"\x81"


def test_registers_power_on():
    chip = RegisterFile({1: 7})
    _, i2c = bench(chip)
    i2c.writeto_mem(0x20, 1, b"\x01\x02")
    chip.power_on()
    assert i2c.readfrom_mem(0x20, 1, 2) == b"\x07\x00"


def test_register_files_reject_bad_arguments():
    raised(ValueError, RegisterFile, addrsize=12)
    raised(ValueError, RegisterFile, size=0)
    raised(ValueError, RegisterFile, size=257)
    raised(TypeError, RegisterFile, size="16")
    raised(IndexError, RegisterFile, {256: 1})


# Thermometer


def degrees(raw):
    value = raw[0] << 8 | raw[1]
    return (value - 65536 if value & 0x8000 else value) / 128


def test_thermometer_converts_all_the_time_after_power_on():
    chip = Thermometer(21.5)
    _, i2c = bench(chip)
    assert degrees(i2c.readfrom_mem(0x20, 0, 2)) == 21.5
    chip.celsius = -10.25
    assert degrees(i2c.readfrom_mem(0x20, 0, 2)) == -10.25
    assert i2c.readfrom_mem(0x20, 15, 2) == b"\x01\x17"


def test_thermometer_one_shot_takes_its_time():
    with At() as time:
        chip = Thermometer(20, conversion_ms=750)
        _, i2c = bench(chip)
        i2c.writeto_mem(0x20, 1, b"\x0c\x00")
        chip.celsius = 30
        assert degrees(i2c.readfrom_mem(0x20, 0, 2)) == 20
        time.advance(740)
        assert i2c.readfrom_mem(0x20, 1, 2)[0] & 0x20 == 0
        assert degrees(i2c.readfrom_mem(0x20, 0, 2)) == 20
        time.advance(10)
        assert i2c.readfrom_mem(0x20, 1, 2)[0] & 0x20
        assert i2c.readfrom_mem(0x20, 1, 2)[0] & 0x20 == 0  # reading it clears it
        assert degrees(i2c.readfrom_mem(0x20, 0, 2)) == 30
        assert chip.conversions == 1
        chip.celsius = 40
        time.advance(1000)
        assert degrees(i2c.readfrom_mem(0x20, 0, 2)) == 30  # shut down again


def test_thermometer_objects_to_wrong_use():
    wire, i2c = bench(Thermometer())
    assert i2c.writeto(0x20, b"\x07") == 0  # no such register
    raised(ProtocolError, i2c.writeto_mem, 0x20, 0, b"\x00\x00")
    assert "read-only" in mistake_made(wire)
    raised(ProtocolError, i2c.writeto_mem, 0x20, 1, b"\x0c")
    assert "one byte of two" in mistake_made(wire)
    assert i2c.writeto(0x20, b"\x01\x0c\x00\x00") == 3
    assert wire.idle()


# IO expander


def test_expander_inputs_and_outputs():
    chip = IOExpander(inputs=0x12A5)
    _, i2c = bench(chip)
    assert i2c.readfrom_mem(0x20, 0, 2) == b"\xff\xff"
    assert i2c.readfrom_mem(0x20, 0x12, 2) == b"\xa5\x12"
    i2c.writeto_mem(0x20, 0x00, b"\xf0")
    i2c.writeto_mem(0x20, 0x12, b"\xff")
    assert i2c.readfrom_mem(0x20, 0x12, 1) == b"\xaf"
    assert i2c.readfrom_mem(0x20, 0x14, 1) == b"\xff"
    assert chip.outputs == (0x000F, 0x000F)
    i2c.writeto_mem(0x20, 0x02, b"\xff")  # inverted inputs
    assert i2c.readfrom_mem(0x20, 0x12, 1) == b"\x5f"
    assert i2c.writeto(0x20, b"\x16") == 0


# EEPROM


def test_eeprom_writes_wrap_within_the_page():
    with At() as time:
        chip = EEPROM(size=128, page=16, addrsize=8)
        _, i2c = bench(chip)
        i2c.writeto_mem(0x20, 0x1E, b"abcd")
        assert chip.memory[0x1E:0x20] == b"ab" and chip.memory[0x10:0x12] == b"cd"
        time.advance(5)
        assert i2c.readfrom_mem(0x20, 0x1E, 3) == b"ab\xff"
        i2c.writeto_mem(0x20, 0x40, bytes(range(20)))
        assert chip.memory[0x40:0x50] == bytes([16, 17, 18, 19]) + bytes(range(4, 16))
        assert chip.cycles == 2


def test_eeprom_is_busy_during_its_write_cycle():
    with At() as time:
        chip = EEPROM(write_ms=5)
        _, i2c = bench(chip)
        i2c.writeto_mem(0x20, 0x100, b"x", addrsize=16)
        assert chip.busy
        raised(OSError, i2c.readfrom_mem, 0x20, 0x100, 1, addrsize=16)
        assert i2c.scan() == []
        time.advance(5)
        assert i2c.readfrom_mem(0x20, 0x100, 1, addrsize=16) == b"x"


def test_eeprom_writes_only_at_a_stop():
    chip = EEPROM(size=256, page=8, addrsize=8, write_ms=0)
    _, i2c = bench(chip)
    i2c.writeto(0x20, b"\x00x", False)
    i2c.readfrom(0x20, 1)
    assert chip.memory[0] == 0xFF and chip.cycles == 0
    i2c.writeto(0x20, b"\x05")
    assert i2c.readfrom(0x20, 1) == b"\xff" and chip.cycles == 0


def test_eeprom_keeps_its_contents_without_power():
    chip = EEPROM(size=256, page=8, addrsize=8, contents=b"hello")
    _, i2c = bench(chip)
    chip.power_on()
    assert i2c.readfrom_mem(0x20, 0, 6) == b"hello\xff"


def test_eeprom_rejects_bad_arguments():
    raised(ValueError, EEPROM, size=100, page=16)
    raised(ValueError, EEPROM, size=512, addrsize=8)
    raised(ValueError, EEPROM, addrsize=24)
    wire, i2c = bench(EEPROM())
    raised(ProtocolError, i2c.writeto, 0x20, b"\x00")
    assert "one of its two bytes" in mistake_made(wire)


# Multiplexer


def two_channels():
    wire = Wire()
    mux = wire.attach(0x70, Multiplexer())
    mux.channel(0).attach(0x48, RegisterFile(b"\x10"))
    mux.channel(1).attach(0x48, RegisterFile(b"\x11"))
    return wire, mux, I2C(wire)


def test_multiplexer_selects_a_channel():
    _, mux, i2c = two_channels()
    assert i2c.scan() == [0x70]
    i2c.writeto(0x70, b"\x01")
    assert i2c.readfrom_mem(0x48, 0, 1) == b"\x10"
    i2c.writeto(0x70, b"\x02")
    assert i2c.readfrom_mem(0x48, 0, 1) == b"\x11"
    assert i2c.readfrom(0x70, 1) == b"\x02"
    mux.reset()
    assert i2c.scan() == [0x70]


def test_multiplexer_selects_at_the_stop():
    _, _, i2c = two_channels()
    i2c.writeto(0x70, b"\x01", False)
    raised(OSError, i2c.readfrom, 0x48, 1)
    i2c.writeto(0x70, b"\x01")
    i2c.readfrom(0x48, 1)


def test_two_open_channels_collide():
    wire, _, i2c = two_channels()
    i2c.writeto(0x70, b"\x03")
    raised(ProtocolError, i2c.readfrom, 0x48, 1)
    assert "answered by" in mistake_made(wire)
    wire.attach(0x48, Thermometer())
    i2c.writeto(0x70, b"\x01")
    raised(ProtocolError, i2c.readfrom, 0x48, 1)
    assert "Thermometer and by RegisterFile" in mistake_made(wire)
    i2c.writeto(0x70, b"\x00")
    i2c.readfrom(0x48, 1)


def test_multiplexers_nest():
    wire = Wire()
    outer = wire.attach(0x70, Multiplexer())
    inner = outer.channel(2).attach(0x71, Multiplexer(4))
    inner.channel(3).attach(0x50, RegisterFile(b"\x99"))
    i2c = I2C(wire)
    i2c.writeto(0x70, b"\x04")
    i2c.writeto(0x71, b"\x08")
    assert i2c.readfrom_mem(0x50, 0, 1) == b"\x99"
    i2c.writeto(0x70, b"\x00")
    raised(OSError, i2c.readfrom_mem, 0x50, 0, 1)


def test_a_stuck_chip_behind_a_closed_channel_does_not_disturb():
    wire, mux, i2c = two_channels()
    i2c.writeto(0x70, b"\x01")
    stuck = mux.channel(0).chips[0x48]
    stuck.hold_sda(clocks=None)
    raised(OSError, i2c.readfrom, 0x70, 1)
    mux.reset()
    i2c.writeto(0x70, b"\x02")
    assert i2c.readfrom_mem(0x48, 0, 1) == b"\x11"
    stuck.power_on()
    assert wire.sda.level()


def test_a_chip_that_is_stuck_before_it_is_attached():
    for depth in range(3):
        wire = Wire()
        chip = RegisterFile()
        chip.hold_sda()
        if depth:
            inner = Multiplexer()
            inner.control = 1
            inner.channel(0).attach(0x10, chip)
            chip = inner
        if depth == 2:
            outer = Multiplexer()
            outer.control = 1
            outer.channel(0).attach(0x20, chip)
            chip = outer
        wire.attach(0x30, chip)
        assert wire.sda.level() == 0


def test_a_chip_that_gets_stuck_behind_two_multiplexers():
    wire = Wire()
    outer = wire.attach(0x70, Multiplexer())
    inner = outer.channel(0).attach(0x71, Multiplexer())
    chip = inner.channel(0).attach(0x10, RegisterFile())
    chip.hold_sda()
    assert wire.sda.level() == 1
    outer.control = inner.control = 1
    assert wire.sda.level() == 0


def test_multiplexers_reject_bad_arguments():
    raised(ValueError, Multiplexer, 0)
    raised(ValueError, Multiplexer, 9)
    raised(TypeError, Multiplexer, "8")
    raised(ValueError, Multiplexer(4).channel, 4)
    raised(ValueError, Multiplexer(4).channel, -1)
    wire, i2c = bench(Multiplexer(4))
    raised(ProtocolError, i2c.writeto, 0x20, b"\x10")
    assert "beyond the 4" in mistake_made(wire)


# Failures on order


def test_fail_counts_the_transfers_it_strikes():
    chip = RegisterFile()
    _, i2c = bench(chip)
    chip.fail("nack", times=2)
    raised(OSError, i2c.writeto, 0x20, b"\x00")
    raised(OSError, i2c.writeto, 0x20, b"\x00")
    i2c.writeto(0x20, b"\x00")
    chip.fail("nack", at=2)
    assert i2c.writeto(0x20, b"\x00\x01") == 2  # does not get so far
    assert i2c.writeto(0x20, b"\x00\x01\x02") == 2
    assert i2c.writeto(0x20, b"\x00\x01\x02") == 3
    chip.fail("nack", at=0)
    assert i2c.readfrom(0x20, 2) == b"\x00\x00"  # a chip cannot NACK what it sends
    assert i2c.writeto(0x20, b"\x00") == 0


def test_fail_for_good_until_recovered():
    chip = RegisterFile()
    _, i2c = bench(chip)
    chip.fail("timeout", times=None)
    for _ in range(10):
        raised(OSError, i2c.writeto, 0x20, b"\x00")
    chip.recover()
    i2c.writeto(0x20, b"\x00")


def test_fail_at_random_is_the_same_for_the_same_seed():
    def failures(seed):
        chip = RegisterFile()
        _, i2c = bench(chip)
        chip.fail("nack", times=None, chance=0.1, seed=seed)
        failed = []
        for n in range(300):
            try:
                i2c.writeto(0x20, b"\x00")
            except OSError:
                failed.append(n)
        return failed

    first = failures(1)
    assert 10 <= len(first) <= 60
    assert failures(1) == first
    assert failures(2) != first


def test_fail_rejects_unknown_kinds():
    assert "nack" in str(raised(ValueError, RegisterFile().fail, "explode"))


def test_timeouts_take_the_time_the_port_waits():
    with At():
        chip = RegisterFile()
        _, i2c = bench(chip)
        chip.fail("timeout")
        start = clock.now_us()
        raised(OSError, i2c.writeto, 0x20, b"\x00")
        assert 50000 <= clock.now_us() - start < 51000


def test_soft_i2c_reads_what_is_left_of_a_failed_chip():
    wire = Wire()
    chip = wire.attach(0x20, RegisterFile(b"\xff" * 8))
    i2c = SoftI2C(wire)
    chip.fail("stuck_sda", at=2)
    # Bit-banging does not look at the line: the low SDA is data, and its own clocks free the chip.
    assert i2c.readfrom(0x20, 4) == b"\xff\xff\x00\xff"
    assert wire.sda.level()
