"""Servo: one of several on a bus, which ignores packets too near each other, after Dynamixel's protocol 1."""

from .node import Node

PING = 1
READ = 2
WRITE = 3


class Servo(Node):
    """Servo(1, gap_ms=1): the servo with that number, and a table of bytes.

    A packet is 0xFF 0xFF, number, length, instruction, parameters and check sum; PING, READ (first, count) and WRITE
    (first, bytes) are answered delay_ms after it by 0xFF 0xFF, number, length, error, bytes and check sum. A packet
    that begins less than gap_ms after the last character on the bus is ignored, and so are those with a wrong check
    sum; ignored and broken count them.
    """

    def __init__(self, number, gap_ms=1, delay_ms=0.5, table=None, baudrate=None):
        super().__init__()
        self.number = number
        self.gap_ms = gap_ms
        self.delay_ms = delay_ms
        self.table = bytearray(64) if table is None else table
        self.baudrate = baudrate
        self.ignored = 0
        self.broken = 0
        self.reset()

    def reset(self):
        self._packet = bytearray()
        self._end_us = None
        self._deaf = False

    def hear(self, byte, start_us, end_us):
        packet = self._packet
        if not packet:
            near = self._end_us is not None and start_us - max(self._end_us, self.busy_until) < self.gap_ms * 1000
            self._deaf = near
        self._end_us = end_us
        packet.append(byte)
        if packet[:2] != b"\xff\xff"[: len(packet)]:
            self._packet = packet[1:] if packet[1:] == b"\xff" else bytearray()
        elif len(packet) >= 4 and len(packet) == 4 + packet[3]:
            self._packet = bytearray()
            if packet[2] != self.number:
                return
            if self._deaf:
                self.ignored += 1
            elif _sum(packet[2:-1]) != packet[-1]:
                self.broken += 1
            else:
                self._obey(packet[4], bytes(packet[5:-1]), end_us)

    def _obey(self, instruction, parameters, us):
        data = b""
        error = 0
        if instruction == READ and len(parameters) == 2:
            data = bytes(self.table[parameters[0] : parameters[0] + parameters[1]])
        elif instruction == WRITE and len(parameters) > 1:
            self.table[parameters[0] : parameters[0] + len(parameters) - 1] = parameters[1:]
        elif instruction != PING:
            error = 0x40
        reply = bytes([self.number, 2 + len(data), error]) + data
        self.answer(b"\xff\xff" + reply + bytes([_sum(reply)]), us)


def _sum(data):
    return ~sum(data) & 0xFF
