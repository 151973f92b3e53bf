"""ESP32-S3-DevKitC-1 and boards like it, MicroPython."""

NAME = "esp32_s3"

# MicroPython, ports/esp32/machine_i2c.h: the default of I2C 0
I2C_SDA = 8
I2C_SCL = 9
# The data sheet's IO_MUX table: FSPI, the pins of SPI 1 that need no GPIO matrix
SPI_CS = 10
SPI_MOSI = 11
SPI_SCK = 12
SPI_MISO = 13
SPI_CS2 = 4
SPI_DC = 5
# The data sheet's IO_MUX table: U1TXD and U1RXD. MicroPython's default, 10 and 9, would collide with the above.
UART_TX = 17
UART_RX = 18
UART_DE = 6


def i2c(freq=400000):
    """I2C 0, freq in Hz."""
    from machine import I2C, Pin

    return I2C(0, scl=Pin(I2C_SCL), sda=Pin(I2C_SDA), freq=freq)


def spi(baudrate=1000000):
    """SPI 1."""
    from machine import SPI, Pin

    return SPI(1, baudrate=baudrate, sck=Pin(SPI_SCK), mosi=Pin(SPI_MOSI), miso=Pin(SPI_MISO))


def uart(baudrate=9600):
    """UART 1."""
    from machine import UART, Pin

    return UART(1, baudrate=baudrate, tx=Pin(UART_TX), rx=Pin(UART_RX), timeout=0)
