"""machine.SPI, SoftSPI and busio.SPI of the simulator: argument rules and errors as on the ports."""

from array import array

from buslock_sim import SPI, BusioSPI, Loopback, Pin, SoftSPI, SpiChip, SpiPort, SpiWire, VirtualClock, check, clock
from support.turns import raises as raised

MACHINE_PORTS = ("rp2", "late_clock", "esp32", "stm32", "soft", "esp8266")
BUSIO_PORTS = ("circuitpython", "blinka")


class Counter(SpiChip):
    """Answers 1, 2, 3 and so on, in any mode."""

    modes = (0, 1, 2, 3)

    def __init__(self):
        self.heard = bytearray()

    def exchange(self, byte):
        self.heard.append(byte)
        return len(self.heard)


def alone(port="rp2", chip=None):
    wire = SpiWire()
    chip = wire.attach(None, chip or Counter())
    return wire, chip, SPI(wire, port)


def errno_of(function, *args, **kwargs):
    error = raised(OSError, function, *args, **kwargs)
    assert error.errno == error.args[0]
    return error.errno


def test_every_transfer_on_every_port():
    for port in MACHINE_PORTS:
        wire, chip, spi = alone(port)
        assert spi.write(b"\xa0\xa1") is None
        assert spi.read(2) == b"\x03\x04"
        assert spi.read(2, 0x55) == b"\x05\x06"
        buf = bytearray(2)
        assert spi.readinto(buf) is None
        assert buf == b"\x07\x08"
        spi.readinto(memoryview(buf)[1:], 0x1AA)
        assert buf == b"\x07\x09"
        assert spi.write_readinto(b"\xb0\xb1", buf) is None
        assert buf == b"\x0a\x0b"
        spi.write_readinto(buf, buf)
        assert buf == b"\x0c\x0d"
        assert chip.heard == b"\xa0\xa1\x00\x00\x55\x55\x00\x00\xaa\xb0\xb1\x0a\x0b"
        wire.check()


def test_arguments_of_transfers():
    wire, chip, spi = alone()
    raised(TypeError, spi.read)
    raised(TypeError, spi.read, 1, 0, 0)
    raised(TypeError, spi.read, 1, write=0)
    raised(TypeError, spi.read, 1.0)
    raised(TypeError, spi.read, 1, "x")
    raised(MemoryError, spi.read, -1)
    raised(TypeError, spi.readinto, b"ab")
    raised(TypeError, spi.readinto, 2)
    raised(TypeError, spi.write, 5)
    raised(TypeError, spi.write, [1, 2])
    raised(TypeError, spi.write_readinto, b"ab", b"cd")
    assert "same length" in str(raised(ValueError, spi.write_readinto, b"ab", bytearray(3)))
    assert chip.heard == b""
    spi.write("AB")
    words = array("b", [0, 0])
    spi.readinto(words)
    assert list(words) == [3, 4]


def test_empty_transfers():
    for port in MACHINE_PORTS:
        _, chip, spi = alone(port)
        if port == "esp32":
            assert "too short" in str(raised(ValueError, spi.write, b""))
            raised(ValueError, spi.read, 0)
        else:
            spi.write(b"")
            assert spi.read(0) == b""
        assert chip.heard == b""


def test_init_takes_what_the_port_takes():
    for port, names in (
        ("rp2", ("baudrate", "polarity", "phase", "bits", "firstbit")),
        ("stm32", ("baudrate", "polarity", "phase", "bits", "firstbit")),
        ("esp32", ("baudrate", "polarity", "phase", "bits", "firstbit", "miso")),
        ("soft", ("baudrate", "polarity", "phase", "firstbit", "miso")),
        ("esp8266", ("baudrate", "polarity", "phase")),
    ):
        wire, _, spi = alone(port)
        values = {"baudrate": 400000, "polarity": 1, "phase": 1, "bits": 8, "firstbit": spi.MSB, "miso": 4}
        for name in values:
            if name in names:
                spi.init(**{name: values[name]})
            else:
                raised(TypeError, spi.init, **{name: values[name]})
        assert wire.clocking.baudrate == 400000 and wire.clocking.mode == 3
    for port, positional in (("rp2", 0), ("stm32", 0), ("esp32", 1), ("soft", 3), ("esp8266", 3)):
        wire, _, spi = alone(port)
        values = (400000, 1, 1, 8)
        spi.init(*values[:positional])
        raised(TypeError, spi.init, *values[: positional + 1])
        if positional:
            assert wire.clocking.baudrate == 400000
            raised(TypeError, spi.init, 400000, baudrate=400000)


