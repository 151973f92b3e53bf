"""Pins and factories per board. One line picks the board the program runs on:

    import boards
    board = boards.this_board()
    bus = I2CBus(board.i2c, scl=board.I2C_SCL, sda=board.I2C_SDA)

A board's module has NAME, the pins I2C_SCL, I2C_SDA, SPI_SCK, SPI_MOSI, SPI_MISO, UART_TX and UART_RX, and the
factories i2c(freq), spi(baudrate) and uart(baudrate), which make the raw peripheral. Importing one opens nothing.
SPI_CS and SPI_CS2 are for two chip selects, SPI_DC is for a display's D/C and UART_DE for the driver enable of an
RS-485 transceiver: pins that are free, so take others if you like.
For another board copy the file that is nearest, correct its pins, and say this_board("its_name").
"""

import sys

NAMES = (
    "pico",
    "pico_w",
    "pico_2",
    "esp32_devkit",
    "esp32_s3",
    "esp8266",
    "pico_circuitpython",
    "qtpy_rp2040",
    "feather_esp32s3",
    "raspberry_pi_blinka",
    "sim",
)

# CircuitPython's board.board_id
_BOARD_IDS = {
    "raspberry_pi_pico": "pico_circuitpython",
    "adafruit_qtpy_rp2040": "qtpy_rp2040",
    "adafruit_feather_esp32s3_4mbflash_2mbpsram": "feather_esp32s3",
    "adafruit_feather_esp32s3_nopsram": "feather_esp32s3",
}

# The platforms of MicroPython that are no boards
_DESKS = ("linux", "darwin", "win32", "webassembly")


def this_board(name=None):
    """The module of the board this program runs on, or of the board named. On a desk it is `sim`."""
    if name is None:
        name = pick(*_look())
    elif not isinstance(name, str):
        raise TypeError(f"name must be a str, not {type(name).__name__}")
    home = __name__ + "." + name
    try:
        __import__(home)
    except ImportError as e:
        if name in NAMES:
            raise  # it is there, and something it needs is not
        raise ValueError(f"there is no boards/{name}.py ({e}); known are {', '.join(NAMES)}") from None
    return sys.modules[home]


def pick(implementation, platform, machine, board_id):
    """The name of the board's module for what was seen; RuntimeError if there is none."""
    name = None
    if implementation == "circuitpython":
        name = _BOARD_IDS.get(board_id)
    elif implementation == "cpython":
        name = "raspberry_pi_blinka" if machine.startswith("Raspberry Pi") and board_id else "sim"
    elif platform in _DESKS:
        name = "sim"
    else:
        name = _by_machine(machine)
    if name is None:
        raise RuntimeError(
            f"no file in boards/ for this board ({implementation}, {platform}, machine {machine!r}, "
            f"board_id {board_id!r}): copy the nearest one, correct its pins and say boards.this_board('its_name')"
        )
    return name


def _by_machine(machine):
    """MicroPython's "Raspberry Pi Pico W with RP2040" and the like; the spelling changed between versions."""
    board = machine.rsplit(" with ", 1)[0].replace(" ", "")
    chip = machine.rsplit(" with ", 1)[-1]
    if board.startswith("RaspberryPiPico"):
        if chip.startswith("RP2350"):
            return "pico_2"
        return {"RaspberryPiPico": "pico", "RaspberryPiPicoW": "pico_w"}.get(board)
    if board.startswith("GenericESP32module"):
        return "esp32_devkit"
    if board.startswith("GenericESP32S3module"):
        return "esp32_s3"
    if chip == "ESP8266":
        return "esp8266"
    return None


def _look():
    """implementation, platform, machine and board_id of where we are."""
    implementation = sys.implementation.name
    machine = getattr(sys.implementation, "_machine", "")
    board_id = None
    if implementation == "circuitpython":
        import board

        board_id = board.board_id
    elif implementation == "cpython":
        machine = _linux_model()
        if machine.startswith("Raspberry Pi"):
            try:
                import board

                board_id = board.board_id
            except Exception:  # no Blinka, or one that does not know this computer
                pass
    return implementation, sys.platform, machine, board_id


def _linux_model():
    try:
        with open("/proc/device-tree/model") as model:
            return model.read().strip("\0\n")
    except OSError:
        return ""
