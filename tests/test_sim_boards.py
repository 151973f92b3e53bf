"""The boards' files: which one is picked, and that they agree in what they offer."""

import sys

from buslock_sim import VirtualClock, clock
from buslock_sim.crc import crc16

import boards

LEFT_OUT = {
    "pico": {
        "the board sim is for a desk: its flash chip alone takes 64 KB, and here this_board() is the Pico": (
            "test_every_board_has_the_interface",
            "test_sim_can_be_reset_and_take_other_chips",
            "test_sim_has_flash_and_display",
            "test_sim_has_modbus_nodes",
            "test_sim_has_three_chips",
        ),
    }
}

MICROPYTHON_BOARDS = ("pico", "pico_w", "pico_2", "esp32_devkit", "esp32_s3", "esp8266")
BUSIO_BOARDS = ("pico_circuitpython", "qtpy_rp2040", "feather_esp32s3", "raspberry_pi_blinka")
PINS = ("I2C_SCL", "I2C_SDA", "SPI_SCK", "SPI_MOSI", "SPI_MISO", "SPI_CS", "SPI_CS2", "SPI_DC", "UART_TX", "UART_RX")
PINS += ("UART_DE",)


def raised(kind, function, *args, **kwargs):
    try:
        function(*args, **kwargs)
    except kind as error:
        return error
    raise AssertionError(f"no {kind.__name__}")


class Recorder:
    """Stands in for a module: its functions return their name and what they were called with."""

    def __init__(self, names):
        for name in names:
            setattr(self, name, self._make(name))

    def _make(self, name):
        def function(*args, **kwargs):
            return name, args, kwargs

        return function


class Names:
    """Stands in for CircuitPython's module board: every pin is its own name."""

    board_id = "none"

    def __getattr__(self, name):
        return "board." + name


class Modules:
    """Puts objects in the place of modules for a block."""

    def __init__(self, **modules):
        self._modules = modules
        self._before = {}

    def __enter__(self):
        for name in self._modules:
            self._before[name] = sys.modules.get(name)
            sys.modules[name] = self._modules[name]

    def __exit__(self, kind, error, tb):
        for name in self._before:
            if self._before[name] is None:
                del sys.modules[name]
            else:
                sys.modules[name] = self._before[name]


def test_boards_of_micropython_are_picked_by_their_machine():
    for machine, name in (
        ("Raspberry Pi Pico with RP2040", "pico"),
        ("Raspberry Pi Pico W with RP2040", "pico_w"),
        ("Raspberry Pi Pico2 with RP2350", "pico_2"),
        ("Raspberry Pi Pico 2 W with RP2350", "pico_2"),
        ("Raspberry Pi Pico2 with RP2350-RISCV", "pico_2"),
        ("Generic ESP32 module with ESP32", "esp32_devkit"),
        ("Generic ESP32 module with SPIRAM with ESP32", "esp32_devkit"),
        ("Generic ESP32 module with OTA with ESP32", "esp32_devkit"),
        ("Generic ESP32S3 module with ESP32S3", "esp32_s3"),
        ("Generic ESP32S3 module with Octal-SPIRAM with ESP32-S3", "esp32_s3"),
        ("ESP module (1M) with ESP8266", "esp8266"),
    ):
        assert boards.pick("micropython", "x", machine, None) == name


def test_boards_of_circuitpython_are_picked_by_their_id():
    assert boards.pick("circuitpython", "RP2040", "", "adafruit_qtpy_rp2040") == "qtpy_rp2040"
    assert boards.pick("circuitpython", "RP2040", "", "raspberry_pi_pico") == "pico_circuitpython"
    assert boards.pick("circuitpython", "x", "", "adafruit_feather_esp32s3_4mbflash_2mbpsram") == "feather_esp32s3"


def test_a_desk_is_the_simulator():
    assert boards.pick("micropython", "linux", "linux [GCC 14.2.1] version", None) == "sim"
    assert boards.pick("micropython", "darwin", "", None) == "sim"
    assert boards.pick("cpython", "linux", "", None) == "sim"
    assert boards.pick("cpython", "linux", "Raspberry Pi 5 Model B", None) == "sim"  # without Blinka
    assert boards.pick("cpython", "linux", "Raspberry Pi 5 Model B", "RASPBERRY_PI_5") == "raspberry_pi_blinka"


def test_an_unknown_board_says_what_it_saw_and_the_way_out():
    for seen in (
        ("micropython", "esp32", "Generic ESP32C3 module with ESP32C3", None),
        ("micropython", "rp2", "SparkFun Thing Plus RP2040 with RP2040", None),
        ("micropython", "rp2", "Raspberry Pi Pico Z with RP2040", None),
        ("micropython", "rp2", "", None),
        ("circuitpython", "RP2040", "", "sparkfun_pro_micro_rp2040"),
    ):
        text = str(raised(RuntimeError, boards.pick, *seen))
        assert (seen[2] or seen[1]) in text and str(seen[3]) in text and "this_board(" in text


