"""The SPI chips of the simulator: they answer as the parts they are modelled on, and mind the same."""

from buslock_sim import (
    SPI,
    Display,
    Loopback,
    NORFlash,
    Pin,
    ProtocolError,
    Radio,
    SDCard,
    SpiWire,
    Thermocouple,
    clock,
    forget,
)
from support.clock import advance
from support.turns import raises as raised

CLOCK = "virtual"
LEFT_OUT = {
    "pico": {
        "more memory than a Pico has: a flash chip of 128 KB in one piece": ("test_flash_erases_sectors_blocks_and_all",),
    }
}


class Bench:
    """One chip with a Loopback beside it."""

    def __init__(self, chip, mode=0, baudrate=1000000):
        self.chip = chip
        self.wire = SpiWire()
        self.wire.attach("chip", chip)
        self.wire.attach("other", Loopback())
        self.spi = SPI(self.wire, "esp32", baudrate=baudrate, polarity=mode >> 1, phase=mode & 1)
        self.cs = Pin(self.wire.line("chip"), Pin.OUT, value=1)
        self.other = Pin(self.wire.line("other"), Pin.OUT, value=1)

    def write(self, *bufs):
        self.cs(0)
        try:
            for buf in bufs:
                self.spi.write(buf)
        finally:
            self.cs(1)

    def write_read(self, out, n, fill=0xFF):
        self.cs(0)
        try:
            self.spi.write(out)
            return self.spi.read(n, fill)
        finally:
            self.cs(1)

    def minds(self, function, *args):
        """The mistake that the call makes."""
        error = raised(ProtocolError, function, *args)
        assert self.wire.violations == [error]
        self.wire.violations.clear()
        forget()
        return str(error)


def test_loopback():
    bench = Bench(Loopback(), mode=2)
    assert bench.write_read(b"abc", 2, 0x55) == b"\x55\x55"
    assert bench.chip.received == b"abc\x55\x55"
    bench.write(b"d")
    assert bench.chip.received == b"d"
    assert bench.chip.selections == 2


# Display


def test_display_with_commands():
    wire = SpiWire()
    display = wire.attach("display", Display(size=4, dc=wire.line("dc")))
    spi = SPI(wire)
    cs = Pin(wire.line("display"), Pin.OUT, value=1)
    dc = Pin(wire.line("dc"), Pin.OUT, value=1)

    def send(level, data):
        dc(level)
        cs(0)
        spi.write(data)
        cs(1)

    send(1, b"abc")
    send(1, b"de")
    assert display.frame == b"ebcd" and display.frames == 1
    send(0, b"\xae\x22\x00")
    send(1, b"x")
    assert display.frame == b"xbcd" and display.commands == b"\xae\x22\x00"
    display.power_on()
    assert display.frame == bytes(4) and display.frames == 0
    wire.check()


def test_display_with_parameters():
    wire = SpiWire()
    display = wire.attach("display", Display(size=4, dc=wire.line("dc"), memory_write=0x2C))
    spi = SPI(wire)
    cs = Pin(wire.line("display"), Pin.OUT, value=0)
    dc = Pin(wire.line("dc"), Pin.OUT, value=0)
    for command, data in ((b"\x2a", b"\x00\x01\x00\x02"), (b"\x2c", b"pixe")):
        dc(0)
        spi.write(command)
        dc(1)
        spi.write(data)
    cs(1)
    assert display.frame == b"pixe"
    assert display.parameters == b"\x00\x01\x00\x02" and display.commands == b"\x2a\x2c"


def test_display_without_commands_begins_with_each_selection():
    bench = Bench(Display(size=4))
    bench.write(b"ab", b"cd")
    bench.write(b"x")
    assert bench.chip.frame == b"xbcd" and bench.chip.frames == 1


