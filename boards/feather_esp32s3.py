"""Adafruit Feather ESP32-S3 (4 MB flash and 2 MB PSRAM, or 8 MB flash), CircuitPython."""

NAME = "feather_esp32s3"

# CircuitPython's board definition adafruit_feather_esp32s3_4mbflash_2mbpsram: SDA GPIO3, SCL GPIO4, also on the
# STEMMA QT socket, whose power is switched by I2C_POWER (GPIO7); SCK GPIO36, MOSI GPIO35, MISO GPIO37,
# TX GPIO39, RX GPIO38; D5, D6, D9 and D10 (GPIOs of these numbers) are free
_PINS = {
    "I2C_SDA": "SDA",
    "I2C_SCL": "SCL",
    "SPI_SCK": "SCK",
    "SPI_MOSI": "MOSI",
    "SPI_MISO": "MISO",
    "SPI_CS": "D5",
    "SPI_CS2": "D6",
    "SPI_DC": "D9",
    "UART_TX": "TX",
    "UART_RX": "RX",
    "UART_DE": "D10",
}


def __getattr__(name):
    # The pins are objects of the module board, which is there only on the board itself.
    if name not in _PINS:
        raise AttributeError(name)
    import board

    return getattr(board, _PINS[name])


def i2c(freq=400000):
    """busio.I2C, freq in Hz. board.I2C() would be the same pins at 100 kHz, as one object for the whole program."""
    import board
    import busio

    return busio.I2C(board.SCL, board.SDA, frequency=freq)


def spi(baudrate=1000000):
    """busio.SPI; its baud rate is set under its lock, by configure()."""
    import board
    import busio

    return busio.SPI(board.SCK, MOSI=board.MOSI, MISO=board.MISO)


def uart(baudrate=9600):
    """busio.UART."""
    import board
    import busio

    return busio.UART(board.TX, board.RX, baudrate=baudrate, timeout=0)
