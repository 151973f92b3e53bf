"""Chips that make trouble. Any other chip does the same by its fail(), hold_sda(), hold_scl() and stretch_us."""

from .registers import RegisterFile


class StuckChip(RegisterFile):
    """Holds SDA low after so many data bytes (None: when told by hold_sda()) until it has seen clocks clocks on SCL.

    This is a chip that was interrupted in a read, by a reset of the master say, and waits for the rest of it.
    """

    def __init__(self, after=None, clocks=9, values=None):
        super().__init__(values)
        self.after = after
        self.clocks = clocks

    def write(self, byte):
        return self._count(super().write(byte))

    def read(self):
        return self._count(super().read())

    def _count(self, result):
        if self.after is not None:
            self.after -= 1
            if self.after <= 0:
                self.after = None
                self.hold_sda(self.clocks)
        return result


class Stretcher(RegisterFile):
    """Stretches the clock by ms after each byte. A master that waits less long gives up with a time-out."""

    def __init__(self, ms, values=None):
        super().__init__(values)
        self.stretch_us = ms * 1000
