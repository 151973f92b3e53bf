"""machine.SPI and machine.SoftSPI on a simulated wire."""

from .arguments import integer, new_buffer, readable, writable
from .spimove import Clocking
from .spiports import find_machine


class SPI:
    """SPI(wire, port="rp2", baudrate=1_000_000): the methods, argument rules and errors of machine.SPI on that port.

    wire stands for the number and the pins of a real SPI; several objects on one wire are one peripheral, as on the
    ports: the last init() counts. MSB and LSB are attributes of the object, because they differ between ports. bits
    other than 8 are checked against what the chip wants, and the buffers are passed on as they are.
    """

    _shared = True

    def __init__(self, wire, port="rp2", *, baudrate=None, polarity=0, phase=0, bits=8, firstbit=None):
        port = find_machine(port)
        self.wire = wire
        self.port = port
        self.MSB = port.msb
        self.LSB = port.lsb
        self._on = True
        self._clocking = None
        if baudrate is None:
            baudrate = port.baudrate
        self._set(baudrate, polarity, phase, bits, port.msb if firstbit is None else firstbit)

    def __repr__(self):
        now = self._now()
        return "%s(%s, baudrate=%d, polarity=%d, phase=%d, bits=%d, port=%s)" % (
            type(self).__name__,
            self.wire.name,
            now.actual,
            now.polarity,
            now.phase,
            now.bits,
            self.port.name,
        )

    def init(self, *args, **kwargs):
        """init(baudrate, polarity, phase, bits, firstbit), as far as the port takes them; the others stay."""
        port = self.port
        if len(args) > port.init_by_position:
            raise TypeError("extra positional arguments given")
        for i, value in enumerate(args):
            name = port.init[i]
            if name in kwargs:
                raise TypeError("function got multiple values for argument '%s'" % name)
            kwargs[name] = value
        for name in kwargs:
            if name not in port.init:
                raise TypeError("extra keyword arguments given")
        late = self.wire.called("init")
        now = self._now()
        self._set(
            self._given(kwargs, "baudrate", now.baudrate),
            self._given(kwargs, "polarity", now.polarity),
            self._given(kwargs, "phase", now.phase),
            self._given(kwargs, "bits", now.bits),
            self._given(kwargs, "firstbit", port.lsb if now.lsb_first else port.msb),
        )
        self._on = True
        self._end(late)

    def deinit(self):
        """Turn it off, where the port does."""
        late = self.wire.called("deinit")
        if self.port.deinit:
            self._on = False
        self._end(late)

    def read(self, nbytes, *write):
        """read(nbytes, write=0x00) -> bytes; the byte write is sent meanwhile."""
        buf = new_buffer(nbytes)
        self._transfer("read", len(buf), None, _fill(write), buf)
        return bytes(buf)

    def readinto(self, buf, *write):
        """readinto(buf, write=0x00)"""
        view = writable(buf)
        self._transfer("readinto", len(view), None, _fill(write), view)

    def write(self, buf):
        """write(buf)"""
        view = readable(buf)
        self._transfer("write", len(view), view, 0, None)

    def write_readinto(self, write_buf, read_buf):
        """write_readinto(write_buf, read_buf): both of one length, or the same buffer."""
        out = readable(write_buf)
        into = writable(read_buf)
        if len(out) != len(into):
            raise ValueError("buffers must be the same length")
        self._transfer("write_readinto", len(out), out, 0, into)

    def _given(self, kwargs, name, present):
        value = kwargs.get(name, -1)
        if name == "firstbit" and value is None:
            raise TypeError("can't convert NoneType to int")
        value = integer(value)
        return present if value == -1 else value

    def _set(self, baudrate, polarity, phase, bits, firstbit):
        port = self.port
        baudrate = integer(baudrate)
        bits = integer(bits)
        if baudrate <= 0:
            raise ValueError("baudrate must be positive")
        if bits < 1 or (bits != 8 and "bits" not in port.init):
            raise ValueError("bits must be 8")
        if firstbit not in (port.msb, port.lsb):
            raise ValueError("firstbit must be MSB or LSB of the object, not %r" % (firstbit,))
        lsb_first = firstbit == port.lsb
        if lsb_first and not port.lsb_works:
            raise NotImplementedError("LSB")
        # The ports take any number for polarity and phase, and use whether it is 0.
        self._clocking = Clocking(port, baudrate, 1 if polarity else 0, 1 if phase else 0, bits, lsb_first)
        self.wire.configure(self._clocking)

    def _now(self):
        """What the peripheral is set to; a bit-banged one has no peripheral to share."""
        return self.wire.clocking if self._shared else self._clocking

    def _transfer(self, name, n, out, fill, into):
        late = self.wire.called(name)
        port = self.port
        if not self._on:
            raise OSError("transfer on deinitialized SPI")
        if n:
            if not self._shared and self.wire.clocking is not self._clocking:
                self.wire.configure(self._clocking)
            self.wire.transfer(n, out, fill, into, port)
        elif port.empty is not None:
            raise ValueError(port.empty)
        self._end(late)

    def _end(self, late):
        if late is not None:
            raise late


class SoftSPI(SPI):
    """SoftSPI(wire, baudrate=500_000): machine.SoftSPI, whose init() knows no bits."""

    _shared = False

    def __init__(self, wire, *, baudrate=None, polarity=0, phase=0, bits=8, firstbit=None):
        super().__init__(wire, "soft", baudrate=baudrate, polarity=polarity, phase=phase, bits=bits, firstbit=firstbit)


def _fill(write):
    if len(write) > 1:
        raise TypeError("function expected at most 3 arguments, got %d" % (len(write) + 2))
    return integer(write[0]) & 0xFF if write else 0
