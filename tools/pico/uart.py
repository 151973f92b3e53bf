"""What is at the other end of the Pico's UART."""
# pyright: reportMissingImports=false

from buslock_sim import UartLine
from rp2040py.gpio_pin import GPIOPinState


class UARTPeer:
    """Calls receive(peer, byte) for each byte that has left the Pico; peer.send(data) sends at the Pico's baud rate."""

    def __init__(self, index, receive=None):
        self.index, self.receive = index, receive
        self.received = bytearray()
        self._waiting = bytearray()
        self._busy = False

    def attach(self, rp2040):
        self._uart = rp2040.uart[self.index]
        self._alarm = rp2040.clock.create_alarm(self._arrived)
        self._uart.on_byte = self._byte

    def _byte(self, value):
        self.received.append(value)
        if self.receive:
            self.receive(self, value)

    def send(self, data):
        self._waiting += bytes(data)
        if self._waiting and not self._busy:
            self._busy = True
            self._alarm.schedule(self._uart.byte_ns())

    def _arrived(self):
        self._uart.feed_byte(self._waiting.pop(0))
        self._busy = bool(self._waiting)
        if self._busy:
            self._alarm.schedule(self._uart.byte_ns())


class UARTWire:
    """Nodes of buslock_sim at the other end. `de_pin` is that of an RS-485 transceiver's driver enable.

    What the Pico sends while that is not active is in `line.lost`, what arrives while it is active in `line.deaf`.
    """

    def __init__(self, index, nodes, de_pin=None, echo=False, line=None):
        self._index, self._de_pin = index, de_pin
        self.line = (line or Line)(f"UART {index}", de=de_pin is not None, echo=echo)
        for node in nodes:
            self.line.attach(node)

    def attach(self, rp2040):
        self.line.connect(rp2040, rp2040.uart[self._index], self._de_pin)

    @property
    def violations(self):
        found = [str(error) for error in self.line.violations]
        return found + ([f"{self.line.lost} bytes were sent while DE was not active"] if self.line.lost else [])


class Line(UartLine):
    """buslock_sim's, in the board's time: it hears of each character when that has left the Pico."""

    _alarm = None  # before it is connected nothing happens

    def connect(self, rp2040, uart, de_pin):
        self._clock, self._uart = rp2040.clock, uart
        self._alarm = rp2040.clock.create_alarm(self._wake)
        uart.on_byte = self._left
        self.on_send = self._plan
        if de_pin is not None:
            rp2040.gpio[de_pin].add_listener(self._de_driven)

    def _left(self, value):
        if round(self._uart.baud_rate) != self.baudrate:
            self.configure(round(self._uart.baud_rate), 8, None, 1)
        self.settle()
        end = self.now_us()
        start = end - self.char_us
        if start > self._free_us + 1:
            self._burst_us = start  # there was a pause
        self._free_us = end
        self._master_sent(start, end, value)
        self._plan()

    def _wake(self):
        self.settle()
        self._plan()

    def changed(self):
        super().changed()
        self._plan()

    def _plan(self):
        """Wakes up when the next thing happens."""
        next_us = self.next_us()
        if next_us is not None and self._alarm is not None:
            self._alarm.schedule(max(1000, (next_us + 1) * 1000 - self._clock.nanos))

    def _arrive(self, byte):
        if self._uart.enabled:
            self._uart.feed_byte(byte)

    def _de_driven(self, state, _before):
        driven = state in (GPIOPinState.LOW, GPIOPinState.HIGH)
        self.de.drive(self, int(state == GPIOPinState.HIGH) if driven else None)
