"""Thermometer: temperature with a conversion that takes its time, after the TMP117."""

from .chip import Chip

TEMPERATURE = 0x00
CONFIG = 0x01
ID = 0x0F

MODE = 0x0C00
CONTINUOUS = 0x0000
SHUTDOWN = 0x0400
ONE_SHOT = 0x0C00
READY = 0x2000


class Thermometer(Chip):
    """Registers of 16 bits, high byte first, chosen by one byte; they do not count up.

    0x00 temperature in 1/128 degree Celsius, two's complement; 0x01 configuration; 0x0F identity (0x0117).
    After power-on it converts all the time and a read gives the present temperature. Writing 0x0C00 to the
    configuration starts one conversion of conversion_ms; until it has ended a read gives the old value and bit 0x2000
    of the configuration, data ready, is 0. Reading the temperature or the configuration clears that bit. 0x0400 is
    shut-down. Set celsius to change the temperature around the chip.
    """

    def __init__(self, celsius=20.0, conversion_ms=125):
        self.celsius = celsius
        self.conversion_ms = conversion_ms
        self.conversions = 0
        self.reset()

    def reset(self):
        self._mode = CONTINUOUS
        self._result = self._measure()
        self._ready = True
        self._end_us = None
        self._register = TEMPERATURE
        self._bytes = b""
        self._index = 0

    def _measure(self):
        return round(self.celsius * 128) & 0xFFFF

    def _convert(self):
        """Bring the result up to date."""
        if self._mode == CONTINUOUS:
            self._result = self._measure()
            self._ready = True
        elif self._end_us is not None and self.now_us() >= self._end_us:
            self._end_us = None
            self._mode = SHUTDOWN
            self._result = self._measure()
            self._ready = True
            self.conversions += 1

    def _value(self):
        self._convert()
        register = self._register
        if register == ID:
            return 0x0117
        ready, self._ready = self._ready, False
        if register == TEMPERATURE:
            return self._result
        return self._mode | (READY if ready else 0)

    def start(self, read):
        self._index = 0
        if read:
            value = self._value()
            self._bytes = bytes([value >> 8, value & 0xFF])
        else:
            self._bytes = b""
        return True

    def write(self, byte):
        index = self._index
        self._index += 1
        if index == 0:
            if byte not in (TEMPERATURE, CONFIG, ID):
                return False
            self._register = byte
        else:
            if self._register != CONFIG:
                self.complain("register 0x%02x is read-only" % self._register)
            if index > 2:
                return False
            self._bytes += bytes([byte])
            if index == 2:
                self._configure(self._bytes[0] << 8 | byte)
        return True

    def _configure(self, value):
        self._convert()
        self._mode = value & MODE
        self._end_us = None
        if self._mode == ONE_SHOT:
            self._ready = False
            self._end_us = self.now_us() + self.conversion_ms * 1000

    def read(self):
        index = self._index
        self._index += 1
        return self._bytes[index & 1]

    def stop(self):
        if self._index == 2 and len(self._bytes) == 1:
            self._index = 0
            self.complain("the configuration was written with one byte of two")
