"""Stands for MicroPython's module. Some drivers ask whether what they are given is an I2C of it: here ours is one."""

from buslock.i2cfacade import MachineI2C as I2C  # noqa: F401
from buslock.spifacade import MachineCS as Pin  # noqa: F401
from buslock.spifacade import MachineSPI as SPI  # noqa: F401

SoftI2C = I2C
SoftSPI = SPI
