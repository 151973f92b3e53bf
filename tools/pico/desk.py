"""What is wired to the emulated Pico, on the pins of boards/pico.py: Desk, or what an example wants of its own.

Desk: I2C 0 (GP4, GP5): the chips of boards/sim.py at the same addresses, an EEPROM (24C32) at 0x50, and at 0x3c what takes the
writes of a display, so that examples run unchanged; besides, at 0x51 one that acknowledges its address and no data, at
0x52 a register file that stretches the clock by 2 ms a byte, and at 0x53 one that stretches it beyond the 50 ms of the
firmware's patience. UART 0 (GP0, GP1): answers each line with "pong " and the line. SPI 0 (GP16 to GP19): answers each
byte with its complement, while CS (GP17) is low.

DESKS: for examples that say in their first lines what hangs on the pins; the same chips, with the same failures, as the
example itself puts on the simulated wires where there is no board.
"""

import sys

from tools import environment

sys.path.append(str(environment.ROOT / "lib"))  # for buslock_sim, which runs in this process

from buslock_sim import (
    EEPROM,
    Chip,
    Display,
    IOExpander,
    ModbusNode,
    Modem,
    Multiplexer,
    NORFlash,
    RegisterFile,
    SDCard,
    StepperDriver,
    Thermometer,
    clock,
)

from boards import pico, sim
from tools.pico.i2c import I2CWire
from tools.pico.spi import Level, SPIPeer, SPIWire
from tools.pico.uart import UARTPeer, UARTWire

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
        self.uart: UARTPeer | UARTWire = UARTPeer(0, self._answer)
        self.spi: SPIPeer | SPIWire = SPIPeer(0, pico.SPI_CS, lambda byte: byte ^ 0xFF)

    def attach(self, rp2040):
        clock.use(EmulatedTime(rp2040))
        for peer in (self.i2c, self.uart, self.spi):
            peer.attach(rp2040)

    def violations(self) -> list[str]:
        """What the program has done to the chips that it must not do."""
        return [text for peer in (self.uart, self.spi) for text in getattr(peer, "violations", ())]

    def _answer(self, peer, byte):
        self._line.append(byte)
        if byte == ord("\n"):
            peer.send(b"pong " + self._line)
            self._line.clear()


class Interrupted(RegisterFile):
    """The pressure sensor, which holds SDA after its third transfer, as after a reset in the middle of a read."""

    transfers = 0
    for_clocks = 5

    def stop(self):
        super().stop()
        self.transfers += 1
        if self.transfers == 3:
            self.hold_sda(self.for_clocks)


def recovery(clocks=14):
    """More clocks than the nine with which MicroPython's firmware, by bit-banging, ends the transfer that has failed."""
    desk = Desk()
    chip = Interrupted({0xD0: 0x60, 0xF7: 0x01, 0xF8: 0x8B, 0xF9: 0xCD}, readonly=(0xD0,))
    chip.for_clocks = clocks
    desk.chips[sim.PRESSURE] = chip
    return desk


def multiplexer():
    desk = Desk()
    del desk.chips[sim.THERMOMETER]
    desk.chips[0x70] = chip = Multiplexer()
    chip.channel(0).attach(0x48, Thermometer(18.0))
    chip.channel(1).attach(0x48, Thermometer(31.5))
    return desk


def display_with(chip):
    """Beside another chip, as on the Pico's pins of the examples."""
    desk = Desk()
    dc = Level()
    desk.spi = SPIWire(0, {pico.SPI_CS: chip, pico.SPI_CS2: Display(dc=dc)}, {pico.SPI_DC: dc})
    return desk


def flash_display():
    return display_with(NORFlash(erase_ms=150))


def display_sd():
    return display_with(SDCard(write_ms=30))


def modbus_master():
    desk = Desk()
    nodes = [ModbusNode(address, {i: 100 * address + i for i in range(10)}) for address in (17, 18, 19)]
    nodes[0].fail("crc")
    nodes[1].fail("silent")
    desk.uart = UARTWire(0, nodes, de_pin=pico.UART_DE)
    return desk


def gps_and_modem():
    desk = Desk()
    module = Modem({"AT+CSQ": "+CSQ: 20,0", "AT+COPS?": '+COPS: 0,0,"net"'}, delay_ms=120)
    desk.uart = UARTWire(0, [module])
    module.announce("$GPRMC,123519,A,4807.038,N,01131.000,E,022.4,084.4,230394,003.1,W*6A", every_ms=250)
    return desk


def stepper_drivers():
    desk = Desk()
    drivers = [StepperDriver(n, {0x06: 0x21000000 | n}) for n in range(4)]
    drivers[2].fail("noise", at=5)
    desk.uart = UARTWire(0, drivers, echo=True)
    return desk


# by the name of the example
DESKS = {
    make.__name__: make
    for make in (recovery, multiplexer, flash_display, display_sd, modbus_master, gps_and_modem, stepper_drivers)
}


def desk_for(program, circuit=False) -> Desk:
    """What hangs on the pins for this program."""
    if circuit and program.stem == "recovery":
        return recovery(clocks=5)
    return DESKS.get(program.stem, Desk)()
