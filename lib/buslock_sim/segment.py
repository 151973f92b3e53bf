"""Segment: a stretch of I2C bus with chips on it."""

from .chip import Chip


class Segment:
    """A stretch of bus with chips on it: the wire itself, or a channel of a multiplexer."""

    def __init__(self, name):
        self.name = name
        self.chips = {}
        self.owner = None  # the multiplexer whose channel it is
        self.watched = False  # has a chip that held a line at some time: the others need no look at each byte
        self._multiplexers = []

    def attach(self, address, chip):
        """Put chip at address (0 to 0x7F) and return it. A chip may be attached at several addresses."""
        if not isinstance(address, int):
            raise TypeError("address must be an int, not %s" % type(address).__name__)
        if not 0 <= address <= 0x7F:
            raise ValueError("address must be 0 to 0x7F, not %s" % hex(address))
        if not isinstance(chip, Chip):
            raise TypeError("%r is no Chip: derive your own chips from buslock_sim.Chip" % (chip,))
        there = self.chips.get(address)
        if there is not None:
            raise ValueError(
                "0x%02x on %s is taken by %s, so %s cannot have it"
                % (address, self.name, type(there).__name__, type(chip).__name__)
            )
        self.chips[address] = chip
        chip.home = self
        if hasattr(chip, "open_channels"):
            self._multiplexers.append(chip)
        if chip.holds_sda or chip.holds_scl or (hasattr(chip, "watched") and chip.watched()):
            self.watch()
        return chip

    def watch(self):
        """A chip here, or behind here, may hold a line from now on."""
        self.watched = True
        if self.owner is not None:
            self.owner.tell()

    def detach(self, address):
        """Take the chip at address off the bus and return it."""
        if address not in self.chips:
            raise ValueError("there is no chip at %r on %s" % (address, self.name))
        chip = self.chips.pop(address)
        if chip in self._multiplexers:
            self._multiplexers.remove(chip)
        return chip

    def find(self, address, found):
        """Append every chip that hears address, through open channels too."""
        chip = self.chips.get(address)
        if chip is not None:
            found.append(chip)
        for multiplexer in self._multiplexers:
            for channel in multiplexer.open_channels():
                channel.find(address, found)
        return found

    def reachable(self, found=None):
        """Every chip that is electrically connected, each once."""
        found = [] if found is None else found
        for chip in self.chips.values():
            if chip not in found:
                found.append(chip)
        for multiplexer in self._multiplexers:
            for channel in multiplexer.open_channels():
                channel.reachable(found)
        return found