def test_display_takes_over_its_clock_when_it_is_selected():
    bench = Bench(Display(), mode=0, baudrate=1000000)
    bench.cs(0)
    bench.spi.write(b"a")
    bench.spi.init(baudrate=2000000)
    assert "1000000 Hz became mode 0 at 2000000 Hz while CS was active" in bench.minds(bench.spi.write, b"b")
    bench.cs(1)
    bench.write(b"xy")
    assert bench.chip.frame[:3] == b"xy\x00"
    bench.spi.init(baudrate=40000000)
    assert "limit" in bench.minds(bench.write, b"x")


# SDCard


class Card(Bench):
    def __init__(self, **how):
        super().__init__(SDCard(**how), baudrate=100000)

    def command(self, number, argument=0, check=0x01, more=0, release=True):
        """R1 and what follows it."""
        self.cs(0)
        self.spi.write(bytes([0x40 | number]) + argument.to_bytes(4, "big") + bytes([check]))
        for _ in range(10):
            answer = self.spi.read(1, 0xFF)
            if answer[0] < 0x80:
                break
        if more:
            answer += self.spi.read(more, 0xFF)
        if release:
            self.release()
        return answer

    def release(self):
        self.cs(1)
        self.spi.write(b"\xff")

    def start(self):
        self.spi.write(b"\xff" * 10)
        assert self.command(0, 0, 0x95) == b"\x01"
        assert self.command(8, 0x1AA, 0x87, more=4) == b"\x01\x00\x00\x01\xaa"
        tries = 0
        while True:
            self.command(55)
            tries += 1
            if self.command(41, 0x40000000) == b"\x00":
                break
        self.spi.init(baudrate=10000000)
        return tries

    def block(self, n=512):
        """The data of a block whose command has been answered."""
        for _ in range(10):
            if self.spi.read(1, 0xFF) == b"\xfe":
                break
        data = self.spi.read(n, 0xFF)
        self.spi.read(2, 0xFF)
        return data

    def write_block(self, token, data):
        self.spi.write(token + data + b"\x00\x00")
        assert self.spi.read(1, 0xFF) == b"\x05"
        busy = 0
        while self.spi.read(1, 0xFF) == b"\x00":
            busy += 1
        return busy


def test_card_starts_after_74_clocks():
    card = Card()
    card.spi.write(b"\xff" * 9)
    assert "CMD0 after 72 clocks" in card.minds(card.command, 0, 0, 0x95)
    card.cs(1)
    card.spi.write(b"\xff")
    assert card.command(0, 0, 0x95) == b"\x01"
    card.chip.power_on()
    assert "after 0 clocks" in card.minds(card.command, 0, 0, 0x95)


def test_clocks_count_only_with_mosi_high():
    card = Card()
    card.other(0)
    card.spi.write(bytes(20))
    card.other(1)
    assert "CMD0 after 0 clocks" in card.minds(card.command, 0, 0, 0x95)


def test_card_says_when_it_is_ready():
    card = Card(inits=3)
    assert card.start() == 4
    assert card.command(58, more=4) == b"\x00\xc0\xff\x80\x00"
    card.wire.check()


def test_card_is_slow_until_it_is_ready():
    card = Card()
    card.spi.init(baudrate=1000000)
    card.spi.write(b"\xff" * 10)
    assert "its limit is 400000" in card.minds(card.command, 0, 0, 0x95)
    card.cs(1)
    card.spi.init(baudrate=400000)
    card.start()
    card.spi.init(baudrate=26000000)
    assert "its limit is 25000000" in card.minds(card.command, 13)


def test_card_answers_nothing_before_cmd0_and_little_after():
    card = Card()
    card.spi.write(b"\xff" * 10)
    assert card.command(17) == b"\xff"
    assert card.command(0, 0, 0x00) == b"\x09"  # wrong check sum
    assert card.command(58) == b"\xff"
    assert card.command(0, 0, 0x95) == b"\x01"
    assert card.command(17) == b"\x05"
    assert card.command(41) == b"\x05"  # without CMD55
    assert card.command(8, 0x1AA, 0x00, more=4)[:1] == b"\x09"


