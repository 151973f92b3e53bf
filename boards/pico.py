"""Raspberry Pi Pico, MicroPython. The pins are those of the Pico's pinout and of MicroPython's rp2 port."""

NAME = "pico"

# Pico SDK, boards/pico.h: PICO_DEFAULT_I2C 0 on GP4 and GP5, PICO_DEFAULT_SPI 0 on GP16 to GP19
I2C_SDA = 4
I2C_SCL = 5
SPI_MISO = 16
SPI_CS = 17
SPI_SCK = 18
SPI_MOSI = 19
SPI_CS2 = 20
SPI_DC = 21
# MicroPython, ports/rp2/machine_uart.c: UART 0. The REPL is on USB.
UART_TX = 0
UART_RX = 1
UART_DE = 2


def i2c(freq=400000):
    """I2C 0, freq in Hz. The internal pull-ups are weak: sensors want 2 to 10 kOhm."""
    from machine import I2C, Pin

    return I2C(0, scl=Pin(I2C_SCL), sda=Pin(I2C_SDA), freq=freq)


def spi(baudrate=1000000):
    """SPI 0."""
    from machine import SPI, Pin

    return SPI(0, baudrate=baudrate, sck=Pin(SPI_SCK), mosi=Pin(SPI_MOSI), miso=Pin(SPI_MISO))


def uart(baudrate=9600):
    """UART 0."""
    from machine import UART, Pin

    return UART(0, baudrate=baudrate, tx=Pin(UART_TX), rx=Pin(UART_RX), timeout=0)
