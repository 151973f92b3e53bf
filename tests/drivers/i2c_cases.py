"""Real drivers on I2C: what each is given, what is asked of it, and what must come back.

A case is (attach, make, expected): attach(wire) puts the part there, and `await make(bus, part)` gives a function whose
awaited result is a reading. Numbers may differ by the resolution of the part.
"""

from buslock_sim import IOExpander, Multiplexer, RegisterFile
from parts import (
    ADS1115,
    AHT20,
    AK8963,
    BME280,
    MPU6500,
    PN532,
    SSD1306,
    Sensirion,
    WordRegisters,
    float_words,
    words,
)

SHT31 = 0x2400  # one measurement, high repeatability


def sht31(celsius, percent):
    return Sensirion({SHT31: (words(celsius, -45, 175), words(percent, 0, 100))})


def attach_sht4x(wire):
    return wire.attach(0x46, Sensirion({0xFD: (words(23.5, -45, 175), words(41.0, -6, 125))}, width=1))


async def make_sht4x(bus, part):
    from micropython_sht4x import sht4x

    sensor = sht4x.SHT4X(bus.as_machine(), 0x46)
    return lambda: bus.call(0x46, lambda: sensor.measurements)


def attach_ahtx0(wire):
    return wire.attach(0x38, AHT20(22.25, 37.5))


async def make_ahtx0(bus, part):
    import ahtx0

    sensor = await bus.call(0x38, ahtx0.AHT20, bus.as_machine())
    return lambda: bus.call(0x38, lambda: (sensor.temperature, sensor.relative_humidity))


def attach_mcp9808(wire):
    return wire.attach(0x18, WordRegisters({5: 0xC1C4, 6: 0x0054, 7: 0x0400}))


async def make_mcp9808(bus, part):
    from micropython_mcp9808 import mcp9808

    sensor = await bus.call(0x18, mcp9808.MCP9808, bus.as_machine())
    return lambda: bus.call(0x18, lambda: sensor.temperature)


def attach_mpu9250(wire):
    mpu = wire.attach(0x68, MPU6500((0, 8192, 16384), (131, 0, -262)))
    wire.attach(0x0C, AK8963(mpu, (100, -200, 300)))


async def make_mpu9250(bus, part):
    from mpu9250 import MPU9250

    async with bus.hold(0x68, 0x0C):
        sensor = MPU9250(bus.as_machine())

    async def read():
        async with bus.hold(0x68, 0x0C):
            return sensor.acceleration + sensor.magnetic

    return read


def attach_scd30(wire):
    return wire.attach(
        0x61, Sensirion({0x0202: (1,), 0x0300: float_words(612.5) + float_words(24.75) + float_words(44.5)})
    )


async def make_scd30(bus, part):
    from scd30 import SCD30

    sensor = await bus.call(0x61, SCD30, bus.as_machine(), 0x61)
    await bus.call(0x61, sensor.start_continous_measurement)
    return lambda: bus.call(0x61, sensor.read_measurement)


def attach_bme280_upy(wire):
    return wire.attach(0x76, BME280())


async def make_bme280_upy(bus, part):
    from bme280 import BME280 as Driver

    sensor = Driver(i2cBus=bus.as_machine())

    async def read():
        async with bus.hold(0x76):  # its asynchronous calls: the wire is free while it waits
            t, _, p = await sensor.readForcedAsync()
        return t, p

    return read


def attach_bme280(wire):
    return wire.attach(0x77, BME280())


async def make_bme280(bus, part):
    from adafruit_bme280.basic import Adafruit_BME280_I2C

    sensor = await bus.call(0x77, Adafruit_BME280_I2C, bus.as_busio())
    return lambda: bus.call(0x77, lambda: (sensor.temperature, sensor.pressure))


def attach_sht31d(wire):
    return wire.attach(0x45, sht31(19.5, 55.0))


async def make_sht31d(bus, part):
    from adafruit_sht31d import SHT31D

    sensor = await bus.call(0x45, SHT31D, bus.as_busio(), 0x45)
    return lambda: bus.call(0x45, lambda: (sensor.temperature, sensor.relative_humidity))


def attach_scd4x(wire):
    return wire.attach(0x62, Sensirion({0xE4B8: (0x8006,), 0xEC05: (745, words(26.5, -45, 175), words(48.0, 0, 100))}))


async def make_scd4x(bus, part):
    from adafruit_scd4x import SCD4X

    sensor = await bus.call(0x62, SCD4X, bus.as_busio())
    await bus.call(0x62, sensor.start_periodic_measurement)
    return lambda: bus.call(0x62, lambda: (sensor.CO2, sensor.temperature, sensor.relative_humidity))


def attach_ads1x15(wire):
    return wire.attach(0x48, ADS1115((0.5, 1.25, 2.5, 3.0)))


