"""NORFlash: flash memory that is busy while it erases and programs, after the W25Q series."""

from .spichip import SpiChip

READ = 0x03
FAST_READ = 0x0B
PROGRAM = 0x02
WRITE_ENABLE = 0x06
WRITE_DISABLE = 0x04
STATUS = 0x05
IDENTITY = 0x9F
ERASES = {0x20: 4096, 0x52: 32768, 0xD8: 65536}
CHIP_ERASE = (0xC7, 0x60)
PAGE = 256


class NORFlash(SpiChip):
    """size bytes, erased to 0xFF in sectors of 4096 (0x20), 32768 (0x52), 65536 (0xD8) or all (0xC7), programmed in
    pages of 256 (0x02), which only clears bits; the end of a page goes on at its start.

    Each of these needs a write enable (0x06) before, begins when CS goes idle, and keeps the chip busy for erase_ms or
    program_ms: bit 0 of the status (0x05), bit 1 is the write enable. While it is busy it hears nothing but 0x05. A
    command that it would not carry out is a mistake, or with strict=False ignored. memory is the contents, for tests;
    erases and programs count.
    """

    modes = (0, 3)
    max_baudrate = 50000000

    def __init__(self, size=65536, erase_ms=45, program_ms=1, strict=True):
        if size % 4096:
            raise ValueError("size must be a multiple of 4096, not %r" % (size,))
        self.memory = bytearray(b"\xff" * size)
        self.erase_ms = erase_ms
        self.program_ms = program_ms
        self.strict = strict
        self.erases = self.programs = 0
        self.reset()

    def reset(self):
        self._enabled = False
        self._done_us = None
        self._bytes = bytearray()
        self._ignore = False
        self._at = 0

    @property
    def busy(self):
        """True while it erases or programs."""
        if self._done_us is not None and self.now_us() >= self._done_us:
            self._done_us = None
            self._enabled = False
        return self._done_us is not None

    def select(self):
        self._bytes = bytearray()
        self._ignore = False
        self._at = 0

    def exchange(self, byte):
        self._bytes.append(byte)
        n = len(self._bytes)
        command = self._bytes[0]
        if n == 1:
            self._ignore = self.busy and command != STATUS
            if self._ignore:
                self._mind("command 0x%02x while it is busy" % command)
            return 0xFF
        if self._ignore:
            return 0xFF
        if command == STATUS:
            return (1 if self.busy else 0) | (2 if self._enabled else 0)
        if command == IDENTITY:
            capacity = 0
            while 1 << capacity < len(self.memory):
                capacity += 1
            return (0xEF, 0x40, capacity)[n - 2] if n < 5 else 0xFF
        if n == 4:
            self._at = (self._bytes[1] << 16 | byte | self._bytes[2] << 8) % len(self.memory)
        elif command == READ or (command == FAST_READ and n > 5):
            if n > 4:
                byte = self.memory[self._at]
                self._at = (self._at + 1) % len(self.memory)
                if n > 8:
                    self._bytes = self._bytes[:8]  # a long read needs no memory
                return byte
        return 0xFF

    def deselect(self):
        command = self._bytes[0] if self._bytes else None
        n = len(self._bytes)
        if self._ignore or command is None:
            return
        if command in (WRITE_ENABLE, WRITE_DISABLE):
            self._enabled = command == WRITE_ENABLE
        elif command in ERASES and n == 4:
            if self._may("erase"):
                size = min(ERASES[command], len(self.memory))
                self._erase(self._at - self._at % size, size)
        elif command in CHIP_ERASE and n == 1:
            if self._may("erase"):
                self._erase(0, len(self.memory))
        elif command == PROGRAM and n > 4 and self._may("program"):
            page = self._at - self._at % PAGE
            # Of more than a page only the last 256 bytes count, each where it would have gone.
            for i in range(max(4, n - PAGE), n):
                self.memory[page + (self._at - page + i - 4) % PAGE] &= self._bytes[i]
            self.programs += 1
            self._done_us = self.now_us() + int(self.program_ms * 1000)

    def _erase(self, first, size):
        self.memory[first : first + size] = b"\xff" * size
        self.erases += 1
        self._done_us = self.now_us() + int(self.erase_ms * 1000)

    def _may(self, what):
        if not self._enabled:
            self._mind("%s without a write enable" % what)
        return self._enabled

    def _mind(self, text):
        if self.strict:
            self.complain(text)
