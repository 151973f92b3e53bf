"""Raspberry Pi Pico, CircuitPython. The pins are those of boards/pico.py."""

NAME = "pico_circuitpython"

# CircuitPython's board definition raspberry_pi_pico names the pins GP0 to GP28, and no default buses
_PINS = {
    "I2C_SDA": "GP4",
    "I2C_SCL": "GP5",
    "SPI_MISO": "GP16",
    "SPI_CS": "GP17",
    "SPI_SCK": "GP18",
    "SPI_MOSI": "GP19",
    "SPI_CS2": "GP20",
    "SPI_DC": "GP21",
    "UART_TX": "GP0",
    "UART_RX": "GP1",
    "UART_DE": "GP2",
}


def __getattr__(name):
    # The pins are objects of the module board, which is there only on the board itself.
    if name not in _PINS:
        raise AttributeError(name)
    import board

    return getattr(board, _PINS[name])


def i2c(freq=400000):
    """busio.I2C, freq in Hz. It raises RuntimeError when there are no pull-ups on the two pins."""
    import board
    import busio

    return busio.I2C(board.GP5, board.GP4, frequency=freq)


def spi(baudrate=1000000):
    """busio.SPI; its baud rate is set under its lock, by configure()."""
    import board
    import busio

    return busio.SPI(board.GP18, MOSI=board.GP19, MISO=board.GP16)


def uart(baudrate=9600):
    """busio.UART."""
    import board
    import busio

    return busio.UART(board.GP0, board.GP1, baudrate=baudrate, timeout=0)
