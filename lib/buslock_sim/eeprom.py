"""EEPROM: memory written in pages, which takes its time, after the 24C32 (16-bit addresses) and 24C02 (8-bit)."""

from .chip import Chip


class EEPROM(Chip):
    """size bytes, written in pages of page bytes; addrsize is 8 or 16 bits.

    A write longer than what is left of its page goes on at the start of the same page. The STOP begins the write
    cycle of write_ms, during which the chip answers every address with a NACK; a write that ends without a STOP
    is not carried out. Reads go on over all pages. memory is the contents, for tests; cycles counts the writes.
    """

    def __init__(self, size=4096, page=32, addrsize=16, write_ms=5, contents=b""):
        if addrsize not in (8, 16):
            raise ValueError("addrsize must be 8 or 16, not %r" % (addrsize,))
        if page < 1 or size < page or size % page or size > 1 << addrsize:
            raise ValueError("size must be a multiple of page, and at most %d" % (1 << addrsize))
        self.memory = bytearray(b"\xff" * size)
        self.memory[: len(contents)] = contents
        self.page = page
        self.write_ms = write_ms
        self.cycles = 0
        self._address_bytes = addrsize // 8
        self.reset()

    def reset(self):
        # The contents stay, and a write cycle that power cuts short is taken as done.
        self._pointer = 0
        self._awaited = 0
        self._latch = {}
        self._done_us = None

    @property
    def busy(self):
        """True during a write cycle."""
        if self._done_us is not None and self.now_us() >= self._done_us:
            self._done_us = None
        return self._done_us is not None

    def start(self, read):
        self._latch = {}
        if self.busy:
            return False
        if read:
            self._check_address()
        else:
            self._awaited = self._address_bytes
            self._new = 0
        return True

    def write(self, byte):
        if self._awaited:
            self._awaited -= 1
            self._new = self._new << 8 | byte
            if not self._awaited:
                # Address bits the memory does not have are ignored.
                self._pointer = self._new % len(self.memory)
            return True
        at = self._pointer
        self._latch[at] = byte
        first = at - at % self.page
        self._pointer = first + (at + 1) % self.page
        return True

    def read(self):
        byte = self.memory[self._pointer]
        self._pointer = (self._pointer + 1) % len(self.memory)
        return byte

    def stop(self):
        self._check_address()
        self._awaited = 0
        if self._latch:
            for at in self._latch:
                self.memory[at] = self._latch[at]
            self._latch = {}
            self.cycles += 1
            self._done_us = self.now_us() + self.write_ms * 1000

    def _check_address(self):
        if 0 < self._awaited < self._address_bytes:
            self._awaited = 0
            self.complain("the memory address has only one of its two bytes")
