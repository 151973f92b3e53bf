"""Protocol: the lines of an I2C bus, and what chips and master make of them byte by byte."""

from . import clock
from .errors import Fault, mistake
from .line import Line
from .segment import Segment
from .tasks import current, name_of
from .transcript import Transcript


class Protocol(Segment):
    """START, address, bytes, STOP. Who may make them is the matter of Wire."""

    def __init__(self, name, keep):
        super().__init__(name)
        self.transcript = Transcript(keep)
        self.user = current
        self.on_byte = None
        self.messages = 0
        self.peripheral = True  # the lines belong to the I2C peripheral, not to GPIO
        self.claimed = None  # the busio object that has the pins
        self.scl = Line(self, "scl")
        self.sda = Line(self, "sda")
        self._kept_by = None  # (user,) from START to STOP
        self._operation = "START"
        self._chip = None  # the one that answered
        self._address = None
        self._index = -1  # of the data byte
        self._deaf = False  # SDA was low, so that no chip saw the START

    def _start(self, master):
        if not self.peripheral:
            if not master.soft:
                # The pins are GPIO: the peripheral sees a bus that never becomes free.
                raise Fault("timeout")
            self._take_lines()
        if not self.scl.level() or (not master.soft and not self.sda.level()):
            raise Fault("timeout")
        self._deaf = not self.sda.level()
        self._operation = "START" if self._kept_by is None else "RESTART"
        self._kept_by = (self.user(),)
        self._address = None
        self.messages += 1

    def _select(self, address, read, master):
        """The address byte. True is ACK."""
        self._address = address
        self._chip = None
        self._index = -1
        self._record(self._operation, address)
        if self._deaf:
            return self._ninth_clock(False, master)
        found = self.find(address, [])
        if len(found) > 1:
            raise mistake("0x%02x is answered by %s" % (address, " and by ".join([type(c).__name__ for c in found])))
        if not found:
            return self._ninth_clock(False, master)
        chip = found[0]
        chip.address = address
        if chip.faults and self._strike(chip, None, read, master):
            return self._ninth_clock(False, master)
        ack = chip.start(bool(read))
        if ack:
            self._chip = chip
        return self._ninth_clock(ack, master)

    def _put(self, byte, master):
        """A data byte of the master. True is ACK."""
        self._index += 1
        chip = self._chip
        if chip is None or (chip.faults and self._strike(chip, self._index, False, master)):
            return self._ninth_clock(False, master)
        return self._ninth_clock(chip.write(byte), master)

    def _get(self, master):
        """A data byte of the chip."""
        self._index += 1
        chip = self._chip
        byte = 0xFF
        if chip is not None:
            if chip.faults:
                self._strike(chip, self._index, True, master)
            byte = chip.read()
            if not isinstance(byte, int) or not 0 <= byte <= 255:
                raise mistake("%s.read() gave %r, which is no byte" % (type(chip).__name__, byte))
        held = not self.sda.level()
        self._ninth_clock(True, master)
        return 0 if held else byte

    def _strike(self, chip, index, read, master):
        """Let a fault of the chip strike, if it is due at this byte. True: the byte gets a NACK."""
        kind = chip.fault_at(index, read)
        if kind == "nack":
            return True
        if kind == "stuck_sda":
            chip.hold_sda()
        elif kind == "stuck_scl":
            chip.hold_scl()
        elif kind == "arbitration" and master.soft:
            return True  # bit-banging does not notice another master; it sees a NACK
        elif kind is not None:
            raise Fault(kind)
        return False

    def _ninth_clock(self, ack, master):
        """The end of a byte: stretching, a test's interrupt, lines that are held. Returns the ACK the master sees."""
        chip = self._chip
        if chip is not None and chip.stretch_us:
            if chip.stretch_us > master.limit_us:
                raise Fault("timeout")
            clock.busy_us(chip.stretch_us)
        if self.on_byte is not None:
            self.on_byte()
        if not self.scl.level():
            raise Fault("timeout")
        if not self.sda.level():
            if not master.soft:
                raise Fault("timeout")
            for _ in range(9):
                self._clock()
            return True  # bit-banging takes the low line for an ACK
        return bool(ack)

    def _stop(self):
        self._record("STOP", self._address)
        self._end()

    def _end(self):
        """The transfer is over for the chip and for whoever kept the wire."""
        self._kept_by = None
        chip, self._chip = self._chip, None
        if chip is not None:
            chip.stop()

    def _failed(self, kind, master):
        """A transfer broke off."""
        if kind == "timeout":
            clock.busy_us(master.limit_us)
            self._record("TIMEOUT", self._address)
        elif kind == "arbitration":
            self._record("LOST", self._address)
        if self.sda.level() and self.scl.level():
            self._end()
        else:
            # No STOP can be made on a line that is held: the chip stays where it is.
            self._kept_by = None

    # The lines moved by pins

    def edge(self, line, level):
        """A pin moved line to level. Chips see clocks, START and STOP in it."""
        if line is self.scl:
            if not level:
                self._clock()
        elif self.scl.level():
            self._record("STOP" if level else "START", None)
            if level:
                self._chip = None
                for chip in self.reachable():
                    chip.stop()

    def _clock(self):
        for chip in self.reachable():
            if chip.holds_sda:
                chip.clock()

    def _take_lines(self):
        """The peripheral gets the lines; a transfer that somebody left open is over."""
        self.peripheral = True
        self.scl.let_go()
        self.sda.let_go()
        if self._kept_by is not None:
            self._stop()

    def _record(self, operation, address, data=b""):
        self.transcript.note(name_of(self.user()), operation, address, data)
