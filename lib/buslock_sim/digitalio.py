"""digitalio.DigitalInOut on a line of a simulated wire."""


class Direction:
    INPUT = "Direction.INPUT"
    OUTPUT = "Direction.OUTPUT"


class Pull:
    UP = "Pull.UP"
    DOWN = "Pull.DOWN"


class DriveMode:
    PUSH_PULL = "DriveMode.PUSH_PULL"
    OPEN_DRAIN = "DriveMode.OPEN_DRAIN"


class DigitalInOut:
    """DigitalInOut(wire.scl): digitalio's methods and properties, on a line of a wire.

    As on CircuitPython the pin must be free: while a BusioI2C has it, this is a ValueError, so deinit() that first.
    """

    def __init__(self, line):
        if not hasattr(line, "drive"):
            raise TypeError("a DigitalInOut needs a line of a wire, like wire.scl, not %s" % type(line).__name__)
        if line.wire.claimed is not None or line.pin is not None:
            raise ValueError("%s in use" % line.name.upper())
        line.pin = self
        self._line = line
        self.switch_to_input()

    def deinit(self):
        """Give the pin back."""
        line = self._line
        if line is not None:
            line.drive(self, None)
            line.pin = None
            self._line = None

    def __enter__(self):
        return self

    def __exit__(self, exc_type, exc, tb):
        self.deinit()

    def switch_to_input(self, pull=None):
        self._check()
        self._direction = Direction.INPUT
        self._pull = pull
        self._drive()

    def switch_to_output(self, value=False, drive_mode=DriveMode.PUSH_PULL):
        self._check()
        self._direction = Direction.OUTPUT
        self._mode = drive_mode
        self._value = bool(value)
        self._drive()

    @property
    def direction(self):
        self._check()
        return self._direction

    @direction.setter
    def direction(self, direction):
        if direction == Direction.INPUT:
            self.switch_to_input()
        elif direction == Direction.OUTPUT:
            self.switch_to_output()
        else:
            raise ValueError("Invalid direction.")

    @property
    def value(self):
        self._check()
        return bool(self._line.level())

    @value.setter
    def value(self, value):
        self._check_output()
        self._value = bool(value)
        self._drive()

    @property
    def drive_mode(self):
        self._check_output()
        return self._mode

    @drive_mode.setter
    def drive_mode(self, mode):
        self._check_output()
        self._mode = mode
        self._drive()

    @property
    def pull(self):
        self._check()
        if self._direction == Direction.OUTPUT:
            raise AttributeError("Pull not used when direction is output.")
        return self._pull

    @pull.setter
    def pull(self, pull):
        self._check()
        if self._direction == Direction.OUTPUT:
            raise AttributeError("Pull not used when direction is output.")
        self._pull = pull

    def _check(self):
        if self._line is None:
            raise ValueError("Object has been deinitialized and can no longer be used. Create a new object.")

    def _check_output(self):
        self._check()
        if self._direction != Direction.OUTPUT:
            raise AttributeError("Cannot set value when direction is input.")

    def _drive(self):
        level = None
        if self._direction == Direction.OUTPUT:
            if not self._value:
                level = 0
            elif self._mode == DriveMode.PUSH_PULL:
                level = 1
        self._line.wire.to_gpio()
        self._line.drive(self, level)
