"""Failures on order: which transfers to a chip go wrong, and how."""


class Faulty:
    """Something whose transfers can be told to fail."""

    KINDS = ("nack", "timeout", "arbitration", "stuck_sda", "stuck_scl")
    faults = ()

    def fail(self, kind, at=None, times=1, chance=None, seed=1):
        """Make transfers to this chip fail: the next one, the next so many, with times=None all of them.

        kind "nack": NACK of the address or, in a write, of a data byte; "timeout": the chip stops the clock for longer
        than the master waits; "arbitration": another master wins; "stuck_sda", "stuck_scl": the chip holds that line
        low from there on, as after hold_sda() and hold_scl().
        at is where: None at the address, else the number of the data byte, 0 for the first. Only a transfer
        that gets so far counts. chance=0.02 fails one in fifty at random, the same ones for the same seed.
        """
        self.plan(Plan(kind, at, times, chance, seed))

    def plan(self, plan):
        """Add a failure; ValueError if its kind is not one that can be had here."""
        if plan.kind not in self.KINDS:
            raise ValueError("kind must be one of %s, not %r" % (", ".join(self.KINDS), plan.kind))
        if not self.faults:
            self.faults = []
        self.faults.append(plan)

    def fault_at(self, index, read):
        """What goes wrong at this byte, or None. Counts it."""
        for plan in self.faults:
            # The master, not the chip, answers the data bytes of a read: a chip cannot NACK them.
            if plan.at == index and not (read and plan.kind == "nack" and index is not None) and plan.strikes():
                if plan.times == 0:
                    self.faults.remove(plan)
                return plan.kind
        return None


class Plan:
    """One failure that was ordered."""

    ms = 0

    def __init__(self, kind, at, times, chance, seed):
        self.kind = kind
        self.at = at
        self.times = times
        self._limit = None if chance is None else int(chance * 65536)
        self._seed = seed

    def strikes(self):
        if self._limit is not None and self.random(65536) >= self._limit:
            return False
        if self.times is not None:
            self.times -= 1
        return True

    def random(self, n):
        """A number from 0 to n - 1."""
        # A generator of our own: the same seed gives the same failures on every runtime.
        self._seed = (self._seed * 1664525 + 1013904223) & 0xFFFFFFFF
        return (self._seed >> 16) * n >> 16
