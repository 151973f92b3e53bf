"""RegisterFile: a chip with registers, as most sensors have."""

from .chip import Chip


class RegisterFile(Chip):
    """size registers of one byte; a write begins with the register's address, which then counts up by itself.

    RegisterFile({0xD0: 0x60}, readonly=(0xD0,)). values is a dict or a bytes-like object with the first registers;
    addrsize is 8 or 16 bits. Registers can be looked at and set from outside: chip[0x10]. To give a
    register a meaning, derive and override get(register) and put(register, value).

    Addressing a register that does not exist gets a NACK; a write to a read-only register is ignored, as most
    chips do, or reported as a mistake with strict=True.
    """

    def __init__(self, values=None, size=256, addrsize=8, readonly=(), strict=False):
        if addrsize not in (8, 16):
            raise ValueError("addrsize must be 8 or 16, not %r" % (addrsize,))
        if not isinstance(size, int):
            raise TypeError("size must be an int")
        if not 1 <= size <= 1 << addrsize:
            raise ValueError("size must be 1 to %d" % (1 << addrsize))
        self._memory = bytearray(size)
        self._initial = values
        self._address_bytes = addrsize // 8
        self._readonly = readonly
        self._strict = strict
        self.pointer = 0
        self._awaited = 0  # bytes of the register's address still to come
        self._new = 0
        self.reset()

    def __len__(self):
        return len(self._memory)

    def __getitem__(self, register):
        return self._memory[register]

    def __setitem__(self, register, value):
        self._memory[register] = value

    def get(self, register):
        """The value the master reads."""
        return self._memory[register]

    def put(self, register, value):
        """The master writes a value."""
        self._memory[register] = value

    def reset(self):
        memory = self._memory
        for i in range(len(memory)):
            memory[i] = 0
        values = self._initial
        if values is not None:
            for register in values if isinstance(values, dict) else range(len(values)):
                memory[register] = values[register]
        self.pointer = 0
        self._awaited = 0

    def start(self, read):
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
            if self._awaited:
                return True
            if self._new >= len(self._memory):
                return False
            self.pointer = self._new
            return True
        register = self.pointer
        if register not in self._readonly:
            self.put(register, byte)
        elif self._strict:
            self.complain("register 0x%02x is read-only" % register)
        self._advance()
        return True

    def read(self):
        value = self.get(self.pointer)
        self._advance()
        return value

    def stop(self):
        self._check_address()
        self._awaited = 0

    def _check_address(self):
        if 0 < self._awaited < self._address_bytes:
            self._awaited = 0
            self.complain("the register's address has only one of its two bytes")

    def _advance(self):
        self.pointer = (self.pointer + 1) % len(self._memory)
