"""What is on the Pico's SPI pins."""
# pyright: reportMissingImports=false

from rp2040py.gpio_pin import GPIOPinState

UNSET_HZ = 1e6


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
