"""No board at all: three simulated chips on one simulated I2C bus, with the interface of the real boards' files.

Attach your own chips to it: board.wire.attach(0x50, EEPROM()). reset() gives a bus as after power-on.
"""

from buslock_sim import I2C, IOExpander, Pin, RegisterFile, Thermometer, Wire

NAME = "sim"

# The chips' addresses
THERMOMETER = 0x48
EXPANDER = 0x20
PRESSURE = 0x76


def reset(port="rp2"):
    """A new wire with new chips, whose I2C has the habits of that port."""
    global wire, thermometer, expander, pressure, I2C_SCL, I2C_SDA, _port
    _port = port
    wire = Wire("I2C 0")
    thermometer = wire.attach(THERMOMETER, Thermometer(21.5, conversion_ms=750))
    expander = wire.attach(EXPANDER, IOExpander(inputs=0x00A5))
    # 0xD0 is the identity, 0xF7 to 0xF9 the pressure in Pa, high byte first: 101325
    pressure = wire.attach(PRESSURE, RegisterFile({0xD0: 0x60, 0xF7: 0x01, 0xF8: 0x8B, 0xF9: 0xCD}, readonly=(0xD0,)))
    I2C_SCL = Pin(wire.scl)
    I2C_SDA = Pin(wire.sda)


def i2c(freq=400000):
    """The raw I2C peripheral, freq in Hz."""
    return I2C(wire, port=_port, freq=freq)


def spi(baudrate=1000000):
    raise NotImplementedError("the simulator has no SPI yet")


def uart(baudrate=9600):
    raise NotImplementedError("the simulator has no UART yet")


reset()
