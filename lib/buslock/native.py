"""The port's own lock of a bus: CircuitPython's try_lock()."""


class NativeLocked(Exception):
    """It is taken by code outside this package."""
