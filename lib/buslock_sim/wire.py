"""Wire: an I2C bus with chips on it, which sees to it that one speaks at a time."""

from . import clock
from .errors import Fault, ProtocolError, mistake
from .protocol import Protocol
from .tasks import name_of


class Wire(Protocol):
    """An I2C bus. Attach chips to it, then make an I2C, SoftI2C or BusioI2C on it, several if you like.

        wire = Wire()
        wire.attach(0x48, Thermometer(21.5))

    transcript is what happened (see Transcript); keep is its length, 0 for none. violations holds the
    ProtocolErrors: a START inside another transfer, a START of one task while another keeps the wire by stop=False,
    two chips that answer at once, a chip spoken to wrongly. check() raises the first of them.

    scl and sda are the lines, for Pin and DigitalInOut. user is a function that tells who uses the wire, by default
    the current task, or thread; let it return None where tasks hand an open transfer to each other. on_byte is
    called after every byte, in the middle of the transfer: the place for a test's interrupt or other master.
    messages counts the STARTs.
    """

    def __init__(self, name="the wire", keep=1000):
        super().__init__(name, keep)
        self.violations = []
        self._running = False

    def check(self):
        """Raise the first violation, if there is one."""
        if self.violations:
            raise self.violations[0]

    def idle(self):
        """True if no transfer runs and nobody keeps the wire."""
        return not self._running and self._kept_by is None

    # For the bus objects. master tells byte_us, limit_us and whether it is soft (bit-banged). They may raise Fault.

    def message(self, address, read, buf, stop, master):
        """START, address, the bytes of buf (into it, or from it), and STOP if asked.

        Returns the number of data bytes that went over; a NACK ends a write early.
        """
        self._enter()
        try:
            return self._message(address & 0x7F, read, buf, stop, master)
        except ProtocolError as error:
            self._remember(error)
            self._end()
            raise
        except Fault as fault:
            self._failed(fault.kind, master)
            raise
        finally:
            self._running = False

    def _message(self, address, read, buf, stop, master):
        self._start(master)
        if not self._select(address, read, master):
            clock.busy_us(master.byte_us)
            self._record("NACK", address)
            self._stop()
            raise Fault("nack")
        done = 0
        try:
            for i in range(len(buf)):
                if read:
                    buf[i] = self._get(master)
                elif not self._put(buf[i], master):
                    break
                done += 1
        finally:
            if done and self.transcript.keep:
                self._record("read" if read else "write", address, bytes(buf[:done]))
            clock.busy_us((done + 1) * master.byte_us)
        nack = done < len(buf)
        if nack:
            self._record("NACK", address, bytes(buf[done : done + 1]))
        # After a NACK a hardware master makes a STOP in any case.
        if stop or (nack and not master.soft):
            self._stop()
        return done

    def start(self, master):
        """START, or repeated START; the first byte after it is the address."""
        self._step(self._start, master, master)

    def put(self, byte, master):
        """One byte from the master; True is ACK."""
        if self._kept_by is None:
            return False  # no START came before it: nobody listens
        if self._address is None:
            return self._step(self._select, master, byte >> 1, byte & 1, master)
        ack = self._step(self._put, master, byte, master)
        self._record("write" if ack else "NACK", self._address, bytes([byte]))
        return ack

    def get(self, master):
        """One byte to the master."""
        if self._kept_by is None:
            return 0xFF
        byte = self._step(self._get, master, master)
        self._record("read", self._address, bytes([byte]))
        return byte

    def stop(self, master):
        """STOP."""
        if self._kept_by is not None:
            self._step(self._stop, master)

    def _step(self, function, master, *args):
        self._enter()
        try:
            result = function(*args)
            clock.busy_us(master.byte_us)
            return result
        except ProtocolError as error:
            self._remember(error)
            self._end()
            raise
        except Fault as fault:
            self._failed(fault.kind, master)
            raise
        finally:
            self._running = False

    # For the peripheral and the pins

    def take_back(self):
        """The I2C peripheral is initialised and gets the lines; a transfer that somebody left open is over."""
        if self._running:
            raise self.mistake("the peripheral is initialised inside a transfer to %s" % self._whom())
        self._take_lines()

    def to_gpio(self):
        """The lines become GPIO: the peripheral is cut off until it is initialised again."""
        if self._running:
            raise self.mistake("the pins are reconfigured inside a transfer to %s" % self._whom())
        self.peripheral = False
        self._kept_by = None

    # Mistakes

    def _enter(self):
        """The wire is ours, or somebody makes a mistake."""
        user = self.user()
        if self._running:
            raise self.mistake("%s begins inside a transfer to %s" % (_who(user), self._whom()))
        if self._kept_by is not None and self._kept_by[0] != user:
            raise self.mistake(
                "%s begins while %s keeps the wire to %s: no STOP yet"
                % (_who(user), _who(self._kept_by[0]), self._whom())
            )
        self._running = True

    def mistake(self, text):
        """A ProtocolError to be raised by the caller, already remembered."""
        error = mistake(text)
        self._remember(error)
        return error

    def _remember(self, error):
        if error not in self.violations:
            self.violations.append(error)

    def _whom(self):
        return "nobody yet" if self._address is None else "0x%02x" % self._address


def _who(user):
    return name_of(user) or "somebody"
