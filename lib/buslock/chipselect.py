"""Chip selects: whatever the port calls a pin, as a function that drives it, or tells its level."""


def chip_select(cs, active):
    """(name, pin, drive) for a Pin, its number, a DigitalInOut or a pin of `board`; (None, None, None) for None.

    drive(level) drives it, drive() tells its level. It is made an output with the idle level when it is first driven.
    """
    if cs is None:
        return None, None, None
    if isinstance(cs, (bool, str, float)):
        raise TypeError("cs is a Pin, its number, a DigitalInOut, a pin of board, or None; not %r" % (cs,))
    name = cs
    if isinstance(cs, int):
        from machine import Pin

        cs = Pin(cs)
    else:
        name = repr(cs)
    if hasattr(cs, "switch_to_output"):
        return name, cs, _digital(cs, active)
    if hasattr(cs, "init") and callable(cs):
        return name, cs, _machine(cs, active)
    from digitalio import DigitalInOut

    return name, cs, _digital(DigitalInOut(cs), active)


def pin_of(number):
    """The Pin of that number; None where there is none."""
    try:
        from machine import Pin

        return Pin(number)
    except (ImportError, TypeError, ValueError):
        return None


def _machine(pin, active):
    ready = []

    def drive(level=None):  # with *level it would allocate, and out of memory leave the chip selected
        if not ready:
            pin.init(pin.OUT, value=1 - active)
            ready.append(True)
        return pin() if level is None else pin(level)

    return drive


def _digital(pin, active):
    ready = []

    def drive(level=None):
        if not ready:
            pin.switch_to_output(value=bool(1 - active))
            ready.append(True)
        if level is None:
            return int(pin.value)
        pin.value = bool(level)
        return None

    return drive
