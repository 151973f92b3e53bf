"""Move: one transfer on an SPI bus, and what the clock was set to."""

from .arguments import os_error
from .errors import ProtocolError, mistake


class Clocking:
    """What an SPI peripheral is set to."""

    def __init__(self, port, baudrate, polarity, phase, bits, lsb_first):
        self.actual = port.actual(baudrate)
        self.baudrate = baudrate
        self.polarity = polarity
        self.phase = phase
        self.mode = 2 * polarity + phase
        self.bits = bits
        self.lsb_first = lsb_first
        self.late = port.late_clock


class Move:
    """One transfer."""

    def __init__(self, wire, chip, n, out, fill, into, port):
        self.wire = wire
        self.chip = chip
        self.cs = None if chip is None else chip.cs
        self.out = out
        self.into = into
        self.done = 0
        # Rounded up, or a loop that waits for a chip would stand still on a clock that only transfers move.
        self.us = -(-n * 8 * 1000000 // wire.clocking.actual)
        self._fill = fill
        self._port = port
        self._stuck = None
        if chip is not None and chip.faults:
            self._strike(None)

    def go_on(self, n):
        """Move bytes until n of them are over."""
        wire = self.wire
        chip = self.chip
        for i in range(self.done, n):
            byte = self._fill if self.out is None else self.out[i]
            answer = 0xFF
            if chip is not None:
                if chip.faults:
                    self._strike(i)
                try:
                    answer = chip.exchange(byte)
                    if not isinstance(answer, int) or not 0 <= answer <= 255:
                        raise mistake("%s.exchange() gave %r, which is no byte" % (type(chip).__name__, answer))
                except ProtocolError as error:
                    wire.remember(error)
                    raise
            if self.into is not None:
                self.into[i] = answer if self._stuck is None else self._stuck
            self.done = i + 1
            for other in wire.chips.values():
                if other is not chip:
                    other.pass_by(byte, wire.clocking)
            if wire.on_byte is not None:
                wire.on_byte()

    def _strike(self, index):
        kind = self.chip.fault_at(index, False)
        if kind == "error":
            raise os_error(self._port.error)
        if kind is not None:
            self._stuck = 0 if kind == "miso_low" else 0xFF
