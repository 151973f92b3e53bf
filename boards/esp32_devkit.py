"""ESP32-DevKitC and boards like it (ESP32-WROOM), MicroPython."""

NAME = "esp32_devkit"

# GPIO21 and GPIO22 are what most ESP32 boards print as SDA and SCL. MicroPython's own default for I2C 0, 19 and 18, are
# the pins of SPI 2 (docs/esp32/quickref).
I2C_SDA = 21
I2C_SCL = 22
# docs/esp32/quickref: SPI 2 (VSPI); GPIO5 is its CS in the data sheet's IO_MUX table
SPI_CS = 5
SPI_SCK = 18
SPI_MISO = 19
SPI_MOSI = 23
SPI_CS2 = 25
SPI_DC = 26
# docs/esp32/quickref: UART 2; a module with PSRAM (WROVER) uses these two itself
UART_TX = 17
UART_RX = 16
UART_DE = 4


def i2c(freq=400000):
    """I2C 0, freq in Hz."""
    from machine import I2C, Pin

    return I2C(0, scl=Pin(I2C_SCL), sda=Pin(I2C_SDA), freq=freq)


def spi(baudrate=1000000):
    """SPI 2."""
    from machine import SPI, Pin

    return SPI(2, baudrate=baudrate, sck=Pin(SPI_SCK), mosi=Pin(SPI_MOSI), miso=Pin(SPI_MISO))


def uart(baudrate=9600):
    """UART 2. UART 0 is the REPL."""
    from machine import UART, Pin

    return UART(2, baudrate=baudrate, tx=Pin(UART_TX), rx=Pin(UART_RX), timeout=0)