async def make_ads1x15(bus, part):
    from adafruit_ads1x15.ads1115 import ADS1115 as Driver
    from adafruit_ads1x15.analog_in import AnalogIn

    adc = await bus.call(0x48, Driver, bus.as_busio())
    inputs = [AnalogIn(adc, n) for n in range(4)]
    return lambda: bus.call(0x48, lambda: [pin.voltage for pin in inputs])


def attach_mcp230xx(wire):
    return wire.attach(0x20, IOExpander(inputs=0x1200))


async def make_mcp230xx(bus, part):
    from adafruit_mcp230xx.mcp23017 import MCP23017

    expander = await bus.call(0x20, MCP23017, bus.as_busio())

    def blink():
        pin = expander.get_pin(3)
        pin.switch_to_output(True)
        return expander.gpioa & 8, expander.gpiob

    return lambda: bus.call(0x20, blink)


def attach_ds3231(wire):
    return wire.attach(
        0x68, RegisterFile({0: 0x56, 1: 0x34, 2: 0x12, 3: 1, 4: 0x29, 5: 0x02, 6: 0x24, 0x11: 0x15, 0x12: 0xC0})
    )


async def make_ds3231(bus, part):
    from adafruit_ds3231 import DS3231

    clock = await bus.call(0x68, DS3231, bus.as_busio())
    return lambda: bus.call(0x68, lambda: (clock.temperature, clock.lost_power))


def attach_tca9548a(wire):
    mux = wire.attach(0x70, Multiplexer())
    mux.channel(0).attach(0x44, sht31(12.0, 30.0))
    mux.channel(5).attach(0x44, sht31(34.0, 60.0))


async def make_tca9548a(bus, part):
    from adafruit_sht31d import SHT31D
    from adafruit_tca9548a import TCA9548A

    def make():
        mux = TCA9548A(bus.as_busio())
        return [SHT31D(mux[n]) for n in (0, 5)]

    # All its channels under the key of the multiplexer.
    sensors = await bus.call(0x70, make)
    return lambda: bus.call(0x70, lambda: [sensor.temperature for sensor in sensors])


def attach_pn532(wire):
    return wire.attach(0x24, PN532(b"\xde\xad\xbe\xef"))


async def make_pn532(bus, part):
    from adafruit_pn532.i2c import PN532_I2C

    reader = await bus.call(0x24, PN532_I2C, bus.as_busio())
    return lambda: bus.call(0x24, lambda: list(reader.firmware_version) + list(reader.read_passive_target()))


def attach_ssd1306(wire):
    return wire.attach(0x3C, SSD1306(512))


async def make_ssd1306(bus, part):
    from adafruit_ssd1306 import SSD1306_I2C

    display = await bus.call(0x3C, SSD1306_I2C, 128, 32, bus.as_busio())

    def draw():
        display.fill(0)
        display.pixel(5, 9, 1)
        display.pixel(127, 31, 1)
        display.show()

    async def read():
        await bus.call(0x3C, draw)
        return [(i, byte) for i, byte in enumerate(part.frame) if byte]

    return read


CASES = {
    "micropython-sht4x": (attach_sht4x, make_sht4x, (23.5, 41.0)),
    "micropython-ahtx0": (attach_ahtx0, make_ahtx0, (22.25, 37.5)),
    "micropython-mcp9808": (attach_mcp9808, make_mcp9808, 28.25),
    "micropython-mpu9250": (attach_mpu9250, make_mpu9250, (0, 4.903325, 9.80665, 15, -30, 45)),
    "micropython-scd30": (attach_scd30, make_scd30, (612.5, 24.75, 44.5)),
    "bme280-upy": (attach_bme280_upy, make_bme280_upy, (25.08, 100653)),
    "adafruit-circuitpython-bme280": (attach_bme280, make_bme280, (25.08, 1006.53)),
    "adafruit-circuitpython-sht31d": (attach_sht31d, make_sht31d, (19.5, 55.0)),
    "adafruit-circuitpython-scd4x": (attach_scd4x, make_scd4x, (745, 26.5, 48.0)),
    "adafruit-circuitpython-ads1x15": (attach_ads1x15, make_ads1x15, (0.5, 1.25, 2.5, 3.0)),
    "adafruit-circuitpython-mcp230xx": (attach_mcp230xx, make_mcp230xx, (8, 0x12)),
    "adafruit-circuitpython-ds3231": (attach_ds3231, make_ds3231, (21.75, False)),
    "adafruit-circuitpython-tca9548a": (attach_tca9548a, make_tca9548a, (12.0, 34.0)),
    "adafruit-circuitpython-pn532": (attach_pn532, make_pn532, (0x32, 1, 6, 7, 0xDE, 0xAD, 0xBE, 0xEF)),
    "adafruit-circuitpython-ssd1306": (attach_ssd1306, make_ssd1306, [(133, 2), (511, 128)]),
}
