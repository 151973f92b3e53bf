"""Radio: registers behind commands, after the nRF24L01+."""

from .spichip import SpiChip

STATUS = 0x07
FIFO_STATUS = 0x17
RX_DR = 0x40
TX_DS = 0x20
_ADDRESSES = (0x0A, 0x0B, 0x10)  # the registers of five bytes
_DEFAULTS = {0x00: 0x08, 0x01: 0x3F, 0x02: 0x03, 0x03: 0x03, 0x04: 0x03, 0x05: 0x02, 0x06: 0x0E}


class Radio(SpiChip):
    """R_REGISTER 0x00, W_REGISTER 0x20, R_RX_PAYLOAD 0x61, W_TX_PAYLOAD 0xA0, FLUSH_TX 0xE1, FLUSH_RX 0xE2, NOP 0xFF.

    The first byte that comes back is always the status. Of the status a 1 clears RX_DR, TX_DS and MAX_RT. Radio(ce=...)
    with a line: a payload goes on the air when CE is high; without, at once. That takes air_ms, then TX_DS is set. For
    tests: sent is what went on the air, deliver(payload) puts one into the receive FIFO, chip[register] is a register.
    """

    modes = (0,)
    max_baudrate = 10000000

    def __init__(self, ce=None, air_ms=1):
        self.ce = ce
        self.air_ms = air_ms
        if ce is not None:
            ce.on_edge = self._ce_moved
        self.reset()

    def reset(self):
        self._registers = bytearray(0x20)
        for register in _DEFAULTS:
            self._registers[register] = _DEFAULTS[register]
        self._addresses = {0x0A: b"\xe7" * 5, 0x0B: b"\xc2" * 5, 0x10: b"\xe7" * 5}
        self._flags = 0
        self._to_send = []
        self._received = []
        self._done_us = None
        self.sent = []
        self._bytes = bytearray()
        self._answer = b""

    def __getitem__(self, register):
        """A register's value; bytes for an address."""
        if register in _ADDRESSES:
            return self._addresses[register]
        if register == STATUS:
            return self._status()
        if register == FIFO_STATUS:
            return (0 if self._received else 0x01) | (0 if self._to_send else 0x10)
        return self._registers[register]

    def __setitem__(self, register, value):
        if register in _ADDRESSES:
            self._addresses[register] = bytes(value)
        else:
            self._registers[register] = value

    def deliver(self, payload):
        """A payload comes over the air; False if the FIFO is full."""
        if len(self._received) == 3:
            return False
        self._received.append(bytes(payload))
        self._flags |= RX_DR
        return True

    def select(self):
        self._bytes = bytearray()
        self._answer = b""

    def exchange(self, byte):
        n = len(self._bytes)
        self._bytes.append(byte)
        if n == 0:
            self._answer = self._read(byte)
            return self._status()
        return self._answer[n - 1] if n <= len(self._answer) else 0

    def deselect(self):
        if not self._bytes:
            return
        command = self._bytes[0]
        data = bytes(self._bytes[1:])
        if command & 0xE0 == 0x20 and data:
            register = command & 0x1F
            if register == STATUS:
                self._flags &= ~data[0]
            else:
                self[register] = data if register in _ADDRESSES else data[0]
        elif command == 0xA0:
            self._to_send.append(data)
            self._on_air()
        elif command == 0xE1:
            self._to_send = []
        elif command == 0xE2:
            self._received = []
        elif command == 0x61 and self._received:
            self._received.pop(0)

    def _read(self, command):
        if command & 0xE0 == 0:
            value = self[command & 0x1F]
            return value if isinstance(value, bytes) else bytes([value])
        if command == 0x61 and self._received:
            return self._received[0]
        return b""

    def _status(self):
        if self._done_us is not None and self.now_us() >= self._done_us:
            self._done_us = None
            self._flags |= TX_DS
        return self._flags | (0 if self._received else 0x0E)

    def _ce_moved(self, line):
        self._on_air()

    def _on_air(self):
        if self.ce is None or self.ce.level():
            while self._to_send:
                self.sent.append(self._to_send.pop(0))
                self._done_us = self.now_us() + int(self.air_ms * 1000)