def test_card_reads_and_writes_blocks():
    card = Card(blocks=2048, write_ms=3, contents={7: b"7" * 512})
    card.start()
    assert card.command(17, 7, release=False) == b"\x00"
    assert card.block() == b"7" * 512
    card.release()
    assert card.command(17, 8, release=False) == b"\x00"
    assert card.block() == bytes(512)
    card.release()
    assert card.command(24, 8, release=False) == b"\x00"
    start = clock.now_us()
    assert card.write_block(b"\xff\xfe", b"8" * 512) > 0
    assert clock.now_us() - start >= 3000
    card.release()
    assert card.chip.contents[8] == b"8" * 512
    assert (card.chip.reads, card.chip.writes) == (2, 1)
    assert card.command(17, 2048) == b"\x40"
    assert card.command(16, 512) == b"\x00"
    assert card.command(16, 1024) == b"\x40"
    assert card.command(60) == b"\x04"
    assert card.command(13, more=1) == b"\x00\x00"
    card.wire.check()


def test_card_reads_and_writes_many():
    card = Card()
    card.start()
    assert card.command(25, 4) == b"\x00"  # drivers let go of CS between command and data
    card.cs(0)
    for letter in (b"a", b"b"):
        card.write_block(b"\xfc", letter * 512)
    card.spi.write(b"\xfd")
    card.release()
    assert card.command(18, 4, release=False) == b"\x00"
    assert card.block() == b"a" * 512
    assert card.block() == b"b" * 512
    card.cs(1)
    card.cs(0)
    assert card.block() == bytes(512)
    card.command(12)
    assert card.command(13, more=1) == b"\x00\x00"
    assert sorted(card.chip.contents) == [4, 5]


def test_card_tells_its_size():
    card = Card(blocks=4096)
    card.start()
    assert card.command(9, release=False) == b"\x00"
    csd = card.block(16)
    card.release()
    assert csd[0] & 0xC0 == 0x40
    assert ((csd[7] << 16 | csd[8] << 8 | csd[9]) + 1) * 1024 == 4096


def test_card_minds_bytes_where_a_block_is_due():
    card = Card()
    card.start()
    card.command(24, 1, release=False)
    assert "start of a block" in card.minds(card.spi.write, b"\x03")


def test_card_is_busy_although_it_was_let_go():
    card = Card(write_ms=10)
    card.start()
    card.command(24, 1, release=False)
    card.spi.write(b"\xfe" + bytes(514))
    assert card.spi.read(2, 0xFF) == b"\x05\x00"
    card.release()
    assert card.chip.busy
    card.cs(0)
    assert card.spi.read(2, 0xFF) == b"\x00\x00"
    advance(10)
    assert card.spi.read(1, 0xFF) == b"\xff"


def test_card_drives_miso_until_it_has_seen_eight_clocks():
    card = Card()
    card.start()
    card.command(13, release=False)
    card.cs(1)
    card.other(0)
    assert "still drives MISO" in card.minds(card.spi.read, 1)
    card.spi.write(b"a")  # nobody reads what comes back, and these are clocks too
    assert card.spi.read(1, 0x42) == b"\x42"
    card.other(1)
    card.command(13)
    card.other(0)
    card.spi.read(1)
    card.other(1)
    card.wire.check()


# NORFlash


def test_flash_identity_and_reads():
    bench = Bench(NORFlash(size=65536))
    assert bench.write_read(b"\x9f", 3) == b"\xef\x40\x10"
    bench.chip.memory[0x1234:0x1237] = b"abc"
    bench.chip.memory[0xFFFF] = 0x5A
    assert bench.write_read(b"\x03\x00\x12\x34", 3) == b"abc"
    assert bench.write_read(b"\x0b\x00\x12\x34\x00", 3) == b"abc"
    assert bench.write_read(b"\x03\x00\xff\xff", 2) == b"\x5a\xff"
    assert bench.write_read(b"\x03\x00\x12\x00", 0x40)[0x34:0x37] == b"abc"
    bench.wire.check()


