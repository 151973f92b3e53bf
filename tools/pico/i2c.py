"""Simulated chips on the Pico's I2C pins.

The chips are those of buslock_sim, or anything with their start(read), write(byte), read() and stop(). They hang on one
of the two hardware controllers and, at the level of its pins, on the same two wires: that is how firmware bit-bangs
(SoftI2C, scan(), writes of no bytes). Behind a multiplexer (buslock_sim's) those of its open channels answer. A chip that
holds SDA keeps the controller from making a START, until it has seen its clocks on SCL.
"""
# pyright: reportMissingImports=false, reportOptionalCall=false, reportOptionalMemberAccess=false

from rp2040py.gpio_pin import GPIOPinState

SYS_TICK_NS = 8  # of the 125 MHz that count the controller's SCL periods
FUNCTION_I2C = 3  # of a pin
LOOK_NS = 10_000


class I2CWire:
    """One I2C controller (0 or 1) and its pins, with chips by address."""

    def __init__(self, index, sda, scl, chips):
        self.index, self.sda, self.scl, self.chips = index, sda, scl, chips

    def attach(self, rp2040):
        self._controller = rp2040.i2c[self.index]
        self._chip = None
        self._next = None
        self._alarm = rp2040.clock.create_alarm(self._go_on)
        controller = self._controller
        controller.on_start = self._start
        controller.on_connect = self._connect
        controller.on_write_byte = self._write
        controller.on_read_byte = self._read
        controller.on_stop = self._stop
        self._pins = PinWire(rp2040, self.sda, self.scl, self.chips)
        self._sda_pin = rp2040.gpio[self.sda]
        self._bus_free = rp2040.clock.create_alarm(self._look_for_free)

    def _after(self, bits, then):
        """What the controller is told, once so many bits have gone over the wire and the chip lets go of SCL."""
        stretch_us = getattr(self._chip, "stretch_us", 0) if bits == 9 else 0
        bit_ns = (self._controller.scl_low_period + self._controller.scl_high_period) * SYS_TICK_NS
        self._next = then
        self._alarm.schedule(max(1, bits * bit_ns) + stretch_us * 1000)

    def _go_on(self):
        then, self._next = self._next, None
        then()

    def _start(self, _repeated):
        if holders(self.chips):
            self._bus_free.schedule(LOOK_NS)  # it waits for the bus, and meanwhile the firmware gives up
        else:
            self._after(1, self._controller.complete_start)

    def _look_for_free(self):
        if not self._controller.starts:
            return  # it was reset
        if holders(self.chips) or self._sda_pin.function_select != FUNCTION_I2C:
            self._bus_free.schedule(LOOK_NS)
        else:
            self._after(1, self._controller.complete_start)

    def _connect(self, address, mode):
        self._chip = called(self.chips, address, bool(int(mode)))
        acknowledged = self._chip is not None
        self._after(9, lambda: self._controller.complete_connect(acknowledged))

    def _write(self, byte):
        acknowledged = self._chip is not None and bool(self._chip.write(byte))
        self._after(9, lambda: self._controller.complete_write(acknowledged))

    def _read(self, more):
        byte = 0xFF if self._chip is None else self._chip.read() & 0xFF
        self._after(9, lambda: self._controller.complete_read(byte))

    def _stop(self):
        if self._chip is not None:
            self._chip.stop()
            self._chip = None
            self._pins.look()
        self._after(1, self._controller.complete_stop)


def called(chips, address, read):
    """The chip that acknowledges this address; None."""
    for chip in find(chips, address):
        chip.address = address
        return chip if chip.start(read) else None
    return None


def find(chips, address):
    """The chips that hear this address: at most one, if the chips are wired rightly."""
    if address in chips:
        yield chips[address]
    for chip in chips.values():
        for channel in getattr(chip, "open_channels", list)():
            yield from channel.find(address, [])


def holders(chips):
    """Those that hold SDA low."""
    return [chip for chip in chips.values() if getattr(chip, "holds_sda", False)]


class PinWire:
    """The same chips, bit by bit on two open-drain pins."""

    def __init__(self, rp2040, sda, scl, chips):
        self._sda_pin, self._scl_pin, self._chips = rp2040.gpio[sda], rp2040.gpio[scl], chips
        self._sda = self._scl = True  # as the controller leaves them; False is driven low
        self._pulled = False  # a chip drives SDA low, for a bit or ACK
        self._state = "idle"  # or "in", "out" (bytes towards the chip, from it), "deaf"
        self._chip = None
        self._bits = self._count = 0
        self._sda_pin.add_listener(self._sda_moved)
        self._scl_pin.add_listener(self._scl_moved)
        self._sda_pin.set_input_value(True)  # pull-up resistors
        self._scl_pin.set_input_value(True)

    def _pull(self, low):
        if low != self._pulled:
            self._pulled = low
            self.look()

    def look(self):
        """SDA has the level that the chips give it."""
        self._sda_pin.set_input_value(not (self._pulled or holders(self._chips)))

    def _sda_moved(self, state, _before):
        high = state != GPIOPinState.LOW
        if high == self._sda:
            return
        self._sda = high
        if not self._scl or self._pulled:
            return
        if high:  # STOP
            if self._chip is not None:
                self._chip.stop()
            self._state, self._chip = "idle", None
        else:  # START
            self._state, self._bits, self._count, self._is_address = "in", 0, 0, True

    def _scl_moved(self, state, _before):
        high = state != GPIOPinState.LOW
        if high == self._scl:
            return
        self._scl = high
        if not high:
            for chip in holders(self._chips):
                chip.clock()
                self.look()
            if self._state == "in":
                self._fell_in()
            elif self._state == "out":
                self._fell_out()
        elif self._state == "in" and self._count < 8:
            self._bits = self._bits << 1 | (self._sda and not self._pulled)
            self._count += 1
        elif self._state == "out" and self._count == 8:
            self._wants_more = not self._sda

    def _fell_in(self):
        if self._count == 8:  # the time of the ACK begins
            self._count = 9
            if self._is_address:
                self._is_address = False
                self._reading = bool(self._bits & 1)
                self._chip = called(self._chips, self._bits >> 1, self._reading)
                self._ack = self._chip is not None
            else:
                self._reading = False
                self._ack = self._chip is not None and bool(self._chip.write(self._bits))
            self._pull(self._ack)
        elif self._count == 9:  # and ends
            self._pull(False)
            self._bits = self._count = 0
            if not self._ack:
                self._state = "deaf"
            elif self._reading:
                self._state = "out"
                self._send()

    def _fell_out(self):
        self._count += 1
        if self._count < 8:
            self._pull(not self._byte << self._count & 0x80)
        elif self._count == 8:
            self._pull(False)
        elif self._wants_more:
            self._count = 0
            self._send()
        else:
            self._count = 0
            self._state = "deaf"

    def _send(self):
        self._byte = self._chip.read()
        self._pull(not self._byte & 0x80)
