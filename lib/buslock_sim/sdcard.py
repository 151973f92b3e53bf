"""SDCard: an SD card (SDHC) in SPI mode, as the SD specification's simplified physical layer has it."""

from .spichip import SpiChip

IDLE = 0x01
ILLEGAL = 0x04
BAD_CRC = 0x08

_START = 0xFE
_START_MANY = 0xFC
_STOP_MANY = 0xFD
_ACCEPTED = 0x05


class SDCard(SpiChip):
    """blocks of 512 bytes. After power-on it wants 74 clocks with CS idle and MOSI high, then CMD0, CMD8 and ACMD41
    until it says that it is ready, all at 400 kHz at most. Then it knows CMD 9, 10, 12, 13, 16, 17, 18, 24, 25 and 58.

    A write keeps it busy for write_ms: MISO is low while it is selected. After its CS went idle it drives MISO until
    it has seen 8 clocks, whoever they were for. contents is {block: bytes}, for tests; reads and writes count.
    """

    modes = (0, 3)

    def __init__(self, blocks=2048, write_ms=2, inits=2, contents=None):
        self.blocks = blocks
        self.write_ms = write_ms
        self.inits = inits  # so many ACMD41 find it not ready yet
        self.contents = {} if contents is None else contents
        self.reads = self.writes = 0
        self.reset()

    def reset(self):
        self._clocks = 0
        self._status = None  # None: not in SPI mode yet; else what R1 says besides errors
        self._inits = self.inits
        self._application = False
        self._done_us = None
        self._starts_busy = False
        # CS going idle does not end these: drivers let go of it between command and data.
        self._reading = None  # the block of a CMD18 that comes next
        self._writing = None  # [block, many, bytes so far or None] of a CMD24 or CMD25
        self.drives_miso = False
        self.select()

    def select(self):
        self._command = bytearray()
        self._out = bytearray()

    @property
    def max_baudrate(self):
        return 25000000 if self._status == 0 else 400000

    @property
    def busy(self):
        """True while it writes."""
        if self._done_us is not None and self.now_us() >= self._done_us:
            self._done_us = None
        return self._done_us is not None

    def deselect(self):
        self.drives_miso = self._status is not None

    def pass_by(self, byte, clocking):
        self.drives_miso = False
        if self._status is None and byte == 0xFF:
            self._clocks += 8

    def exchange(self, byte):
        if self._starts_busy and not self._out:
            self._starts_busy = False
            self._done_us = self.now_us() + int(self.write_ms * 1000)
        if self.busy:
            return 0
        if not self._out and self._reading is not None:
            self._send_block(self._reading)
            self._reading += 1
        answer = 0xFF
        if self._out:
            answer = self._out[0]
            self._out = self._out[1:]
        if self._command or byte & 0xC0 == 0x40 and (self._writing is None or self._writing[2] is None):
            self._command.append(byte)
            if len(self._command) == 6:
                command = self._command
                self._command = bytearray()
                self._obey(command)
        elif self._writing is not None:
            self._take(byte)
        return answer

    def _obey(self, command):
        number = command[0] & 0x3F
        argument = command[1] << 24 | command[2] << 16 | command[3] << 8 | command[4]
        application = self._application
        self._application = False
        if number == 0:
            if self._clocks < 74:
                self.complain("CMD0 after %d clocks with CS idle, it wants 74 after power-on" % self._clocks)
            if command[5] == 0x95:
                self._status = IDLE
                self._inits = self.inits
            self._reply(IDLE if command[5] == 0x95 else IDLE | BAD_CRC)
        elif self._status is None:
            pass  # not in SPI mode: it does not answer
        elif number == 8:
            self._reply(self._status if command[5] == 0x87 else self._status | BAD_CRC, bytes([0, 0, 1, command[4]]))
        elif number == 55:
            self._application = True
            self._reply(self._status)
        elif number == 41 and application:
            if self._inits:
                self._inits -= 1
            else:
                self._status = 0
            self._reply(self._status)
        elif number == 58:
            self._reply(self._status, b"\xc0\xff\x80\x00" if self._status == 0 else b"\x00\xff\x80\x00")
        elif number == 59:
            self._reply(self._status)
        elif self._status:
            self._reply(self._status | ILLEGAL)
        else:
            self._obey_ready(number, argument)

    def _obey_ready(self, number, argument):
        if number in (9, 10):
            self._reply(0)
            size = self.blocks // 1024 - 1
            csd = b"\x40\x0e\x00\x32\x5b\x59\x00" + bytes([size >> 16 & 0x3F, size >> 8 & 0xFF, size & 0xFF])
            cid = b"\x03SDSIM01\x10\x00\x00\x00\x01\x01\x7b\x01"
            self._send(csd + b"\x7f\x80\x0a\x40\x00\x01" if number == 9 else cid)
        elif number == 12:
            self._reading = None
            self._out = bytearray(b"\xff\xff\x00")
        elif number == 13:
            self._reply(0, b"\x00")
        elif number == 16:
            self._reply(0 if argument == 512 else 0x40)
        elif number in (17, 18, 24, 25) and argument >= self.blocks:
            self._reply(0x40)
        elif number in (17, 18):
            self._reply(0)
            if number == 17:
                self._send_block(argument)
            else:
                self._reading = argument
        elif number in (24, 25):
            self._reply(0)
            self._writing = [argument, number == 25, None]
        else:
            self._reply(ILLEGAL)

    def _reply(self, status, more=b""):
        self._out += b"\xff" + bytes([status]) + more

    def _send(self, data):
        self._out += b"\xff\xfe" + data + b"\x00\x00"

    def _send_block(self, block):
        self.reads += 1
        self._send(self.contents.get(block, bytes(512)))

    def _take(self, byte):
        """A byte of what follows CMD24 or CMD25."""
        block, many, data = self._writing
        if data is None:
            if byte == (_START_MANY if many else _START):
                self._writing[2] = bytearray()
            elif many and byte == _STOP_MANY:
                self._writing = None
                self._out = bytearray(b"\xff")
            elif byte != 0xFF:
                self.complain("0x%02x where the start of a block is due" % byte)
            return
        data.append(byte)
        if len(data) == 514:
            self.contents[block] = bytes(data[:512])
            self.writes += 1
            self._writing = [block + 1, True, None] if many else None
            self._out = bytearray([_ACCEPTED])
            # The data response goes out before MISO goes low.
            self._starts_busy = True
