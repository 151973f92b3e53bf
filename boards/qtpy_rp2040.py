"""Adafruit QT Py RP2040, CircuitPython. The STEMMA QT socket is another bus: SDA1 and SCL1."""

NAME = "qtpy_rp2040"

# CircuitPython's board definition adafruit_qtpy_rp2040: SDA GPIO24, SCL GPIO25, SCK GPIO6, MOSI GPIO3, MISO GPIO4,
# TX GPIO20, RX GPIO5; A0 to A3 (GPIO29 to GPIO26) are free
_PINS = {
    "I2C_SDA": "SDA",
    "I2C_SCL": "SCL",
    "SPI_SCK": "SCK",
    "SPI_MOSI": "MOSI",
    "SPI_MISO": "MISO",
    "SPI_CS": "A0",
    "SPI_CS2": "A1",
    "SPI_DC": "A2",
    "UART_TX": "TX",
    "UART_RX": "RX",
    "UART_DE": "A3",
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