def test_flash_is_busy_while_it_erases():
    bench = Bench(NORFlash(erase_ms=45))
    bench.chip.memory[:8] = b"contents"
    bench.write(b"\x06")
    assert bench.write_read(b"\x05", 1) == b"\x02"
    bench.write(b"\x20\x00\x00\x10")
    assert bench.write_read(b"\x05", 2) == b"\x03\x03"
    assert "0x03 while it is busy" in bench.minds(bench.write, b"\x03\x00\x00\x00")
    advance(44)
    assert bench.write_read(b"\x05", 1) == b"\x03"
    advance(1)
    assert bench.write_read(b"\x05", 1) == b"\x00"
    assert bench.write_read(b"\x03\x00\x00\x00", 8) == b"\xff" * 8
    assert bench.chip.erases == 1


def test_flash_that_is_not_strict_ignores_what_it_cannot_do():
    bench = Bench(NORFlash(strict=False))
    bench.chip.memory[0] = 0x11
    bench.write(b"\x20\x00\x00\x00")
    bench.write(b"\x06")
    bench.write(b"\x20\x00\x10\x00")
    assert bench.write_read(b"\x03\x00\x00\x00", 1) == b"\xff"
    bench.write(b"\x06")
    advance(45)
    assert bench.write_read(b"\x05", 1) == b"\x00"
    assert bench.write_read(b"\x03\x00\x00\x00", 1) == b"\x11"
    bench.wire.check()


def test_flash_programs_pages_and_only_clears_bits():
    bench = Bench(NORFlash(program_ms=2))
    assert "program without a write enable" in bench.minds(bench.write, b"\x02\x00\x00\xfe1234")
    bench.write(b"\x06")
    bench.write(b"\x02\x00\x00\xfe1234")
    assert bench.chip.busy
    advance(2)
    assert bench.chip.memory[0xFE:0x100] == b"12" and bench.chip.memory[:2] == b"34"
    bench.write(b"\x06")
    bench.write(b"\x02\x00\x00\x00\x0f")
    advance(2)
    assert bench.chip.memory[0] == 0x33 & 0x0F
    bench.write(b"\x06")
    bench.write(b"\x02\x00\x02\x00" + bytes(range(256)) + b"ab")
    advance(2)
    assert bench.chip.memory[0x200:0x204] == b"ab\x02\x03" and bench.chip.memory[0x2FF] == 0xFF
    assert bench.chip.programs == 3


def test_flash_erases_sectors_blocks_and_all():
    bench = Bench(NORFlash(size=131072))
    for command, erased in ((b"\x20\x00\x20\x01", 4096), (b"\x52\x00\x80\x00", 32768), (b"\xd8\x01\x00\x00", 65536)):
        bench.chip.memory[:] = bytes(131072)
        bench.write(b"\x06")
        bench.write(command)
        assert bench.chip.memory.count(b"\xff") == erased
        advance(45)
    bench.write(b"\x06")
    bench.write(b"\xc7")
    assert bench.chip.memory.count(b"\xff") == 131072
    raised(ValueError, NORFlash, size=1000)


def test_flash_write_disable():
    bench = Bench(NORFlash())
    bench.write(b"\x06")
    bench.write(b"\x04")
    assert "without a write enable" in bench.minds(bench.write, b"\x20\x00\x00\x00")


# Radio


def test_radio_registers():
    bench = Bench(Radio())
    assert bench.write_read(b"\x06", 1) == b"\x0e"
    bench.write(b"\x25\x4c")
    assert bench.write_read(b"\x05", 1) == b"\x4c"
    assert bench.chip[5] == 0x4C
    bench.write(b"\x2a\x01\x02\x03\x04\x05")
    assert bench.write_read(b"\x0a", 5) == b"\x01\x02\x03\x04\x05"
    buf = bytearray(2)
    bench.cs(0)
    bench.spi.write_readinto(b"\xff\xff", buf)
    bench.cs(1)
    assert buf[0] == 0x0E  # the status comes back first
    bench.wire.check()


