"""Net: a line that pins drive high or low."""


class Net:
    """A line for Pin and DigitalInOut: a chip select, D/C, a driver enable. Undriven it has the level of its pull.

    All the pins made on one line are one GPIO, as on a board: what was driven last counts, and an output that is given
    no value drives what it drove before, after power-on 0. on_edge is called with the net when its level changes.
    """

    # What Pin and DigitalInOut ask a Wire: no peripheral has the line, and nobody has claimed it.
    peripheral = False
    claimed = None

    def __init__(self, name, pull=1, calls=None, on_edge=None):
        self.name = str(name)
        self.wire = self
        self.pin = None  # the DigitalInOut that has it
        self.pull = pull
        self.latch = 0
        self.on_edge = on_edge
        self._calls = calls
        self._driven = None

    def __repr__(self):
        return "Net(%s)" % self.name

    def level(self):
        return self.pull if self._driven is None else self._driven

    def to_gpio(self):
        pass

    def drive(self, pin, level):
        """pin drives 0 or 1, or lets go (None)."""
        late = None
        if level is not None and self._calls is not None:
            late = self._calls.called(self.name)
        before = self.level()
        self._driven = level
        if level is not None:
            self.latch = level
        if self.level() != before and self.on_edge is not None:
            self.on_edge(self)
        if late is not None:
            raise late
