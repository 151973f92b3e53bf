"""No board at all: simulated buses with chips on them, and the interface of the real boards' files.

I2C: a thermometer, an I/O expander and a pressure sensor. SPI: NOR flash on SPI_CS, a display on SPI_CS2 and SPI_DC.
UART: an RS-485 bus with UART_DE and two Modbus nodes, or what else uart_line is set to.

Attach your own chips: board.wire.attach(0x50, EEPROM()). reset() gives everything as after power-on.
"""

from buslock_sim import (
    I2C,
    SPI,
    UART,
    Display,
    IOExpander,
    ModbusNode,
    NORFlash,
    Pin,
    RegisterFile,
    SpiWire,
    Thermometer,
    UartLine,
    Wire,
)

NAME = "sim"

# The chips' addresses
THERMOMETER = 0x48
EXPANDER = 0x20
PRESSURE = 0x76
# The Modbus nodes', each with the holding registers 0 to 9
NODES = (17, 18)

# Ports that differ from others in I2C only
_SPI_PORTS = {"esp32_legacy": "esp32"}
_UART_PORTS = {"esp32_legacy": "esp32", "soft": "rp2"}


def reset(port="rp2"):
    """New wires with new chips, and peripherals with the habits of that port."""
    global wire, thermometer, expander, pressure, I2C_SCL, I2C_SDA, _port
    _port = port
    wire = Wire("I2C 0")
    thermometer = wire.attach(THERMOMETER, Thermometer(21.5, conversion_ms=750))
    expander = wire.attach(EXPANDER, IOExpander(inputs=0x00A5))
    # 0xD0 is the identity, 0xF7 to 0xF9 the pressure in Pa, high byte first: 101325
    pressure = wire.attach(PRESSURE, RegisterFile({0xD0: 0x60, 0xF7: 0x01, 0xF8: 0x8B, 0xF9: 0xCD}, readonly=(0xD0,)))
    I2C_SCL = Pin(wire.scl)
    I2C_SDA = Pin(wire.sda)
    _reset_spi()
    _reset_uart()


def _reset_spi():
    global spi_wire, flash, display, SPI_CS, SPI_CS2, SPI_DC
    spi_wire = SpiWire("SPI 0")
    flash = spi_wire.attach("flash", NORFlash())
    display = spi_wire.attach("display", Display(dc=spi_wire.line("dc")))
    SPI_CS = Pin(spi_wire.line("flash"))
    SPI_CS2 = Pin(spi_wire.line("display"))
    SPI_DC = Pin(spi_wire.line("dc"))


def _reset_uart():
    global uart_line, nodes, UART_DE
    uart_line = UartLine("UART 0", de=True)
    nodes = [uart_line.attach(ModbusNode(address, {i: 100 * address + i for i in range(10)})) for address in NODES]
    UART_DE = Pin(uart_line.de)


def i2c(freq=400000):
    """The raw I2C peripheral, freq in Hz."""
    return I2C(wire, port=_port, freq=freq)


def spi(baudrate=1000000):
    """The raw SPI peripheral."""
    return SPI(spi_wire, port=_SPI_PORTS.get(_port, _port), baudrate=baudrate)


def uart(baudrate=9600):
    """The raw UART peripheral, on uart_line."""
    return UART(uart_line, port=_UART_PORTS.get(_port, _port), baudrate=baudrate, timeout=0)


reset()