def test_radio_wants_mode_0():
    bench = Bench(Radio(), mode=3)
    assert "mode 3, it wants 0" in bench.minds(bench.write, b"\xff")


def test_radio_sends_and_receives():
    bench = Bench(Radio(air_ms=2))
    bench.write(b"\xa0hello")
    assert bench.chip.sent == [b"hello"]
    assert bench.write_read(b"\x07", 1)[0] & 0x20 == 0
    advance(2)
    assert bench.write_read(b"\x07", 1)[0] & 0x20
    bench.write(b"\x27\x20")
    assert bench.write_read(b"\x07", 1) == b"\x0e"
    assert bench.chip.deliver(b"answer")
    assert bench.write_read(b"\x07", 1) == b"\x40"
    assert bench.write_read(b"\x17", 1) == b"\x10"
    assert bench.write_read(b"\x61", 6) == b"answer"
    assert bench.write_read(b"\x17", 1) == b"\x11"
    for _ in range(3):
        assert bench.chip.deliver(b"x")
    assert not bench.chip.deliver(b"x")
    bench.write(b"\xe2")
    assert bench.write_read(b"\x17", 1) == b"\x11"


def test_radio_waits_for_ce():
    wire = SpiWire()
    ce = Pin(wire.line("ce"), Pin.OUT, value=0)
    radio = wire.attach("radio", Radio(ce=wire.line("ce")))
    spi = SPI(wire)
    cs = Pin(wire.line("radio"), Pin.OUT, value=0)
    spi.write(b"\xa0hello")
    cs(1)
    assert radio.sent == []
    assert radio[0x17] == 0x01
    ce(1)
    assert radio.sent == [b"hello"] and radio[0x17] == 0x11


# Thermocouple


def ohms_of(data):
    return (data[0] << 8 | data[1]) / 2 * 430 / 32768


def test_thermocouple_converts_once():
    for mode in (1, 3):
        bench = Bench(Thermocouple(ohms=107.79, conversion_ms=55), mode=mode)
        bench.write(b"\x80\xa2")
        assert bench.write_read(b"\x00", 1) == b"\xa0"
        advance(54)
        assert bench.write_read(b"\x01", 2) == b"\x00\x00"
        advance(1)
        assert bench.write_read(b"\x00", 1) == b"\x80"
        assert abs(ohms_of(bench.write_read(b"\x01", 2)) - 107.79) < 0.02
        assert bench.chip.conversions == 1
        bench.wire.check()


def test_thermocouple_converts_all_the_time():
    bench = Bench(Thermocouple(), mode=1)
    bench.write(b"\x80\xc0")
    advance(55)
    assert abs(ohms_of(bench.write_read(b"\x01", 2)) - 100) < 0.02
    bench.chip.ohms = 200
    assert abs(ohms_of(bench.write_read(b"\x01", 2)) - 100) < 0.02
    advance(55)
    assert abs(ohms_of(bench.write_read(b"\x01", 2)) - 200) < 0.02


def test_thermocouple_registers_count_up():
    bench = Bench(Thermocouple(), mode=1)
    bench.write(b"\x83\x12\x34\x56\x78")
    assert bench.write_read(b"\x03", 4) == b"\x12\x34\x56\x78"
    assert "register 1 is read-only" in bench.minds(bench.write, b"\x81\x00")
    bench.write(b"\x80\x20")  # without bias nothing is converted
    advance(100)
    assert bench.write_read(b"\x00", 1) == b"\x20"
    assert bench.chip.conversions == 0


def test_thermocouple_minds_the_mode():
    bench = Bench(Thermocouple(), mode=0)
    assert "mode 0, it wants 1 or 3" in bench.minds(bench.write, b"\x00")
