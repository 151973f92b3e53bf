"""IOExpander: sixteen inputs and outputs, after the MCP23017 with IOCON.BANK = 0."""

from .registers import RegisterFile

IODIRA = 0x00
IODIRB = 0x01
IPOLA = 0x02
IPOLB = 0x03
GPPUA = 0x0C
GPPUB = 0x0D
GPIOA = 0x12
GPIOB = 0x13
OLATA = 0x14
OLATB = 0x15


class IOExpander(RegisterFile):
    """Registers 0x00 to 0x15: IODIR 0/1 (1 is input), IPOL 2/3, GPPU 0x0C/0x0D, GPIO 0x12/0x13, OLAT 0x14/0x15.

    Reading GPIO gives the levels of the pins, writing it writes the output latch. inputs (16 bits) is what the
    outside applies; outputs tells what the chip drives, as (levels, mask of the pins that are outputs).
    """

    def __init__(self, inputs=0):
        self.inputs = inputs
        super().__init__({IODIRA: 0xFF, IODIRB: 0xFF}, size=0x16)

    @property
    def outputs(self):
        mask = ~(self[IODIRA] | self[IODIRB] << 8) & 0xFFFF
        return (self[OLATA] | self[OLATB] << 8) & mask, mask

    def get(self, register):
        if register not in (GPIOA, GPIOB):
            return self[register]
        port = register & 1
        directions = self[IODIRA + port]
        outside = (self.inputs >> (8 * port) & 0xFF) ^ self[IPOLA + port]
        return outside & directions | self[OLATA + port] & ~directions & 0xFF

    def put(self, register, value):
        if register in (GPIOA, GPIOB):
            register += OLATA - GPIOA
        self[register] = value
