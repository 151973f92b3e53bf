"""What is at the other end of the Pico's UART."""


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
