"""Characters: what is sent over a UART's line, in its time."""

from . import clock
from .calls import Calls
from .errors import ProtocolError
from .net import Net
from .tasks import current, name_of
from .transcript import Transcript

_NEVER = 1 << 62


class Characters(Calls):
    """The characters under way. What they may not do is the matter of UartLine."""

    def __init__(self, name, de, de_active, echo, keep):
        self.name = name
        self.echo = echo
        self.de = Net("de", 1 - de_active, self, self._de_moved) if de else None
        self.half_duplex = bool(de or echo)
        self.transcript = Transcript(keep)
        self.user = current
        self.nodes = []
        self.received = bytearray()  # what the UART has not yet read
        self.limit = 256  # of that
        self.on_send = None  # called when somebody begins to send
        self.lost = self.deaf = self.overruns = self.collisions = 0
        self._de_active = de_active
        self._driving = not de
        self._out = []  # [start_us, end_us, byte] of what the UART sends; byte None is one that DE spoilt
        self._free_us = 0  # when the UART's last bit is out
        self._burst_us = 0  # when that transmission began
        self._soon_us = 0  # nothing happens before
        self.configure(9600, 8, None, 1)

    def configure(self, baudrate, bits, parity, stop):
        """The UART is set to this."""
        self.baudrate = baudrate
        self.char_us = -(-(1 + bits + (parity is not None) + stop) * 1000000 // baudrate)

    # For the UART

    def send(self, data):
        """The UART has these bytes to send; they follow those that it has already."""
        self.settle()
        now = clock.now_us()
        if self._free_us <= now:
            self._free_us = self._burst_us = now
            for node in self.nodes:
                if not node.full_duplex and node.sending and node.sending[0][3][0] < now:
                    raise self.mistake(
                        "%s sends on top of the reply of %s, which has %d bytes to go"
                        % (name_of(self.user()) or "somebody", type(node).__name__, len(node.sending))
                    )
        self._record("write", bytes(data))
        char_us = self.byte_us()
        for byte in data:
            end = self._free_us + char_us
            self._out.append([self._free_us, end, byte])
            self._free_us = end
        self._soon_us = 0
        if self.on_send is not None:
            self.on_send()

    def now_us(self):
        return clock.now_us()

    def byte_us(self):
        """The time a character takes, with the present clock."""
        return 0 if clock.instant() else self.char_us

    def waiting(self):
        """How many characters the UART has not sent yet."""
        self.settle()
        return len(self._out)

    def last_bit_us(self):
        """When the last bit is out, or was."""
        return self._free_us

    def take(self, n):
        """Up to n of the bytes that were received."""
        data = bytes(self.received[:n])
        self.received = self.received[n:]
        return data

    def wait(self, until_us):
        """Let time pass until something happens, at most until then. False when it is then."""
        self.settle()
        now = clock.now_us()
        if now >= until_us:
            return False
        next_us = self.next_us()
        if next_us is None or next_us > until_us:
            next_us = until_us
        clock.busy_us(max(1, next_us - now))
        self.settle()
        return True

    def next_us(self):
        """When the next thing will happen, or None."""
        found = self._next()
        return None if found is None else found[0]

    def changed(self):
        """What happens next may be something else now."""
        self._soon_us = 0

    # For nodes

    def node_sends(self, node, data, us):
        start = clock.now_us() if us is None else us
        if node.sending:
            start = max(start, node.sending[-1][1])
        char_us = self.byte_us()
        burst = (start, bytes(data))
        for byte in data:
            node.sending.append((start, start + char_us, byte, burst))
            start += char_us
        if data:
            self._soon_us = 0
            if self.on_send is not None:
                self.on_send()
        return start

    # What is due

    def settle(self):
        """Carry out everything that is due by now, in its order."""
        now = clock.now_us()
        while now >= self._soon_us:  # most calls find nothing to do, and are not to cost much
            found = self._next()
            if found is None or found[0] > now:
                self._soon_us = _NEVER if found is None else found[0]
                return
            us, what = found
            if what is self:
                start, end, byte = self._out.pop(0)
                self._master_sent(start, end, byte)
            elif what.sending and what.sending[0][1] == us:
                start, end, byte, burst = what.sending.pop(0)
                if not what.sending or what.sending[0][3] is not burst:
                    self._record("reply", burst[1])
                self._node_sent(what, start, end, byte)
            else:
                what.next_us = None
                try:
                    what.tick(us)
                except ProtocolError as error:
                    self.remember(error)
                    raise

    def _next(self):
        """(time, line or node) of what happens next, or None."""
        us = what = None
        if self._out:
            us = self._out[0][1]
            what = self
        for node in self.nodes:
            if node.sending and (us is None or node.sending[0][1] < us):
                us = node.sending[0][1]
                what = node
            if node.next_us is not None and (us is None or node.next_us < us):
                us = node.next_us
                what = node
        return None if us is None else (us, what)

    def _master_sent(self, start, end, byte):
        if not self._driving or byte is None:
            self.lost += 1
            return
        if self.half_duplex:
            for node in self.nodes:
                if node.sending and node.sending[0][0] < end and start < node.sending[0][1]:
                    self.collisions += 1
                    byte ^= 0x5A
        if self.echo:
            self._arrive(byte)
        for node in self.nodes:
            self._hear(node, byte, start, end)

    def _node_sent(self, sender, start, end, byte):
        if self.half_duplex:
            if start < self._free_us and end > self._burst_us and self._driving:
                self.collisions += 1
                byte ^= 0xA5
            for node in self.nodes:
                if node is not sender:
                    self._hear(node, byte, start, end)
        if sender.baudrate not in (None, self.baudrate):
            byte ^= 0x3C
        if self._driving and self.de is not None and not self.echo:
            self.deaf += 1
        else:
            self._arrive(byte)

    def _hear(self, node, byte, start, end):
        if start < node.busy_until:
            node.missed += 1
            return
        if node.baudrate not in (None, self.baudrate):
            byte ^= 0x3C
        try:
            node.hear(byte, start, end)
        except ProtocolError as error:
            self.remember(error)
            raise

    def _arrive(self, byte):
        if len(self.received) < self.limit:
            self.received.append(byte)
        else:
            self.overruns += 1

    def _de_moved(self, net):
        self.settle()
        self._driving = net.level() == self._de_active
        self._record("DE on" if self._driving else "DE off", b"")
        if self._out and self._out[0][0] <= clock.now_us():
            self._out[0][2] = None
            if not self._driving:
                raise self.mistake(
                    "DE dropped %d us before the last bit: %d bytes are lost"
                    % (self._free_us - clock.now_us(), len(self._out))
                )

    def _record(self, operation, data):
        self.transcript.note(name_of(self.user()), operation, None, data)
