"""SpiWire: an SPI bus with chips on it, which sees to it that one is selected at a time."""

from . import clock
from .calls import Calls
from .errors import ProtocolError, mistake
from .net import Net
from .spichip import SpiChip
from .spimove import Move
from .tasks import current, name_of
from .transcript import Transcript


class SpiWire(Calls):
    """An SPI bus. Attach chips to it, then make an SPI, SoftSPI, BusioSPI or AsyncSPI on it.

        wire = SpiWire()
        display = wire.attach("display", Display())
        spi = SPI(wire, port="rp2")
        cs = Pin(wire.line("display"), Pin.OUT, value=1)       # or a DigitalInOut

    transcript is what happened: configure, select, deselect, write, read; keep is its length, 0 for none. violations
    holds the ProtocolErrors: a transfer with two chip selects active, or with none and nobody alone (bytes of 0xFF
    are mere clocks); a clock that the chip cannot follow; a mode changed, or a task that clocks, inside another's
    section. check() raises the first of them, or says that a chip select was left active.

    user is a function that tells who uses the wire, by default the current task, or thread; let it return None where
    tasks hand an open section to each other. on_byte is called after every byte, in the middle of the transfer. calls
    and fail_call(): see Calls.
    """

    def __init__(self, name="the SPI wire", keep=1000):
        self.name = name
        self.transcript = Transcript(keep)
        self.violations = []
        self.user = current
        self.on_byte = None
        self.claimed = None  # the busio object that has the pins
        self.clocking = None  # of the peripheral
        self.chips = {}  # by the name of their line; None is a chip that is alone
        self._sck = 0
        self._lines = {}
        self._names = []  # of the chip selects, in the order of their chips
        self._active = {}  # the level that selects, by name
        self._section = {}  # who selected, by name
        self._running = None  # the user of the transfer that runs, in a tuple

    def attach(self, cs, chip, active=0, pull=-1):
        """Put chip on the line called cs (a name or number) and return it; cs=None is a chip that is always selected.

        pull is the level of the line while no pin drives it: idle by default, as with a pull-up; pull=active is a
        line that floats, which may select the chip at any time.
        """
        if not isinstance(chip, SpiChip):
            raise TypeError("%r is no SpiChip: derive your own chips from buslock_sim.SpiChip" % (chip,))
        if cs in self.chips:
            raise ValueError("%s on %s is taken by %s" % (cs, self.name, type(self.chips[cs]).__name__))
        if self.chips and (cs is None or None in self.chips):
            raise ValueError("a chip without a chip select must be alone on %s" % self.name)
        self.chips[cs] = chip
        chip.home = self
        chip.cs = cs
        if cs is not None:
            self._names.append(cs)
            self._active[cs] = active
            line = self.line(cs)
            line.pull = 1 - active if pull == -1 else pull
        return chip

    def detach(self, cs):
        """Take the chip on that line off the bus and return it."""
        if cs not in self.chips:
            raise ValueError("there is no chip on %r of %s" % (cs, self.name))
        if cs is not None:
            self._names.remove(cs)
        self._section.pop(cs, None)
        return self.chips.pop(cs)

    def line(self, name):
        """The line of that name or number, for Pin and DigitalInOut: a chip select, or any other (D/C, reset)."""
        line = self._lines.get(name)
        if line is None:

            def moved(line):
                self._moved(name, line)

            line = self._lines[name] = Net(name, 1, self, moved)
        return line

    def selected(self):
        """The names of the lines whose chips are selected."""
        return [name for name in self._names if self._lines[name].level() == self._active[name]]

    def idle(self):
        """True if no transfer runs and no chip is selected."""
        return self._running is None and not self.selected()

    def running(self):
        """True while a transfer runs."""
        return self._running is not None

    def check(self):
        """Raise the first violation, if there is one, or a ProtocolError if a chip select is active."""
        if self.violations:
            raise self.violations[0]
        left = self.selected()
        if left:
            raise ProtocolError("%s: left active is the chip select %s" % (self.name, _all(left)))

    # For the bus objects

    def configure(self, clocking):
        """The peripheral is set to this Clocking."""
        before = self.clocking
        if self._running is not None:
            raise self.mistake("%s is configured inside a transfer" % self.name)
        if before is None or before.mode != clocking.mode:
            left = self.selected()
            if left and before is not None:
                raise self.mistake(
                    "mode %d becomes mode %d while %s is selected" % (before.mode, clocking.mode, _all(left))
                )
        self.clocking = clocking
        if not clocking.late:
            self._sck = clocking.polarity
        self._record("configure", "mode %d, %d Hz" % (clocking.mode, clocking.baudrate))

    def transfer(self, n, out, fill, into, port):
        """n bytes: out or, where that is None, the byte fill go to the chip, what comes back into into, if not None."""
        move = self.begin(n, out, fill, into, port)
        try:
            clock.busy_us(move.us)
            move.go_on(n)
        finally:
            self.end(move)

    def begin(self, n, out, fill, into, port):
        """A transfer that go_on() then carries out, piece by piece, until end()."""
        user = self.user()
        if self._running is not None:
            raise self.mistake("%s begins inside a transfer of %s" % (_who(user), _who(self._running[0])))
        try:
            move = Move(self, self._target(n, out, fill, into, user), n, out, fill, into, port)
        except ProtocolError as error:
            self.remember(error)
            raise
        self._running = (user,)
        return move

    def end(self, move):
        self._running = None
        self._sck = self.clocking.polarity
        if move.out is not None and move.done:
            self._record("write", move.cs, bytes(move.out[: move.done]))
        if move.into is not None and move.done:
            self._record("read", move.cs, bytes(move.into[: move.done]))

    def _target(self, n, out, fill, into, user):
        """The chip that is spoken to, or None if these are clocks for nobody."""
        chips = self.chips
        if None in chips:
            chip = chips[None]
        else:
            selected = self.selected()
            if len(selected) > 1:
                raise mistake("%s: %s are selected at once" % (self.name, _all(selected)))
            if not selected:
                if into is None and bytes(out) == b"\xff" * n:
                    return None
                raise mistake("%s: %d bytes %s nobody" % (self.name, n, "from" if out is None else "for"))
            section = self._section.get(selected[0])
            if section is not None and section[0] != user:
                raise mistake("%s clocks into the section of %s on %s" % (_who(user), _who(section[0]), selected[0]))
            chip = chips[selected[0]]
        chip.check_clock(self.clocking)
        if into is not None:
            for other in chips.values():
                if other is not chip and other.drives_miso:
                    other.complain("still drives MISO, while %s is read: it wants 8 clocks after its CS" % chip.cs)
        return chip

    def _moved(self, name, line):
        """A pin moved a line."""
        chip = self.chips.get(name)
        if chip is None:
            return
        selected = line.level() == self._active[name]
        self._record("select" if selected else "deselect", name)
        if selected:
            self._section[name] = (self.user(),)
            chip.idle_sck = self._sck
        else:
            self._section.pop(name, None)
        if self._running is not None:
            raise self.mistake("the chip select %s moves inside a transfer" % name)
        try:
            chip.select() if selected else chip.deselect()
        except ProtocolError as error:
            self.remember(error)
            raise

    # Mistakes

    def mistake(self, text):
        """A ProtocolError to be raised by the caller, already remembered."""
        error = mistake(text)
        self.remember(error)
        return error

    def remember(self, error):
        if error not in self.violations:
            self.violations.append(error)

    def _record(self, operation, where, data=b""):
        self.transcript.note(name_of(self.user()), operation, where, data)


def _who(user):
    return name_of(user) or "somebody"


def _all(names):
    return " and ".join([str(name) for name in names])
