"""Whether the peripherals of MicroPython's ports are what the library takes. Never run: checked by the command `test`,
against the stubs of each port."""

# pyright: reportUnnecessaryTypeIgnoreComment=error, reportUnnecessaryComparison=error, reportUnusedCoroutine=error

from buslock import I2CBus
from buslock.peripherals import MachineI2C, MachinePin, MachineSPI, MachineUART
from machine import I2C, SPI, UART, Pin, SoftI2C, SoftSPI


async def i2c() -> None:
    ready: MachineI2C = I2C(0, scl=Pin(5), sda=Pin(4))
    soft: MachineI2C = SoftI2C(scl=Pin(5), sda=Pin(4))
    pin: MachinePin = Pin(5, Pin.OPEN_DRAIN, value=1)
    I2CBus(ready)
    I2CBus(soft)
    I2CBus(I2C(0), scl=pin, sda=4)
    I2CBus(lambda: I2C(0, freq=400_000), close=I2C.deinit, scl=Pin(5), sda=Pin(4))

    async def powered() -> SoftI2C:
        return SoftI2C(Pin(5), Pin(4))

    bus = I2CBus(powered)
    data: bytes = await bus.read_register(0x48, 0, 2)
    print(data)
    I2CBus(SPI(0))  # pyright: ignore[reportArgumentType]
    I2CBus(UART(0))  # pyright: ignore[reportArgumentType]
    I2CBus(I2C)  # pyright: ignore[reportArgumentType]


def others() -> tuple[MachineSPI, MachineSPI, MachineUART]:
    return SPI(0, baudrate=1_000_000), SoftSPI(sck=Pin(2), mosi=Pin(3), miso=Pin(4)), UART(0, 9600)
