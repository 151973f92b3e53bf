"""Simulated parts for the drivers' tests: each answers as its data sheet says, as far as its driver asks.

Readings are set from outside and differ from what the drivers begin with, so that a right one was read.
"""

from buslock_sim import Chip, RegisterFile, SpiChip


def crc(data):
    """Sensirion's: polynomial 0x31, start 0xFF."""
    value = 0xFF
    for byte in data:
        value ^= byte
        for _ in range(8):
            value = (value << 1 ^ 0x31 if value & 0x80 else value << 1) & 0xFF
    return value


class Sensirion(Chip):
    """Commands of one or two bytes; the answer is words with a check sum each. It refuses a read without a command.

    `answers`: {command: words}; a command with arguments has them checked. `log` is the commands that came.
    """

    def __init__(self, answers, width=2):
        self.answers = answers
        self.width = width
        self.log = []
        self.reset()

    def reset(self):
        self._bytes = b""
        self._answer = b""

    def start(self, read):
        if read:
            self._finish()
            return len(self._answer) > 0
        self._bytes = b""
        return True

    def write(self, byte):
        self._bytes += bytes([byte])
        return True

    def read(self):
        byte, self._answer = self._answer[:1], self._answer[1:]
        return byte[0] if byte else 0xFF

    def stop(self):
        self._finish()

    def _finish(self):
        given, self._bytes = self._bytes, b""
        if not given:
            return
        command, rest = int.from_bytes(given[: self.width], "big"), given[self.width :]
        for i in range(0, len(rest), 3):
            if crc(rest[i : i + 2]) != rest[i + 2]:
                self.complain("a wrong check sum in the arguments of 0x%04x" % command)
        self.log.append(command)
        self._answer = b""
        for word in self.answers.get(command, ()):
            data = bytes([word >> 8, word & 0xFF])
            self._answer += data + bytes([crc(data)])


def words(value, offset, span, full=65535):
    """The raw word of a quantity: value = offset + span * word / full."""
    return round((value - offset) / span * full)


def float_words(value):
    """A float in two words, as the SCD30 sends it."""
    import struct

    raw = struct.pack(">f", value)
    return [raw[0] << 8 | raw[1], raw[2] << 8 | raw[3]]


class AHT20(Chip):
    """0xBA reset, 0xE1 or 0xBE calibration, 0xAC measurement, which takes 20 ms; read: status, humidity, temperature."""

    def __init__(self, celsius, percent):
        self.celsius = celsius
        self.percent = percent
        self.reset()

    def reset(self):
        self._bytes = b""
        self._index = 0
        self._calibrated = False
        self._busy_until = 0
        self._data = bytes(5)

    def start(self, read):
        self._bytes = b""
        self._index = 0
        return True

    def write(self, byte):
        self._bytes += bytes([byte])
        return True

    def read(self):
        busy = self.now_us() < self._busy_until
        status = (0x80 if busy else 0) | (0x08 if self._calibrated else 0)
        data = bytes([status]) + (bytes(5) if busy else self._data)
        self._index += 1
        return data[(self._index - 1) % 6]

    def stop(self):
        given, self._bytes = self._bytes, b""
        if given[:1] == b"\xba":
            self.reset()
        elif given[:1] in (b"\xe1", b"\xbe"):  # the AHT10, the AHT20
            self._calibrated = True
        elif given == b"\xac\x33\x00":
            if self.now_us() < self._busy_until:
                self.complain("a measurement is started while one runs")
            self._busy_until = self.now_us() + 20000
            h = round(self.percent / 100 * 0x100000)
            t = round((self.celsius + 50) / 200 * 0x100000)
            self._data = bytes([h >> 12, h >> 4 & 0xFF, (h & 15) << 4 | t >> 16, t >> 8 & 0xFF, t & 0xFF])


class WordRegisters(Chip):
    """Registers of 16 bits, high byte first, which do not count up."""

    def __init__(self, values):
        self.values = dict(values)
        self.reset()

    def reset(self):
        self._register = 0
        self._index = 0
        self._high = 0

    def start(self, read):
        self._index = 0 if read else -1
        if read:
            self._value = self.get(self._register)
        return True

    def write(self, byte):
        if self._index < 0:
            self._register = byte
        elif self._index == 0:
            self._high = byte
        else:
            self.put(self._register, self._high << 8 | byte)
        self._index += 1
        return True

    def read(self):
        self._index += 1
        return (self._value >> 8 if self._index & 1 else self._value) & 0xFF

    def get(self, register):
        return self.values.get(register, 0)

    def put(self, register, value):
        self.values[register] = value


class ADS1115(WordRegisters):
    """Four inputs; a conversion of 5 ms is started by bit 15 of the configuration, register 1."""

    RANGES = (6.144, 4.096, 2.048, 1.024, 0.512, 0.256)

    def __init__(self, volts):
        super().__init__({1: 0x8583})
        self.volts = volts
        self._ready_at = 0
        self._result = 0

    def get(self, register):
        done = self.now_us() >= self._ready_at
        if register == 0:
            if done:
                self.values[0] = self._result
        elif register == 1:
            return self.values[1] & 0x7FFF | (0x8000 if done else 0)
        return super().get(register)

    def put(self, register, value):
        super().put(register, value)
        if register == 1 and value & 0x8000:
            volts = self.volts[(value >> 12 & 7) - 4]
            self._result = round(volts / self.RANGES[value >> 9 & 7] * 32768) & 0xFFFF
            self._ready_at = self.now_us() + 5000


