"""Multiplexer: channels that are connected one by one or together, after the TCA9548A."""

from .chip import Chip
from .segment import Segment


class Multiplexer(Chip):
    """One byte selects the channels, bit n for channel n; a read gives it back. After power-on all are off.

        mux = wire.attach(0x70, Multiplexer())
        mux.channel(3).attach(0x48, Thermometer())

    A selection takes effect at the STOP. Chips with one address on two open channels, or on a channel and on
    the wire itself, answer at once, which is a mistake as soon as they are addressed. A chip that holds a line behind
    a closed channel does not disturb; reset() (the RESET pin) closes all.
    """

    def __init__(self, channels=8):
        if not isinstance(channels, int):
            raise TypeError("channels must be an int, not %s" % type(channels).__name__)
        if not 1 <= channels <= 8:
            raise ValueError("channels must be 1 to 8, not %d" % channels)
        self._channels = [Segment("channel %d" % n) for n in range(channels)]
        for channel in self._channels:
            channel.owner = self
        self.reset()

    def channel(self, n):
        """The Segment of channel n, to attach chips to."""
        if not 0 <= n < len(self._channels):
            raise ValueError("channel must be 0 to %d, not %r" % (len(self._channels) - 1, n))
        return self._channels[n]

    def reset(self):
        self.control = 0
        self._next = None

    def open_channels(self):
        return [channel for n, channel in enumerate(self._channels) if self.control >> n & 1]

    def watched(self):
        return any(channel.watched for channel in self._channels)

    def start(self, read):
        return True

    def write(self, byte):
        if byte >> len(self._channels):
            self.complain("0x%02x selects a channel beyond the %d it has" % (byte, len(self._channels)))
        self._next = byte
        return True

    def read(self):
        return self.control

    def stop(self):
        if self._next is not None:
            self.control = self._next
            self._next = None
