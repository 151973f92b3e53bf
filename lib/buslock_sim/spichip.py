"""SpiChip: what every simulated SPI chip can do, and the base class of your own."""

from . import clock
from .errors import mistake
from .faults import Faulty, Plan


class SpiChip(Faulty):
    """A chip on an SpiWire. To make your own, override what it has to answer:

        class Counter(SpiChip):
            modes = (0, 3)
            max_baudrate = 4_000_000
            count = 0

            def exchange(self, byte):
                self.count += 1
                return self.count & 0xFF

    select()        its CS became active
    exchange(byte)  a byte from the master; returns the byte that goes back meanwhile, 0 to 255
    deselect()      its CS became idle
    pass_by(byte, clocking)     a byte for somebody else, or for nobody
    reset()         the state after power-on

    modes are those it understands (2 * polarity + phase), max_baudrate is its limit or None, bits and lsb_first are
    its words. The wire checks them. self.complain(text) reports that the master broke the chip's rules: that fails the
    test, also when the driver swallows the error. Times come from self.now_us(), never from the time module.
    """

    KINDS = ("error", "miso_low", "miso_high")
    modes = (0,)
    max_baudrate = None
    bits = 8
    lsb_first = False
    home = None  # the SpiWire it is attached to
    cs = None  # the name of its line
    idle_sck = None  # the level SCK had when CS became active
    drives_miso = False  # although it is not selected

    def select(self):
        pass

    def exchange(self, byte):
        return 0xFF

    def deselect(self):
        pass

    def pass_by(self, byte, clocking):
        """A byte goes by while CS is idle."""

    def reset(self):
        pass

    # What follows is for tests and for the wire; a chip of your own leaves it alone.

    def fail(self, kind, at=None, times=1, chance=None, seed=1):
        """Make transfers to this chip fail: the next one, the next so many, with times=None all of them.

        kind "error": the transfer is an OSError; "miso_low", "miso_high": what is read is 0x00 or 0xFF from there on.
        at is the number of the byte in the transfer, 0 for the first; None is before anything is sent. Only a transfer
        that gets so far counts. chance=0.02 fails one in fifty at random, the same ones for the same seed.
        """
        self.plan(Plan(kind, at, times, chance, seed))

    def recover(self):
        """Take back every fail()."""
        self.faults = ()

    def power_on(self):
        """Switch the chip off and on again."""
        self.idle_sck = None
        self.reset()

    def complain(self, text):
        """Report a mistake of the master: raises ProtocolError."""
        where = "" if self.cs is None else " on %s" % self.cs
        raise mistake("%s%s: %s" % (type(self).__name__, where, text))

    def check_clock(self, clocking):
        """Complain if the chip cannot follow this Clocking."""
        if clocking.mode not in self.modes:
            self.complain(
                "clocked in mode %d, it wants %s" % (clocking.mode, " or ".join([str(mode) for mode in self.modes]))
            )
        if self.idle_sck is not None and self.idle_sck != clocking.polarity:
            self.complain("SCK was %d when CS became active, and idles at %d now" % (self.idle_sck, clocking.polarity))
        limit = self.max_baudrate
        if limit is not None and clocking.actual > limit:
            self.complain("clocked at %d Hz, its limit is %d" % (clocking.actual, limit))
        if clocking.bits != self.bits:
            self.complain("words of %d bits, it wants %d" % (clocking.bits, self.bits))
        if clocking.lsb_first != self.lsb_first:
            self.complain("the %s bit comes first" % ("lowest" if clocking.lsb_first else "highest"))

    def now_us(self):
        return clock.now_us()
