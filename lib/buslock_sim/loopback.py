"""Loopback: MOSI connected to MISO."""

from .spichip import SpiChip


class Loopback(SpiChip):
    """Every byte comes back at once, in any mode. received is what came, since the last select(); selections counts."""

    modes = (0, 1, 2, 3)

    def __init__(self, max_baudrate=None):
        self.max_baudrate = max_baudrate
        self.selections = 0
        self.reset()

    def reset(self):
        self.received = bytearray()

    def select(self):
        self.selections += 1
        self.received = bytearray()

    def exchange(self, byte):
        self.received.append(byte)
        return byte
