"""machine.Pin on a line of a simulated wire."""


class Pin:
    """Pin(wire.sda, Pin.OPEN_DRAIN, value=1): the methods of machine.Pin, on a line of a wire.

    Without a mode the pin is left as it is. On SCL or SDA of a Wire a mode makes it GPIO: the I2C peripheral is cut off
    until it is made or initialised again, as on the ports that share pins by a multiplexer.
    """

    IN = 0
    OUT = 1
    OPEN_DRAIN = 2
    PULL_UP = 1
    PULL_DOWN = 2

    def __init__(self, line, mode=-1, pull=-1, *, value=None):
        if not hasattr(line, "drive"):
            raise TypeError("a Pin needs a line of a wire, like wire.scl, not %s" % type(line).__name__)
        self._line = line
        self._mode = self.IN
        self._value = line.latch
        if mode != -1 or pull != -1 or value is not None:
            self.init(mode, pull, value=value)

    def __repr__(self):
        return "Pin(%s)" % self._line.name

    def init(self, mode=-1, pull=-1, *, value=None):
        """Make it GPIO with this mode: IN, OUT or OPEN_DRAIN."""
        if mode not in (-1, None, self.IN, self.OUT, self.OPEN_DRAIN):
            raise ValueError("invalid pin mode: %r" % (mode,))
        self._line.wire.to_gpio()
        if mode is not None and mode != -1:
            self._mode = mode
        if value is not None:
            self._value = 1 if value else 0
        self._drive()

    def mode(self, *mode):
        """The mode; or set it."""
        if mode:
            self.init(mode[0])
            return None
        return self._mode

    def value(self, *value):
        """The level of the line; or drive it."""
        if value:
            self._value = 1 if value[0] else 0
            self._drive()
            return None
        return self._line.level()

    __call__ = value

    def on(self):
        self.value(1)

    def off(self):
        self.value(0)

    high = on
    low = off

    def toggle(self):
        self.value(not self._value)

    def _drive(self):
        level = None
        if self._mode == self.OUT:
            level = self._value
        elif self._mode == self.OPEN_DRAIN and not self._value:
            level = 0
        # A peripheral that has the line does not care what the GPIO block would drive.
        if not self._line.wire.peripheral:
            self._line.drive(self, level)
