"""Whether the peripherals of CircuitPython are what the library takes. Never run: checked by the command `test`."""

# pyright: reportUnnecessaryTypeIgnoreComment=error, reportUnnecessaryComparison=error, reportUnusedCoroutine=error

import bitbangio
import board
import busio
import digitalio
from buslock import I2CBus
from buslock.peripherals import BusioI2C, BusioSPI, BusioUART, DigitalPin
from microcontroller import Pin


async def i2c(scl: Pin, sda: Pin) -> None:
    ready: BusioI2C = busio.I2C(scl, sda)
    soft: BusioI2C = bitbangio.I2C(scl, sda)
    I2CBus(ready)
    I2CBus(soft)
    I2CBus(board.I2C)
    I2CBus(lambda: busio.I2C(scl, sda), close=busio.I2C.deinit, scl=scl, sda=sda)
    I2CBus(busio.SPI(scl))  # pyright: ignore[reportArgumentType]


def others(one: Pin, two: Pin) -> tuple[BusioSPI, BusioSPI, BusioUART, DigitalPin]:
    cs = digitalio.DigitalInOut(one)
    return busio.SPI(one), bitbangio.SPI(one), busio.UART(one, two), cs