def test_init_keeps_what_it_is_not_given():
    wire, _, _ = alone()
    spi = SPI(wire, baudrate=300000, polarity=1, phase=1)
    spi.init(baudrate=500000)
    assert (wire.clocking.baudrate, wire.clocking.mode) == (500000, 3)
    spi.init(phase=0)
    assert (wire.clocking.baudrate, wire.clocking.mode) == (500000, 2)
    spi.init(polarity=-1)
    assert wire.clocking.mode == 2


def test_settings_out_of_range():
    wire, _, spi = alone()
    raised(ValueError, spi.init, baudrate=0)
    raised(TypeError, spi.init, baudrate=None)
    raised(TypeError, spi.init, baudrate="1M")
    raised(TypeError, spi.init, firstbit=None)
    raised(ValueError, spi.init, bits=0)
    raised(ValueError, SoftSPI, wire, bits=9)
    assert wire.clocking.baudrate == 1000000


def test_the_order_of_bits_has_other_numbers_on_other_ports():
    for port, msb, lsb in (("rp2", 1, 0), ("esp32", 0, 1), ("stm32", 0, 0x80), ("soft", 0, 1)):
        wire, _, spi = alone(port)
        assert (spi.MSB, spi.LSB) == (msb, lsb)
        assert not wire.clocking.lsb_first
        raised(ValueError, spi.init, firstbit=7)
        if port == "rp2":
            assert "LSB" in str(raised(NotImplementedError, spi.init, firstbit=spi.LSB))
        else:
            spi.init(firstbit=spi.LSB)
            assert wire.clocking.lsb_first


def test_actual_baud_rate_is_not_above_what_was_asked_for():
    for port, asked, actual in (
        ("rp2", 1000000, 992063),
        ("rp2", 10000000, 8928571),
        ("rp2", 62500000, 62500000),
        ("rp2", 100000, 99681),
        ("esp32", 1000000, 1000000),
    ):
        wire, _, spi = alone(port)
        spi.init(baudrate=asked)
        assert wire.clocking.actual == actual
        assert str(actual) in repr(spi)


def test_deinit_where_it_does_something():
    for port in MACHINE_PORTS:
        _, chip, spi = alone(port)
        spi.deinit()
        if port in ("esp32", "stm32"):
            assert "deinitialized" in str(raised(OSError, spi.write, b"a"))
            spi.init(baudrate=1000000)
        spi.write(b"b")
        assert chip.heard == b"b"


def test_objects_of_one_peripheral_share_its_settings():
    wire, _, spi = alone()
    other = SPI(wire, polarity=1, baudrate=250000)
    assert "polarity=1" in repr(spi)
    spi.init(phase=1)
    assert (wire.clocking.baudrate, wire.clocking.mode) == (250000, 3)
    assert "phase=1" in repr(other)


def test_bit_banged_objects_have_settings_of_their_own():
    wire = SpiWire()
    wire.attach(None, Counter())
    a = SoftSPI(wire, baudrate=100000)
    b = SoftSPI(wire, baudrate=200000, polarity=1)
    a.write(b"a")
    assert (wire.clocking.baudrate, wire.clocking.mode) == (100000, 0)
    b.write(b"b")
    assert (wire.clocking.baudrate, wire.clocking.mode) == (200000, 2)
    a.init(phase=1)
    a.write(b"a")
    assert (wire.clocking.baudrate, wire.clocking.mode) == (100000, 1)


def test_transfers_take_the_time_of_their_bits():
    before = clock.use(VirtualClock())
    try:
        for port, us in (("esp32", 80), ("rp2", 80)):
            _, _, spi = alone(port)
            spi.init(baudrate=1000000)
            start = clock.now_us()
            spi.write(bytes(10))
            assert us <= clock.now_us() - start <= us + 1
    finally:
        clock.use(before)


