"""Stuck I2C buses: clocking a chip out of the middle of a byte, and making the peripheral anew."""

import time

from ._rt import current_task
from .errors import BusStuck, TransferError
from .refusals import fresh

_CLOCKS = 9  # I2C specification UM10204, 3.1.16 (bus clear): a chip lets go of SDA within nine clocks
_STRETCH_US = 2000  # how long SCL may stay low after it was let go; SMBus allows 25 ms, but that blocks the loop
_HALF_US = 5  # 100 kHz


class Lines:
    """SCL and SDA as pins: machine.Pin or its number, or a pin of CircuitPython's `board`."""

    def __init__(self, scl, sda):
        if scl is None or sda is None:
            raise ValueError("scl= and sda= go together: give both pins, or none")
        self.scl = scl
        self.sda = sda

    def stuck(self, free=False):
        """'SCL' or 'SDA' if it is low while nobody talks, '' if neither, None if that cannot be seen.

        `free`: no peripheral has the pins.
        """
        scl, sda = _pin(self.scl), _pin(self.sda)
        if scl is None or sda is None:
            if not free:
                return None  # on CircuitPython the pins belong to the peripheral
            try:
                scl, sda = _both(_DigitalPin, self.scl, self.sda)
            except ValueError:
                return None  # its close was interrupted: it has them still
            try:
                return "" if scl.value() and sda.value() else "SCL" if not scl.value() else "SDA"
            finally:
                _done(scl, sda)
        return "" if scl.value() and sda.value() else "SCL" if not scl.value() else "SDA"

    def clear(self, name):
        """Up to nine clocks until SDA is high, then STOP. BusStuck if a line stays low."""
        scl, sda = _both(_open_drain, self.scl, self.sda)
        try:
            _raise(scl, name)
            for _ in range(_CLOCKS):
                if sda.value():
                    break
                scl.value(0)
                _pause()
                _raise(scl, name)
                _pause()
            scl.value(0)
            sda.value(0)
            _pause()
            _raise(scl, name)
            _pause()
            sda.value(1)  # SDA rises while SCL is high: STOP
            _pause()
            if not sda.value():
                raise BusStuck(
                    5,
                    "%s: SDA stays low after %d clocks: switch the chips off and on, or find the short"
                    % (name, _CLOCKS),
                )
        finally:
            _done(scl, sda)


def _both(make, scl, sda):
    """A pin that was made stays in use until it is done: if the second fails, the first is."""
    scl = make(scl)
    try:
        return scl, make(sda)
    except BaseException:
        scl.done()
        raise


def _done(scl, sda):
    try:
        scl.done()
    finally:
        sda.done()


def _raise(scl, name):
    scl.value(1)
    for _ in range(_STRETCH_US // 10):
        if scl.value():
            return
        _pause()
        _pause()
    raise BusStuck(5, "%s: SCL stays low: a chip holds the clock, or the pull-up is missing" % name)


def _pause():
    if hasattr(time, "sleep_us"):
        time.sleep_us(_HALF_US)


def _pin(pin):
    """A machine.Pin to look at; None where the peripheral owns the pins (CircuitPython)."""
    if isinstance(pin, int):
        from machine import Pin

        return Pin(pin)
    return pin if hasattr(pin, "init") else None


class _MachinePin:
    def __init__(self, pin):
        pin.init(pin.OPEN_DRAIN, value=1)
        self.value = pin.value

    def done(self):
        """The peripheral takes the pin back when it is made anew."""


class _DigitalPin:
    def __init__(self, pin):
        from digitalio import DigitalInOut, DriveMode

        self.pin = DigitalInOut(pin)
        try:
            self.pin.switch_to_output(True, DriveMode.OPEN_DRAIN)
        except BaseException:
            self.pin.deinit()
            raise

    def value(self, *level):
        if not level:
            return self.pin.value
        self.pin.value = level[0]
        return None

    def done(self):
        self.pin.deinit()


def _open_drain(pin):
    found = _pin(pin)
    return _DigitalPin(pin) if found is None else _MachinePin(found)


async def recover(bus, timeout_ms=None):
    """Free a stuck bus and make the peripheral anew; set-ups are due again. BusStuck if SDA or SCL stays low.

    Takes the wire only, so it works inside a hold. Needs `scl=` and `sda=` to clock the bus.
    """
    bus._look()
    hold = bus._wire_hold
    if hold is not None and hold._task is current_task():
        await _recover(bus)
        return
    wire = bus._wire
    await wire.acquire(timeout_ms)  # cancelled here: nothing is owned
    if bus._wire is not wire:
        bus._refuse_closed()
    try:
        await _recover(bus)  # cancelled here: dirty, so the next user does it
    finally:
        if bus._wire._holder is current_task():
            bus._wire._pass_on()


async def _clean(bus):
    """Before the next transfer on a dirty bus: look at the lines, and recover once if one is low."""
    lines = bus._lines
    if lines is not None:
        stuck = lines.stuck(bus._unmade and bus._factory is not None)
        if stuck and bus._gave_up is not None:
            raise fresh(bus._gave_up)  # a recovery has failed, and nothing has changed since: no second try
        if stuck or bus._unmade or stuck is None and bus._factory is not None:
            await _recover(bus)
            return
    bus._cleaned()


async def _recover(bus):
    if bus._trace is None:
        await _free(bus)
    else:
        await bus._trace.recovery(_free)


async def _free(bus):
    bus._count("recoveries")
    bus._soil()
    bus._channel = None
    for device in bus._every_device():
        device._due()
    lines = bus._lines
    if bus._factory is None and bus._native is not None and lines is not None:
        raise TransferError(
            5, "%s: a ready busio.I2C has the pins: give I2CBus a function that makes it, and recover() can" % bus.name
        )
    # Cancelled or failed in here: still dirty and without a peripheral, so the next user begins again.
    bus._unmade = lines is not None or bus._factory is not None
    if bus._lazy is not None:
        await bus._lazy.aclose()  # on CircuitPython the pins belong to the peripheral until then
    if lines is not None:
        try:
            lines.clear(bus.name)
        except BusStuck as error:
            bus._gave_up = error
            raise
    bus._gave_up = None
    if bus._lazy is not None:
        bus._backend = bus._wrap(await bus._lazy.get())
    elif bus._factory is None and lines is not None:
        bus._backend = bus._wrap(_made_anew(bus))
    bus._unmade = False
    bus._cleaned()


def _made_anew(bus):
    """A ready I2C object, with its pins taken back from GPIO."""
    i2c = getattr(bus._backend, "i2c", bus._backend)
    lines = bus._lines
    scl, sda = _pin(lines.scl), _pin(lines.sda)
    try:
        text = repr(i2c).split("freq=")
        if len(text) > 1:
            i2c.init(scl=scl, sda=sda, freq=int(text[1].split(",")[0].split(")")[0]))  # SoftI2C
        else:
            i2c.init(scl=scl, sda=sda)
        return i2c
    except (AttributeError, OSError, TypeError, ValueError):
        pass
    try:
        # The others are made again under the number and the speed in their repr: "I2C(0, freq=400000, ...)".
        text = repr(i2c)
        number = int(text.split("(")[1].split(",")[0])
        freq = int(text.split("freq=")[1].split(",")[0].split(")")[0])
        return type(i2c)(number, scl=scl, sda=sda, freq=freq)
    except (IndexError, OSError, TypeError, ValueError) as error:
        raise TransferError(
            5,
            "%s: the bus is free, but %r cannot be made anew (%r): give I2CBus a function that makes it"
            % (bus.name, i2c, error),
        )
