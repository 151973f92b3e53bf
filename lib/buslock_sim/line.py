"""Line: SCL or SDA as an open-drain net."""


class Line:
    """SCL or SDA: low if a chip or a pin pulls it low, else high by its pull-up."""

    latch = 1  # what a pin drives that was given no value

    def __init__(self, wire, name):
        self.wire = wire
        self.name = name
        self.pin = None  # the DigitalInOut that has it
        self._low_by = []
        self._high_by = []

    def level(self):
        if self._low_by:
            return 0
        if self.wire.watched:
            held = "holds_" + self.name
            for chip in self.wire.reachable():
                if getattr(chip, held):
                    return 0
        return 1

    def drive(self, pin, level):
        """pin drives 0, 1 (push-pull), or None (lets go)."""
        before = self.level()
        if pin in self._low_by:
            self._low_by.remove(pin)
        if pin in self._high_by:
            self._high_by.remove(pin)
        if level == 0:
            self._low_by.append(pin)
        elif level == 1:
            self._high_by.append(pin)
        after = self.level()
        if self._high_by and not after:
            raise self.wire.mistake(
                "a pin drives %s high against something that pulls it low: use OPEN_DRAIN" % self.name
            )
        if before != after:
            self.wire.edge(self, after)

    def let_go(self):
        self._low_by.clear()
        self._high_by.clear()