def test_errors_in_the_middle():
    for port in MACHINE_PORTS:
        wire, chip, spi = alone(port)
        chip.fail("error", at=2)
        buf = bytearray(4)
        assert errno_of(spi.write_readinto, b"abcd", buf) == 5
        assert chip.heard == b"ab"
        assert buf == b"\x01\x02\x00\x00"
        assert not wire.running()
        chip.fail("error")
        assert errno_of(spi.write, b"cd") == 5
        assert chip.heard == b"ab"
        spi.write(b"cd")
        assert chip.heard == b"abcd"


def test_miso_that_is_stuck():
    _, chip, spi = alone()
    chip.fail("miso_low", at=1)
    assert spi.read(3) == b"\x01\x00\x00"
    assert spi.read(1) == b"\x04"
    chip.fail("miso_high", times=None)
    assert spi.read(2) == b"\xff\xff" and spi.read(2) == b"\xff\xff"
    chip.recover()
    assert spi.read(1) == b"\x09"
    assert "miso_high" in str(raised(ValueError, chip.fail, "nack"))


def test_failures_at_random_are_the_same_for_the_same_seed():
    def failed(seed):
        _, chip, spi = alone()
        chip.fail("error", times=None, chance=0.25, seed=seed)
        result = []
        for i in range(200):
            try:
                spi.write(b"a")
            except OSError:
                result.append(i)
        return result

    once = failed(3)
    assert once == failed(3)
    assert once != failed(4)
    assert 25 < len(once) < 80


def test_calls_that_raise():
    wire, chip, spi = alone()
    spi.write(b"a")
    assert wire.calls == 1
    wire.fail_call(at=2)
    spi.write(b"b")
    assert errno_of(spi.write, b"c") == 5
    spi.write(b"d")
    wire.fail_call(what="init", times=2)
    spi.write(b"e")
    raised(OSError, spi.init, baudrate=2)
    raised(OSError, spi.init, baudrate=2)
    spi.init(baudrate=250000)
    wire.fail_call(after=True)
    raised(OSError, spi.write, b"f")
    assert chip.heard == b"abdef"
    wire.fail_call(times=None, error=KeyboardInterrupt)
    raised(KeyboardInterrupt, spi.read, 1)
    raised(KeyboardInterrupt, spi.read, 1)
    wire.works_again()
    spi.read(1)
    assert wire.calls == 12
    raised(ValueError, wire.fail_call, at=0)


def test_bad_construction():
    wire = SpiWire()
    assert "known are" in str(raised(ValueError, SPI, wire, port="rp2350"))
    assert "BusioSPI" in str(raised(ValueError, SPI, wire, port="circuitpython"))
    assert "SPI" in str(raised(ValueError, BusioSPI, wire, port="rp2"))
    raised(ValueError, SPI, wire, baudrate=0)
    raised(TypeError, SpiPort, "odd", errno=5)


def test_a_port_of_your_own():
    _, chip, _ = alone()
    spi = SPI(chip.home, SpiPort("odd", error=110, init=("baudrate",)))
    chip.fail("error")
    assert errno_of(spi.write, b"a") == 110
    raised(TypeError, spi.init, polarity=1)


# busio


def locked(port="circuitpython"):
    wire = SpiWire()
    chip = wire.attach(None, Counter())
    spi = BusioSPI(wire, port=port)
    assert spi.try_lock()
    return wire, chip, spi


def test_every_transfer_of_busio():
    for port in BUSIO_PORTS:
        wire, chip, spi = locked(port)
        assert spi.configure(baudrate=500000, polarity=1, phase=1) is None
        assert (wire.clocking.baudrate, wire.clocking.mode) == (500000, 3)
        assert spi.write(b"\xa0\xa1\xa2", start=1) is None
        assert spi.write(b"\xa3\xa4", end=1) is None
        buf = bytearray(4)
        spi.readinto(buf, start=1, end=3, write_value=0x55)
        assert buf == b"\x00\x04\x05\x00"
        spi.write_readinto(b"\xb0\xb1\xb2", buf, out_start=1, in_end=2)
        assert buf == b"\x06\x07\x05\x00"
        spi.write(b"")
        spi.readinto(bytearray())
        assert chip.heard == b"\xa1\xa2\xa3\x55\x55\xb1\xb2"
        wire.check()


