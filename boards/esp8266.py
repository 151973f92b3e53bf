"""ESP8266 (NodeMCU, D1 mini), MicroPython. RAM is short: copy only the modules that are used, as .mpy."""

NAME = "esp8266"

# docs/esp8266/quickref: I2C is bit-banged and takes any pins; these are D1 and D2 of NodeMCU and D1 mini
I2C_SDA = 4
I2C_SCL = 5
# docs/esp8266/quickref: SPI 1 (HSPI), whose pins are fixed; GPIO15 must be low at boot
SPI_MISO = 12
SPI_MOSI = 13
SPI_SCK = 14
SPI_CS = 15
# What is left has to be high at boot: a chip select may be, D/C may, and the transceiver sends until the program runs
SPI_CS2 = 0
SPI_DC = 2
# docs/esp8266/quickref: UART 0, which the REPL uses too; UART 1 can only send (GPIO2)
UART_TX = 1
UART_RX = 3
UART_DE = 16


def i2c(freq=100000):
    """SoftI2C, freq in Hz."""
    from machine import Pin, SoftI2C

    return SoftI2C(scl=Pin(I2C_SCL), sda=Pin(I2C_SDA), freq=freq)


def spi(baudrate=1000000):
    """SPI 1."""
    from machine import SPI

    return SPI(1, baudrate=baudrate)


def uart(baudrate=9600):
    """UART 0. Take the REPL off it first: os.dupterm(None, 1)."""
    from machine import UART

    return UART(0, baudrate=baudrate, timeout=0)
