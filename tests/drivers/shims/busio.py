"""Stands for CircuitPython's module: names to import, and none of Blinka's boards."""

from buslock_sim import BusioI2C as I2C  # noqa: F401
from buslock_sim import BusioSPI as SPI  # noqa: F401
from buslock_sim import BusioUART as UART  # noqa: F401
