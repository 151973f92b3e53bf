"""What is on the Pico's SPI pins."""
# pyright: reportMissingImports=false

from dataclasses import dataclass

from buslock_sim.errors import ProtocolError
from rp2040py.gpio_pin import GPIOPinState

UNSET_HZ = 1e6
SPO, SPH = 1 << 6, 1 << 7  # polarity and phase, in the controller's SSPCR0


class SPIPeer:
    """Answers each frame with respond(frame) while its chip select (active low) is low; nobody is there otherwise."""

    def __init__(self, index, cs, respond, selected=None):
        self.index, self.cs, self.respond, self.on_select = index, cs, respond, selected
        self.selected = False

    def attach(self, rp2040):
        self._spi = rp2040.spi[self.index]
        self._answer = 0
        self._alarm = rp2040.clock.create_alarm(lambda: self._spi.complete_transmit(self._answer))
        self._spi.on_transmit = self._transmit
        rp2040.gpio[self.cs].add_listener(self._cs_moved)

    def _cs_moved(self, state, _before):
        selected = state == GPIOPinState.LOW
        if selected != self.selected:
            self.selected = selected
            if self.on_select:
                self.on_select(selected)

    def _transmit(self, frame):
        self._answer = self.respond(frame) if self.selected else 0xFF
        self._alarm.schedule(self._spi.data_bits * 1e9 / (self._spi.clock_frequency or UNSET_HZ))


@dataclass(frozen=True)
class Clocking:
    """What the controller is set to, for chips of buslock_sim."""

    actual: float
    polarity: int
    phase: int
    bits: int
    lsb_first: bool = False  # this controller cannot

    @property
    def mode(self):
        return 2 * self.polarity + self.phase

    @property
    def baudrate(self):
        return int(self.actual)


class Level:
    """The level of a pin, for a chip that looks at one (D/C)."""

    def attach(self, gpio):
        self._gpio = gpio

    def level(self):
        return int(self._gpio.value == GPIOPinState.HIGH)


class SPIWire:
    """Chips of buslock_sim by the number of their chip select's pin (active low), and the pins they look at.

    What breaks a chip's rules, or selects two at once, is in `violations`: no exception can tell the program of it.
    """

    def __init__(self, index, chips, levels=None):
        self.index, self.chips, self.levels = index, chips, levels or {}
        self.violations = []
        for cs, chip in chips.items():
            chip.home, chip.cs = self, f"GP{cs}"

    def attach(self, rp2040):
        self._spi = rp2040.spi[self.index]
        self._selected = []
        self._answer = 0
        self._alarm = rp2040.clock.create_alarm(lambda: self._spi.complete_transmit(self._answer))
        self._spi.on_transmit = self._transmit
        for pin, level in self.levels.items():
            level.attach(rp2040.gpio[pin])
        for cs, chip in self.chips.items():
            rp2040.gpio[cs].set_input_value(True)  # a pull-up resistor
            rp2040.gpio[cs].add_listener(self._mover(chip))

    @property
    def clocking(self):
        control = self._spi.read_uint32(0)
        return Clocking(
            self._spi.clock_frequency or UNSET_HZ,
            int(bool(control & SPO)),
            int(bool(control & SPH)),
            self._spi.data_bits,
        )

    def _mover(self, chip):
        def moved(state, _before):
            low = state == GPIOPinState.LOW
            if low == (chip in self._selected):
                return
            if low:
                self._selected.append(chip)
                chip.idle_sck = self.clocking.polarity
            else:
                self._selected.remove(chip)
            self._guarded(chip.select if low else chip.deselect)

        return moved

    def _transmit(self, byte):
        clocking = self.clocking
        self._answer = 0xFF
        if len(self._selected) > 1:
            self._note("selected at once: " + ", ".join(chip.cs for chip in self._selected))
        for chip in self.chips.values():
            if chip not in self._selected:
                chip.pass_by(byte, clocking)
            elif self._guarded(chip.check_clock, clocking):
                self._answer = self._guarded(chip.exchange, byte)
                if any(other.drives_miso for other in self.chips.values() if other is not chip):
                    self._answer = 0x00  # two drive MISO: nothing good comes of it
        self._alarm.schedule(clocking.bits * 1e9 / clocking.actual)

    def _guarded(self, call, *args):
        """What the call returns, True for None; 0 if the chip complains."""
        try:
            found = call(*args)
        except ProtocolError as error:
            self._note(str(error))
            return 0
        return True if found is None else found

    def _note(self, text):
        if text not in self.violations:
            self.violations.append(text)
