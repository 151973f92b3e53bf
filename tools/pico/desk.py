"""What is wired to the emulated Pico, on the pins of boards/pico.py.

I2C 0 (GP4, GP5): the chips of boards/sim.py at the same addresses, an EEPROM (24C32) at 0x50, and at 0x3c what takes the
writes of a display, so that examples run unchanged; besides, at 0x51 one that acknowledges its address and no data, at
0x52 a register file that stretches the clock by 2 ms a byte, and at 0x53 one that stretches it beyond the 50 ms of the
firmware's patience. UART 0 (GP0, GP1): answers each line with "pong " and the line. SPI 0 (GP16 to GP19): answers each
byte with its complement, while CS (GP17) is low.
"""

import sys

from tools import environment

sys.path.append(str(environment.ROOT / "lib"))  # for buslock_sim, which runs in this process

from buslock_sim import EEPROM, Chip, IOExpander, RegisterFile, Thermometer, clock

from boards import pico, sim
from tools.pico.i2c import I2CWire
from tools.pico.spi import SPIPeer
from tools.pico.uart import UARTPeer

DISPLAY = 0x3C
MEMORY, PICKY, STRETCHER, HANGER = 0x50, 0x51, 0x52, 0x53


class EmulatedTime:
    """The board's own time for the simulated chips. Their transfers take time by themselves."""

    def __init__(self, rp2040):
        self._clock = rp2040.clock

    def now_us(self):
        return self._clock.nanos // 1000

    def busy_us(self, us):
        pass


class Desk:
    """One set of chips and peers; attach(rp2040) wires them."""

    def __init__(self):
        self.thermometer = Thermometer(21.5, conversion_ms=750)
        self.stretcher = RegisterFile(bytes(range(16)), size=16)
        self.stretcher.stretch_us = 2000
        hanger = RegisterFile(bytes(4), size=4)
        hanger.stretch_us = 70000
        self.chips = {
            sim.THERMOMETER: self.thermometer,
            sim.EXPANDER: IOExpander(inputs=0x00A5),
            sim.PRESSURE: RegisterFile({0xD0: 0x60, 0xF7: 0x01, 0xF8: 0x8B, 0xF9: 0xCD}, readonly=(0xD0,)),
            DISPLAY: RegisterFile(bytes(256)),
            MEMORY: EEPROM(size=4096, page=32, contents=b"\x12\x34\x56\x78"),
            PICKY: Chip(),
            STRETCHER: self.stretcher,
            HANGER: hanger,
        }
        self._line = bytearray()
        self.i2c = I2CWire(0, sda=pico.I2C_SDA, scl=pico.I2C_SCL, chips=self.chips)
        self.uart = UARTPeer(0, self._answer)
        self.spi = SPIPeer(0, pico.SPI_CS, lambda byte: byte ^ 0xFF)

    def attach(self, rp2040):
        clock.use(EmulatedTime(rp2040))
        for peer in (self.i2c, self.uart, self.spi):
            peer.attach(rp2040)

    def _answer(self, peer, byte):
        self._line.append(byte)
        if byte == ord("\n"):
            peer.send(b"pong " + self._line)
            self._line.clear()
