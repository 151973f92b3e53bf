"""Chip: what every simulated chip can do, and the base class of your own."""

from . import clock
from .errors import mistake
from .faults import Faulty


class Chip(Faulty):
    """A chip on an I2C bus. To make your own, override what it has to answer:

        class Counter(Chip):
            count = 0

            def read(self):
                self.count += 1
                return self.count & 0xFF

    start(read)   START or repeated START with this chip's address; True is ACK, False is NACK
    write(byte)   one byte for the chip; True is ACK, False is NACK
    read()        the next byte from the chip, 0 to 255
    stop()        STOP: the transfer is over
    reset()       the state after power-on

    self.address is the address it was last called by (a chip may be attached at several). self.complain(text) reports
    that the master broke the chip's rules: that fails the test, also when the driver swallows the error. Times
    come from self.now_us(), never from the time module, so that a virtual clock works.
    """

    stretch_us = 0  # the chip holds SCL low this long after each byte
    holds_sda = False
    holds_scl = False
    address = None
    home = None  # the Segment it is attached to
    _clocks = None

    def start(self, read):
        return True

    def write(self, byte):
        return False

    def read(self):
        return 0xFF

    def stop(self):
        pass

    def reset(self):
        pass

    # What follows, and fail(), is for tests and for the wire; a chip of your own leaves it alone.

    def recover(self):
        """Take back every fail(), release both lines."""
        self.faults = ()
        self.let_go()

    def hold_sda(self, clocks=9):
        """Hold SDA low until so many clocks were seen (None: until power-on), as after a reset in mid-read."""
        self.holds_sda = True
        self._clocks = clocks
        self.tell()

    def hold_scl(self):
        """Hold SCL low until power-on: a clock stretched for ever."""
        self.holds_scl = True
        self.tell()

    def let_go(self):
        """Release both lines."""
        self.holds_sda = self.holds_scl = False
        self._clocks = None

    def tell(self):
        """Tell the bus that its lines have to be watched."""
        if self.home is not None:
            self.home.watch()

    def power_on(self):
        """Switch the chip off and on again: releases the lines and calls reset()."""
        self.let_go()
        self.reset()

    def clock(self):
        """One clock on SCL; the wire calls this while the chip holds SDA."""
        if self._clocks is not None:
            self._clocks -= 1
            if self._clocks <= 0:
                self.let_go()

    def complain(self, text):
        """Report a mistake of the master: raises ProtocolError."""
        where = "" if self.address is None else " at 0x%02x" % self.address
        raise mistake("%s%s: %s" % (type(self).__name__, where, text))

    def now_us(self):
        return clock.now_us()
