"""StepperDriver: one of up to four on a single wire, after Trinamic's TMC2209."""

from .crc import crc8
from .node import Node

SYNC = 0x05
MASTER = 0xFF
WRITE = 0x80
IFCNT = 0x02


class StepperDriver(Node):
    """StepperDriver(0, {0x06: 0x21000000}): the driver with that address, 0 to 3, and its registers of 32 bits.

    A read is 0x05, address, register and CRC, answered after delay_ms (None: 8 bits, as after power-on) by 0x05, 0xFF,
    register, four bytes and CRC. A write is 0x05, address, register + 0x80, four bytes and CRC; nothing answers, but
    register 2, IFCNT, counts it. A pause of more than 63 bits in a datagram, or a wrong start, makes it wait for a
    pause; broken counts these and wrong CRCs. Put it on a UartLine(echo=True).
    """

    def __init__(self, address, registers=None, delay_ms=None, baudrate=None):
        super().__init__()
        self.address = address
        self.registers = {} if registers is None else registers
        self.delay_ms = delay_ms
        self.baudrate = baudrate
        self.broken = 0
        self.reset()

    def reset(self):
        self.registers[IFCNT] = 0
        self._datagram = bytearray()
        self._end_us = 0
        self._astray = False

    def hear(self, byte, start_us, end_us):
        bit_us = self.line.char_us // 10
        if start_us - self._end_us > 63 * bit_us:
            if self._datagram:
                self.broken += 1
            self._datagram = bytearray()
            self._astray = False
        self._end_us = end_us
        if self._astray:
            return
        datagram = self._datagram
        datagram.append(byte)
        if datagram[0] & 0x0F != SYNC:
            self._astray = True
            self.broken += 1
            self._datagram = bytearray()
        elif len(datagram) == 8 or (len(datagram) == 4 and datagram[1] != MASTER and not datagram[2] & WRITE):
            self._datagram = bytearray()
            self._obey(bytes(datagram), end_us, bit_us)

    def _obey(self, datagram, us, bit_us):
        if datagram[1] != self.address:
            return
        if crc8(datagram[:-1]) != datagram[-1]:
            self.broken += 1
            return
        register = datagram[2] & 0x7F
        if datagram[2] & WRITE:
            value = 0
            for byte in datagram[3:7]:
                value = value << 8 | byte
            self.registers[register] = value
            self.registers[IFCNT] = self.registers[IFCNT] + 1 & 0xFF
            return
        value = self.registers.get(register, 0)
        reply = bytes([SYNC, MASTER, register] + [value >> shift & 0xFF for shift in (24, 16, 8, 0)])
        delay_ms = 8 * bit_us / 1000 if self.delay_ms is None else self.delay_ms
        self.answer(reply + bytes([crc8(reply)]), us, delay_ms)