def test_boards_by_name():
    assert boards.this_board("pico").NAME == "pico"
    assert "pico_w" in str(raised(ValueError, boards.this_board, "pico_3"))
    raised(TypeError, boards.this_board, 3)


def test_every_board_has_the_interface():
    with Modules(board=Names()):
        for name in boards.NAMES:
            board = boards.this_board(name)
            assert name == board.NAME
            for factory in ("i2c", "spi", "uart"):
                assert callable(getattr(board, factory))
            if name != "sim":
                pins = [getattr(board, pin) for pin in PINS]
                assert [pin for pin in pins if pins.count(pin) > 1] == []
        raised(AttributeError, getattr, boards.this_board("qtpy_rp2040"), "I2C_SDL")


def test_factories_of_micropython_boards():
    machine = Recorder(("I2C", "SoftI2C", "SPI", "UART"))
    machine.Pin = lambda number: number
    with Modules(machine=machine):
        for name in MICROPYTHON_BOARDS:
            board = boards.this_board(name)
            made, args, kwargs = board.i2c(freq=123)
            assert made == ("SoftI2C" if name == "esp8266" else "I2C")
            assert kwargs == {"scl": board.I2C_SCL, "sda": board.I2C_SDA, "freq": 123}
            made, args, kwargs = board.spi(456)
            assert made == "SPI" and len(args) == 1 and kwargs["baudrate"] == 456
            made, args, kwargs = board.uart(789)
            assert made == "UART" and len(args) == 1 and kwargs["baudrate"] == 789


def test_factories_of_busio_boards():
    with Modules(board=Names(), busio=Recorder(("I2C", "SPI", "UART"))):
        for name in BUSIO_BOARDS:
            board = boards.this_board(name)
            # scl comes first
            made, args, kwargs = board.i2c(freq=123)
            assert made == "I2C" and args == (board.I2C_SCL, board.I2C_SDA)
            assert kwargs == ({} if name == "raspberry_pi_blinka" else {"frequency": 123})
            made, args, kwargs = board.spi()
            assert made == "SPI" and args == (board.SPI_SCK,)
            assert kwargs == {"MOSI": board.SPI_MOSI, "MISO": board.SPI_MISO}
            made, args, kwargs = board.uart(789)
            assert made == "UART" and args == (board.UART_TX, board.UART_RX) and kwargs["baudrate"] == 789


def test_sim_has_three_chips():
    board = boards.this_board()
    assert board.NAME == "sim"
    board.reset()
    i2c = board.i2c()
    assert i2c.scan() == [board.EXPANDER, board.THERMOMETER, board.PRESSURE]
    assert i2c.readfrom_mem(board.THERMOMETER, 0, 2) == b"\x0a\xc0"
    assert i2c.readfrom_mem(board.EXPANDER, 0x12, 2) == b"\xa5\x00"
    assert i2c.readfrom_mem(board.PRESSURE, 0xF7, 3) == b"\x01\x8b\xcd"
    assert board.I2C_SCL.value() == 1 and board.I2C_SDA.value() == 1
    board.wire.check()


def test_sim_can_be_reset_and_take_other_chips():
    from buslock_sim import RegisterFile

    board = boards.this_board("sim")
    board.reset(port="soft")
    board.wire.attach(0x50, RegisterFile())
    assert 0x50 in board.i2c().scan()
    board.i2c().start()
    assert not board.wire.idle()
    board.reset()
    assert board.wire.idle() and 0x50 not in board.i2c().scan()


def test_sim_has_flash_and_display():
    board = boards.this_board("sim")
    board.reset()
    spi = board.spi(2000000)
    for cs in (board.SPI_CS, board.SPI_CS2):
        cs.init(cs.OUT, value=1)
    board.SPI_DC.init(board.SPI_DC.OUT, value=1)
    board.SPI_CS(0)
    spi.write(b"\x9f")
    assert spi.read(3) == b"\xef\x40\x10"
    board.SPI_CS(1)
    board.SPI_CS2(0)
    spi.write(b"pixels")
    board.SPI_CS2(1)
    assert board.display.frame[:7] == b"pixels\x00"
    board.spi_wire.check()


def test_sim_has_modbus_nodes():
    board = boards.this_board("sim")
    for port in ("rp2", "soft", "esp32_legacy", "esp8266"):
        board.reset(port)
        before = clock.use(VirtualClock())
        try:
            uart = board.uart(19200)
            board.UART_DE.init(board.UART_DE.OUT, value=1)
            request = b"\x12\x03\x00\x09\x00\x01"
            uart.write(request + crc16(request))
            uart.flush()
            clock.busy_us(1000)  # esp8266 says so a character early
            board.UART_DE(0)
            clock.busy_us(50000)
            assert uart.read()[3:5] == bytes([1809 >> 8, 1809 & 0xFF])
            board.uart_line.check()
        finally:
            clock.use(before)