def test_configure_of_busio_sets_what_it_is_not_given():
    wire, _, spi = locked()
    spi.configure(baudrate=500000, polarity=1, phase=1)
    spi.configure(baudrate=400000)
    assert (wire.clocking.baudrate, wire.clocking.mode) == (400000, 0)
    spi.configure()
    assert wire.clocking.baudrate == 100000


def test_arguments_of_busio():
    wire, chip, spi = locked()
    raised(TypeError, spi.configure, 400000)
    raised(TypeError, spi.configure, firstbit=0)
    raised(ValueError, spi.configure, polarity=2)
    raised(ValueError, spi.configure, phase=-1)
    raised(ValueError, spi.configure, bits=7)
    raised(TypeError, spi.write, b"ab", 1)
    raised(TypeError, spi.write, 5)
    raised(TypeError, spi.write, b"ab", end=None)
    raised(TypeError, spi.readinto, b"ab")
    raised(TypeError, spi.readinto, bytearray(2), write_value=None)
    assert "equal length" in str(raised(ValueError, spi.write_readinto, b"ab", bytearray(3)))
    assert chip.heard == b""
    wire.check()
    _, _, blinka = locked("blinka")
    blinka.write(b"ab", end=None)
    raised(RuntimeError, blinka.write_readinto, b"ab", bytearray(3))


def test_lock_of_busio():
    _, _, spi = locked()
    assert not spi.try_lock()
    spi.unlock()
    for call in (
        spi.configure,
        lambda: spi.write(b"a"),
        lambda: spi.readinto(bytearray(1)),
        lambda: spi.write_readinto(b"a", bytearray(1)),
    ):
        assert "requires lock" in str(raised(RuntimeError, call))
    assert spi.unlock() is None
    assert spi.frequency > 0
    _, chip, blinka = locked("blinka")
    blinka.unlock()
    blinka.unlock()
    blinka.write(b"a")
    assert chip.heard == b"a"
    assert "try_lock" in str(raised(RuntimeError, blinka.configure))


def test_frequency_of_busio_is_the_actual_one():
    _, _, spi = locked()
    spi.configure(baudrate=10000000)
    assert spi.frequency == 8928571
    _, _, blinka = locked("blinka")
    blinka.configure(baudrate=10000000)
    assert blinka.frequency == 10000000


def test_deinit_of_busio():
    wire, _, spi = locked()
    assert "in use" in str(raised(ValueError, BusioSPI, wire))
    spi.deinit()
    spi.deinit()
    assert not spi.try_lock()
    raised(ValueError, spi.unlock)
    raised(ValueError, spi.configure)
    raised(ValueError, spi.write, b"a")
    with BusioSPI(wire) as again:
        assert again.try_lock()
    free = BusioSPI(wire)
    free.deinit()
    assert not free.try_lock()
    _, _, blinka = locked("blinka")
    blinka.deinit()
    raised(AttributeError, blinka.write, b"a")
    assert not blinka.try_lock()
    blinka.unlock()


def test_calls_of_busio_that_raise():
    wire, chip, spi = locked()
    for call in ("configure", "write", "readinto", "unlock", "try_lock", "deinit"):
        wire.fail_call(what=call)
    raised(OSError, spi.configure)
    raised(OSError, spi.write, b"a")
    raised(OSError, spi.readinto, bytearray(1))
    assert chip.heard == b""
    raised(OSError, spi.unlock)
    raised(OSError, spi.try_lock)
    assert not spi.try_lock()
    spi.unlock()
    assert spi.try_lock()
    raised(OSError, spi.deinit)
    spi.deinit()


def test_both_front_ends_drive_one_wire():
    wire = SpiWire()
    chip = wire.attach("cs", Loopback())
    cs = Pin(wire.line("cs"), Pin.OUT, value=1)
    busio = BusioSPI(wire)
    busio.try_lock()
    machine = SPI(wire)
    cs(0)
    busio.write(b"a")
    machine.write(b"b")
    cs(1)
    assert chip.received == b"ab"
    check()
