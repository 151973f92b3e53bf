"""Real drivers on SPI, as in i2c_cases: attach(wire) puts the part at a chip select, with what else it has."""

from buslock_sim import DigitalInOut, Display, Thermocouple
from parts import BME280SPI


def attach_bme280(wire):
    return wire.attach("bme280", BME280SPI())


async def make_bme280(bus, wire, part):
    from adafruit_bme280.basic import Adafruit_BME280_SPI

    device = bus.device(DigitalInOut(wire.line("bme280")))
    spi = device.as_busio()
    sensor = await bus.call(device, Adafruit_BME280_SPI, spi, spi.cs)
    return lambda: bus.call(device, lambda: (sensor.temperature, sensor.pressure))


def attach_max31865(wire):
    return wire.attach("rtd", Thermocouple(ohms=110.0))


async def make_max31865(bus, wire, part):
    from adafruit_max31865 import MAX31865

    device = bus.device(DigitalInOut(wire.line("rtd")))
    spi = device.as_busio()
    sensor = await bus.call(device, MAX31865, spi, spi.cs)
    return lambda: bus.call(device, lambda: sensor.temperature)


def attach_ssd1306(wire):
    return wire.attach("display", Display(512, dc=wire.line("dc"), homes=(0x22,)))


async def make_ssd1306(bus, wire, part):
    from adafruit_ssd1306 import SSD1306_SPI

    device = bus.device(DigitalInOut(wire.line("display")))
    spi = device.as_busio()
    dc = DigitalInOut(wire.line("dc"))
    display = await bus.call(device, SSD1306_SPI, 128, 32, spi, dc, None, spi.cs)

    def draw():
        display.fill(0)
        display.pixel(5, 9, 1)
        display.pixel(127, 31, 1)
        display.show()

    async def read():
        await bus.call(device, draw)
        return [(i, byte) for i, byte in enumerate(part.frame) if byte]

    return read


CASES = {
    "adafruit-circuitpython-bme280": (attach_bme280, make_bme280, (25.08, 1006.53)),
    "adafruit-circuitpython-max31865": (attach_max31865, make_max31865, 25.686),
    "adafruit-circuitpython-ssd1306": (attach_ssd1306, make_ssd1306, [(133, 2), (511, 128)]),
}