class MPU6500(RegisterFile):
    """Acceleration at 0x3B, temperature at 0x41, rotation at 0x43; bit 1 of 0x37 connects the magnetometer."""

    def __init__(self, acceleration, rotation):
        values = {0x75: 0x71, 0x6B: 0x40, 0x41: 0x0C, 0x42: 0x10}
        for base, triple in ((0x3B, acceleration), (0x43, rotation)):
            for i, value in enumerate(triple):
                values[base + 2 * i] = value >> 8 & 0xFF
                values[base + 2 * i + 1] = value & 0xFF
        super().__init__(values, readonly=(0x75,))

    def put(self, register, value):
        if register == 0x6B and value & 0x80:
            self.reset()
        else:
            super().put(register, value)


class AK8963(RegisterFile):
    """The magnetometer inside the MPU9250, at an address of its own."""

    def __init__(self, mpu, field):
        values = {0x00: 0x48, 0x10: 128, 0x11: 128, 0x12: 128}
        for i, value in enumerate(field):
            values[3 + 2 * i] = value & 0xFF
            values[4 + 2 * i] = value >> 8 & 0xFF
        super().__init__(values)
        self.mpu = mpu

    def start(self, read):
        return self.mpu[0x37] & 2 != 0 and super().start(read)


# The example of the data sheet of the BMP280, whose formulas the BME280 shares: 25.08 degrees, 100653 Pa.
_CALIBRATION = (27504, 26435, -1000, 36477, -10685, 3024, 2855, 140, -7, 15500, -14600, 6000)
_TEMPERATURE = 519888
_PRESSURE = 415148


def bme280_values():
    values = {0xD0: 0x60, 0xA1: 75, 0xE1: 0x6A, 0xE2: 0x01, 0xE4: 0x14, 0xE5: 0x2A, 0xE6: 0x03, 0xE7: 0x1E, 0xFD: 0x6E}
    for i, value in enumerate(_CALIBRATION):
        values[0x88 + 2 * i] = value & 0xFF
        values[0x89 + 2 * i] = value >> 8 & 0xFF
    return values


class BME280(RegisterFile):
    """A measurement takes 5 ms; without one the values are those after power-on, 0x80000."""

    def __init__(self):
        super().__init__(bme280_values(), readonly=(0xD0,))

    def reset(self):
        super().reset()
        self._ready_at = None
        self[0xF7] = self[0xFA] = 0x80

    def get(self, register):
        if self._ready_at is not None and self.now_us() >= self._ready_at:
            self._ready_at = None
            for base, raw in ((0xF7, _PRESSURE), (0xFA, _TEMPERATURE)):
                for i in range(3):
                    self[base + i] = raw << 4 >> 16 - 8 * i & 0xFF
        if register == 0xF3:
            return 0 if self._ready_at is None else 0x08
        return super().get(register)

    def put(self, register, value):
        if register == 0xE0:
            if value == 0xB6:
                self.reset()
        elif register in (0xF2, 0xF4, 0xF5):
            super().put(register, value)
            if register == 0xF4 and value & 3:
                self._ready_at = self.now_us() + 5000


class BME280SPI(SpiChip):
    """The same registers behind SPI: bit 7 of the first byte is 1 for a read, which counts up."""

    modes = (0, 3)
    max_baudrate = 10000000

    def __init__(self):
        self.registers = BME280()

    def select(self):
        self._command = None

    def exchange(self, byte):
        command = self._command
        if command is None:
            self._command = byte
        elif command & 0x80:
            self._command = command + 1 & 0xFF | 0x80
            return self.registers.get(command)
        else:
            self.registers.put(command | 0x80, byte)
            self._command = None
        return 0xFF


class PN532(Chip):
    """Frames in, an acknowledge and a frame out; each read begins with the status, 1 for ready."""

    ACK = b"\x00\x00\xff\x00\xff\x00"
    ANSWERS = {0x02: b"\x32\x01\x06\x07", 0x14: b""}

    def __init__(self, uid):
        self.uid = uid
        self.reset()

    def reset(self):
        self._bytes = b""
        self._index = 0
        self._out = []

    def start(self, read):
        self._bytes = b""
        self._index = 0
        return True

    def write(self, byte):
        self._bytes += bytes([byte])
        return True

    def read(self):
        index = self._index
        self._index += 1
        if index == 0:
            return 1 if self._out else 0
        frame = self._out[0] if self._out else b""
        return frame[index - 1] if index <= len(frame) else 0

    def stop(self):
        if self._index > 1 and self._out:
            self._out.pop(0)
        given, self._bytes = self._bytes, b""
        self._index = 0
        if not given:
            return
        data = given[5:-2]
        if given[:3] != b"\x00\x00\xff" or given[3] != len(data) or sum(data) + given[-2] & 0xFF:
            self.complain("no frame: %r" % given)
        command = data[1]
        answer = self.ANSWERS.get(command)
        if command == 0x4A:
            answer = b"\x01\x01\x00\x04\x08" + bytes([len(self.uid)]) + self.uid
        body = bytes([0xD5, command + 1]) + answer
        head = b"\x00\x00\xff" + bytes([len(body), -len(body) & 0xFF])
        self._out = [self.ACK, head + body + bytes([-sum(body) & 0xFF, 0])]


class SSD1306(Chip):
    """Control byte 0x80: one command; 0x40: bytes of the frame, which begins anew after a page address (0x22)."""

    def __init__(self, size=512):
        self.frame = bytearray(size)
        self.commands = []
        self.reset()

    def reset(self):
        self._pointer = 0
        self._control = None

    def start(self, read):
        self._control = None
        return not read

    def write(self, byte):
        if self._control is None:
            self._control = byte
        elif self._control & 0x40:
            self.frame[self._pointer % len(self.frame)] = byte
            self._pointer += 1
        else:
            self.commands.append(byte)
            if byte == 0x22:
                self._pointer = 0
        return True
