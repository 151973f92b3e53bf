"""How the ports differ in SPI, in one table.

Read from the sources of MicroPython 1.29 (extmod/machine_spi.c, ports/rp2/machine_spi.c, ports/esp32/machine_hw_spi.c,
ports/stm32/machine_spi.c, ports/esp8266/machine_spi.c), of the Pico SDK (hardware_spi: spi_set_baudrate and the order
of bits), of CircuitPython 10 (shared-bindings/busio/SPI.c, ports/raspberrypi/common-hal/busio/SPI.c) and of Blinka
(busio.py, microcontroller/generic_linux/spi.py).
"""

from .habits import Habits, find

EIO = 5


class SpiPort(Habits):
    """The habits of one port in SPI. Make your own for a port that is not in the table."""

    # errno of a transfer that fails in the middle
    error = EIO
    # what the constructor takes for its own
    baudrate = 500000
    # SPI.MSB and SPI.LSB, which are not the same everywhere
    msb = 0
    lsb = 1
    # the port can send the lowest bit first
    lsb_works = True
    # what init() takes, and how many of these by position
    init = ("baudrate", "polarity", "phase", "bits", "firstbit")
    init_by_position = 0
    # a transfer of nothing: the ValueError's text, or None
    empty = None
    # deinit() turns it off: transfers are an OSError until init()
    deinit = False
    # the clock that baud rates are divided from, in Hz, or None: then any baud rate is possible
    clock_hz = None
    # SCK idles at the new level only after the next transfer, not from init() on
    late_clock = False
    # busio only: a transfer needs the lock, the pins must be free, no object may be used after deinit()
    needs_lock = True

    def actual(self, baudrate):
        """The baud rate that comes out when this one is asked for: never a higher one."""
        if self.clock_hz is None:
            return baudrate
        # The prescaler is even and as small as it can be, as the Pico SDK chooses it. (Before its version 2.0, and
        # MicroPython 1.24, it chose a smaller one below 244 kHz, and the baud rate was up to twice what was asked for.)
        for prescale in range(2, 255, 2):
            if self.clock_hz < prescale * 256 * baudrate:
                break
        postdivide = max(1, min(256, -(-self.clock_hz // (prescale * baudrate))))
        return self.clock_hz // (prescale * postdivide)


MACHINE = {}
BUSIO = {}


def _machine(name, **habits):
    MACHINE[name] = SpiPort(name, **habits)


def _busio(name, **habits):
    BUSIO[name] = SpiPort(name, **habits)


_machine("rp2", baudrate=1000000, msb=1, lsb=0, lsb_works=False, clock_hz=125000000)
# The Pico SDK before 1.5 (its issue 868; CircuitPython works around it): SCK went to the level of polarity=1 only when
# something was sent. No port of today is known to do so, but a chip that samples SCK at CS finds out.
_machine("late_clock", late_clock=True)
_machine(
    "esp32",
    init=("baudrate", "polarity", "phase", "bits", "firstbit", "sck", "mosi", "miso"),
    init_by_position=1,
    empty="buffer too short",
    deinit=True,
)
_machine("stm32", lsb=0x80, deinit=True)
# init() takes no bits and, before 1.24, no firstbit.
_machine("soft", init=("baudrate", "polarity", "phase", "firstbit", "sck", "mosi", "miso"), init_by_position=3)
_machine("esp8266", baudrate=80000000, lsb_works=False, init=("baudrate", "polarity", "phase"), init_by_position=3)

_busio("circuitpython", baudrate=250000, clock_hz=125000000)
_busio("blinka", baudrate=100000, needs_lock=False)


def find_machine(port):
    return find(port, SpiPort, MACHINE, BUSIO, "BusioSPI")


def find_busio(port):
    return find(port, SpiPort, BUSIO, MACHINE, "SPI")
