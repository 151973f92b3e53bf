"""Raspberry Pi under Linux with Blinka. Enable I2C, SPI and the serial port with raspi-config."""

NAME = "raspberry_pi_blinka"

# Blinka, board/raspberrypi/raspi_40pin.py: SDA GPIO2, SCL GPIO3, SCK GPIO11, MOSI GPIO10, MISO GPIO9, TX GPIO14,
# RX GPIO15. The kernel drives CE0 by itself, so the chip selects are other pins.
_PINS = {
    "I2C_SDA": "SDA",
    "I2C_SCL": "SCL",
    "SPI_SCK": "SCK",
    "SPI_MOSI": "MOSI",
    "SPI_MISO": "MISO",
    "SPI_CS": "D5",
    "SPI_CS2": "D6",
    "SPI_DC": "D22",
    "UART_TX": "TX",
    "UART_RX": "RX",
    "UART_DE": "D17",
}


def __getattr__(name):
    # The pins are objects of the module board, which is there only on the board itself.
    if name not in _PINS:
        raise AttributeError(name)
    import board

    return getattr(board, _PINS[name])


def i2c(freq=400000):
    """busio.I2C. Linux sets the frequency (dtparam=i2c_arm_baudrate in config.txt); freq is not passed on."""
    import board
    import busio

    return busio.I2C(board.SCL, board.SDA)


def spi(baudrate=1000000):
    """busio.SPI; its baud rate is set under its lock, by configure()."""
    import board
    import busio

    return busio.SPI(board.SCK, MOSI=board.MOSI, MISO=board.MISO)


def uart(baudrate=9600):
    """busio.UART, which needs pyserial."""
    import board
    import busio

    return busio.UART(board.TX, board.RX, baudrate=baudrate, timeout=0)
