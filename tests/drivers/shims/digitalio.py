"""Stands for CircuitPython's module."""

from buslock_sim.digitalio import DigitalInOut, Direction, DriveMode, Pull  # noqa: F401
