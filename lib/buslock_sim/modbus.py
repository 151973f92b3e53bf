"""ModbusNode: a Modbus RTU slave."""

from .crc import crc16
from .node import Node

READ_HOLDING = 3
READ_INPUT = 4
WRITE_ONE = 6
WRITE_MANY = 16


class ModbusNode(Node):
    """ModbusNode(17, {0: 1234, 1: 5678}): the slave with that address, and its registers of 16 bits.

    It knows functions 3 and 4 (read, of the same registers), 6 and 16 (write); others, and registers that it does not
    have, get an exception reply. Address 0 is for all, and nobody answers. As a real one it finds the ends of frames by
    the silence of 3.5 characters (1.75 ms above 19200 baud): frames nearer to each other than that, or with a pause
    of more than 1.5 characters inside, are none, and ignored like those with a wrong CRC; broken counts them. The
    reply begins delay_ms after that silence. requests counts the frames for this address.
    """

    def __init__(self, address, registers=None, delay_ms=2, baudrate=None):
        super().__init__()
        self.address = address
        self.registers = {} if registers is None else registers
        self.delay_ms = delay_ms
        self.baudrate = baudrate
        self.requests = 0
        self.broken = 0
        self.reset()

    def reset(self):
        self._frame = bytearray()
        self._end_us = 0
        self._spoilt = False
        self._char_us = None

    def _measure(self, line):
        """How long pauses and silences are at the present baud rate."""
        self._char_us = line.char_us
        tenth = line.char_us // 10 if line.baudrate <= 19200 else 50
        self._pause_us = 15 * tenth
        self._silence_us = 35 * tenth

    def hear(self, byte, start_us, end_us):
        if self._char_us != self.line.char_us:
            self._measure(self.line)
        if self._frame and start_us - self._end_us > self._pause_us:
            self._spoilt = True
        self._frame.append(byte)
        self._end_us = end_us
        self.due_us = end_us + self._silence_us

    def tick(self, us):
        frame = bytes(self._frame)
        spoilt = self._spoilt
        self._frame = bytearray()
        self._spoilt = False
        if spoilt or len(frame) < 4 or crc16(frame[:-2]) != frame[-2:]:
            self.broken += 1
            return
        if frame[0] not in (0, self.address):
            return
        self.requests += 1
        reply = self._reply(frame[1], frame[2:-2])
        if frame[0]:
            reply = bytes([self.address]) + reply
            self.answer(reply + crc16(reply), us)

    def _reply(self, function, body):
        if function not in (READ_HOLDING, READ_INPUT, WRITE_ONE, WRITE_MANY):
            return bytes([function | 0x80, 1])
        if len(body) < 4 or (len(body) != 4 and function != WRITE_MANY):
            return bytes([function | 0x80, 3])
        first = body[0] << 8 | body[1]
        count = body[2] << 8 | body[3]
        registers = self.registers
        if function == WRITE_ONE:
            if first not in registers:
                return bytes([function | 0x80, 2])
            registers[first] = count
            return bytes([function]) + body
        if not 1 <= count <= 125 or (function == WRITE_MANY and len(body) != 5 + 2 * count):
            return bytes([function | 0x80, 3])
        wanted = range(first, first + count)
        for register in wanted:
            if register not in registers:
                return bytes([function | 0x80, 2])
        if function == WRITE_MANY:
            for i, register in enumerate(wanted):
                registers[register] = body[5 + 2 * i] << 8 | body[6 + 2 * i]
            return bytes([function]) + body[:4]
        data = bytearray([function, 2 * count])
        for register in wanted:
            data.append(registers[register] >> 8 & 0xFF)
            data.append(registers[register] & 0xFF)
        return bytes(data)
