"""Simulated I2C, SPI and UART buses, pins and chips, for testing drivers on the desk.

    from buslock_sim import Wire, I2C, Thermometer
    wire = Wire()
    wire.attach(0x48, Thermometer(21.5))
    i2c = I2C(wire, port="rp2", freq=400_000)      # has the methods and the errors of machine.I2C on that port
    i2c.readfrom_mem(0x48, 0, 2)
    wire.check()                                   # raises what somebody did wrong on the wire, swallowed or not

    wire = SpiWire()                               # SPI: see SpiWire; and UART: see UartLine
    wire.attach("flash", NORFlash())
    spi, cs = SPI(wire, port="rp2"), Pin(wire.line("flash"), Pin.OUT, value=1)

Runs on MicroPython, CircuitPython and CPython and does not need buslock. Names load their module on first use.
"""

import sys

from . import clock

_HOME = {
    "Wire": "wire",
    "I2C": "i2c",
    "SoftI2C": "i2c",
    "BusioI2C": "busio",
    "Pin": "pin",
    "DigitalInOut": "digitalio",
    "Direction": "digitalio",
    "DriveMode": "digitalio",
    "Pull": "digitalio",
    "PORTS": "ports",
    "Port": "ports",
    "Chip": "chip",
    "RegisterFile": "registers",
    "Thermometer": "thermometer",
    "IOExpander": "expander",
    "EEPROM": "eeprom",
    "Multiplexer": "multiplexer",
    "StuckChip": "troublemakers",
    "Stretcher": "troublemakers",
    "SpiWire": "spiwire",
    "SPI": "spi",
    "SoftSPI": "spi",
    "BusioSPI": "busiospi",
    "AsyncSPI": "asyncspi",
    "SpiPort": "spiports",
    "SpiChip": "spichip",
    "Loopback": "loopback",
    "Display": "display",
    "SDCard": "sdcard",
    "NORFlash": "flash",
    "Radio": "radio",
    "Thermocouple": "thermocouple",
    "UartLine": "uartline",
    "UART": "uart",
    "BusioUART": "busiouart",
    "UartPort": "uartports",
    "Node": "node",
    "ModbusNode": "modbus",
    "StepperDriver": "stepper",
    "GPS": "gps",
    "Modem": "modem",
    "Servo": "servo",
    "open_streams": "streams",
    "Net": "net",
    "ProtocolError": "errors",
    "VirtualClock": "clock",
    "check": "errors",
    "forget": "errors",
}

__all__ = ("clock",) + tuple(_HOME)


def __getattr__(name):
    home = _HOME.get(name)
    if home is None:
        raise AttributeError("buslock_sim has no %s" % name)
    home = __name__ + "." + home
    __import__(home)
    value = getattr(sys.modules[home], name)
    globals()[name] = value
    return value
