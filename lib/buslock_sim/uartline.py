"""UartLine: what connects a UART with the devices at its other end, in time."""

from . import clock
from .characters import Characters
from .errors import ProtocolError, mistake
from .node import Node


class UartLine(Characters):
    """A UART's two lines, a single wire, or an RS-485 bus. Attach nodes to it, then make a UART or BusioUART on it.

        line = UartLine(de=True)                        # RS-485 with a driver enable
        line.attach(ModbusNode(17, {0: 1234}))
        uart = UART(line, port="rp2", baudrate=19200)
        de = Pin(line.de, Pin.OUT, value=0)             # or a DigitalInOut

    Characters take the time of their bits; with the clock "instant" they take none, but pauses and delays are real.
    Nothing runs in the background: what is due happens when somebody looks.

    de=True: what is sent while line.de is not at de_active reaches nobody (counted in lost), what arrives while it is
    active is lost too (deaf), unless echo=True. echo=True: the UART receives what it sends. Without both, the two
    directions are independent.

    violations holds the ProtocolErrors: DE dropped before the last bit, a request on top of a reply. check() raises
    the first of them, or says that DE was left active. transcript is what happened: write, reply, lost; keep is its
    length. overruns counts what the receive buffer had no room for, collisions what was spoilt by two that spoke at
    once. calls and fail_call(): see Calls.
    """

    def __init__(self, name="the UART line", de=False, de_active=1, echo=False, keep=1000):
        super().__init__(name, de, de_active, echo, keep)
        self.violations = []
        self.claimed = None  # the busio object that has the pins
        self._stray = None  # the node that makes noise

    def attach(self, node):
        """Put a node on the line and return it."""
        if not isinstance(node, Node):
            raise TypeError("%r is no Node: derive your own from buslock_sim.Node" % (node,))
        self.settle()
        self.nodes.append(node)
        node.line = self
        node.reset()
        self.changed()
        return node

    def detach(self, node):
        """Take a node off the line and return it."""
        self.settle()
        self.nodes.remove(node)
        self.changed()
        return node

    def check(self):
        """Raise the first violation, if there is one, or a ProtocolError if DE is active."""
        self.settle()
        if self.violations:
            raise self.violations[0]
        if self.de is not None and self._driving:
            raise ProtocolError("%s: DE was left active" % self.name)

    def idle(self):
        """True if nobody sends, or is about to, and DE is not active."""
        self.settle()
        return not self._out and not [node for node in self.nodes if node.sending] and not (self.de and self._driving)

    def noise(self, data, in_ms=0):
        """Bytes from nowhere, which the UART receives in_ms from now."""
        if self._stray is None:
            self._stray = self.attach(Node())
            self._stray.full_duplex = True
        self._stray.say(data, clock.now_us() + int(in_ms * 1000))

    # Mistakes

    def mistake(self, text):
        """A ProtocolError to be raised by the caller, already remembered."""
        error = mistake("%s: %s" % (self.name, text))
        self.remember(error)
        return error

    def remember(self, error):
        if error not in self.violations:
            self.violations.append(error)
