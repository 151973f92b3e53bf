"""Transcript: what happened on a wire, in order."""

from . import clock

LONGEST = 1 << 20  # that any keeps, for programs with little memory: an entry takes 100 bytes


class Transcript:
    """The last keep entries (us, user's name, operation, address, bytes); an iterable with a length.

    The operations are START, RESTART, write, read, NACK, TIMEOUT, LOST (arbitration) and STOP. START and STOP made
    by pins have no address. clear() forgets them, str() is one line an entry.
    """

    def __init__(self, keep):
        self.keep = min(keep, LONGEST)
        self._entries = []

    def note(self, user, operation, address, data=b""):
        if self.keep:
            if len(self._entries) >= self.keep:
                del self._entries[: self.keep // 2 or 1]
            self._entries.append((clock.now_us(), user, operation, address, data))

    def __len__(self):
        return len(self._entries)

    def __iter__(self):
        return iter(self._entries)

    def __getitem__(self, index):
        return self._entries[index]

    def clear(self):
        self._entries.clear()

    def steps(self):
        """(operation, address, bytes) of each entry: what a test compares."""
        return [entry[2:] for entry in self._entries]

    def __str__(self):
        lines = []
        for us, user, operation, address, data in self._entries:
            where = "    " if address is None else "0x%02x" % address if isinstance(address, int) else str(address)
            text = " ".join(["%02x" % byte for byte in data])
            lines.append("%10d us  %-12s %-8s %s %s" % (us, user or "-", operation, where, text))
        return "\n".join(lines)
