"""Thermocouple: a converter with registers that takes over the clock's mode at CS, after the MAX31865."""

from .spichip import SpiChip

CONFIG = 0
BIAS = 0x80
AUTO = 0x40
ONE_SHOT = 0x20
CLEAR_FAULT = 0x02


class Thermocouple(SpiChip):
    """Eight registers: 0 configuration, 1 and 2 the ratio (high byte first), 3 to 6 thresholds, 7 faults.

    The first byte is the register's number, with 0x80 added for a write, and counts up. The ratio is ohms / reference
    in 15 bits, shifted left by one. ONE_SHOT (0x20) in the configuration starts one conversion of conversion_ms, if
    BIAS (0x80) is on; AUTO (0x40) converts all the time. Until then the old ratio is read. Set ohms to change what
    is measured; conversions counts. It samples SCK when CS becomes active, to know the polarity: only modes 1 and 3.
    """

    modes = (1, 3)
    max_baudrate = 5000000

    def __init__(self, ohms=100.0, reference=430.0, conversion_ms=55):
        self.ohms = ohms
        self.reference = reference
        self.conversion_ms = conversion_ms
        self.conversions = 0
        self.reset()

    def reset(self):
        self._registers = bytearray(b"\x00\x00\x00\xff\xff\x00\x00\x00")
        self._done_us = None
        self._number = None

    def _convert(self):
        if self._done_us is None or self.now_us() < self._done_us:
            return
        ratio = min(0x7FFF, int(self.ohms * 32768 / self.reference)) << 1
        self._registers[1] = ratio >> 8
        self._registers[2] = ratio & 0xFF
        self.conversions += 1
        if self._registers[CONFIG] & AUTO:
            self._done_us = self.now_us() + self.conversion_ms * 1000
        else:
            self._done_us = None
            self._registers[CONFIG] &= ~ONE_SHOT

    def select(self):
        self._number = None
        self._convert()

    def exchange(self, byte):
        if self._number is None:
            self._number = byte & 0x87
            return 0xFF
        number = self._number & 7
        self._number = self._number & 0x80 | (number + 1 & 7)
        if self._number & 0x80:
            self._write(number, byte)
            return 0xFF
        return self._registers[number]

    def _write(self, number, byte):
        if number in (1, 2, 7):
            self.complain("register %d is read-only" % number)
        if number == CONFIG:
            if byte & CLEAR_FAULT:
                self._registers[7] = 0
                byte &= ~CLEAR_FAULT
            if byte & (ONE_SHOT | AUTO) and byte & BIAS:
                self._done_us = self.now_us() + self.conversion_ms * 1000
        self._registers[number] = byte
