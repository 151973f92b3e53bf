"""Node: what every simulated device on a UART line can do, and the base class of your own."""

from .errors import mistake
from .faults import Faulty, Plan


class Node(Faulty):
    """A device at the other end of a UART, or one of several on a bus. To make your own:

        class Echo(Node):
            delay_ms = 1

            def hear(self, byte, start_us, end_us):
                self.answer(bytes([byte]), end_us)

    hear(byte, start_us, end_us)   a character for it, or for anybody on its bus; a pause shows in the times
    tick(us)                       the time self.due_us has come; it is None again
    reset()                        the state after power-on

    answer() sends delay_ms later, unless a fail() strikes; while it waits and sends, the node hears nothing, but with
    full_duplex = True. say() sends what nobody has asked for. baudrate is the only one it understands, None any.
    missed counts the characters that it did not hear.
    """

    KINDS = ("silent", "late", "cut", "noise", "crc", "garbage", "twice")
    delay_ms = 0
    full_duplex = False
    baudrate = None
    line = None  # the UartLine it is attached to
    missed = 0
    answers = 0
    busy_until = 0
    next_us = None  # due_us, for the line to look at

    def __init__(self):
        self.sending = []  # (start_us, end_us, byte, (start_us of all, all)) of what it sends, or will

    @property
    def due_us(self):
        """When tick() is to be called, or None."""
        return self.next_us

    @due_us.setter
    def due_us(self, us):
        self.next_us = us
        self.line.changed()

    def hear(self, byte, start_us, end_us):
        pass

    def tick(self, us):
        pass

    def reset(self):
        pass

    def answer(self, data, us, delay_ms=None):
        """Send data as the reply to what ended at us."""
        self.answers += 1
        start = us + int((self.delay_ms if delay_ms is None else delay_ms) * 1000)
        data = bytearray(data)
        again = None
        for plan in list(self.faults):
            if not plan.strikes():
                continue
            if plan.times == 0:
                self.faults.remove(plan)
            kind = plan.kind
            if kind == "silent":
                return
            if kind == "late":
                start += int(plan.ms * 1000)
            elif kind == "cut":
                data = data[: len(data) // 2 if plan.at is None else plan.at]
            elif kind == "noise":
                at = plan.random(len(data)) if plan.at is None else plan.at
                data[at] ^= 1 << plan.random(8)
            elif kind == "crc":
                data[-1] ^= 0xFF
            elif kind == "garbage":
                data = bytearray([plan.random(256) for _ in range(1 + plan.random(4))]) + data
            else:
                again = plan.ms
        end = self.say(data, start)
        if again is not None:
            end = self.say(data, end + int(again * 1000))
        if not self.full_duplex:
            self.busy_until = end

    def say(self, data, us=None):
        """Send data, at the time us or now, after what is being sent already. Returns when the last bit is out."""
        return self.line.node_sends(self, data, us)

    # What follows is for tests; a node of your own leaves it alone.

    def fail(self, kind, at=None, times=1, chance=None, seed=1, ms=50):
        """Make replies of this node fail: the next one, the next so many, with times=None all of them.

        kind "silent": no reply; "late": by ms; "cut": after at bytes, or half; "noise": a bit of the byte at, or of
        any, is wrong; "crc": the last byte is wrong; "garbage": bytes before it; "twice": once more, ms later. Several
        may strike one reply. chance=0.02 fails one in fifty at random, the same ones for the same seed.
        """
        plan = Plan(kind, at, times, chance, seed)
        plan.ms = ms
        self.plan(plan)

    def recover(self):
        """Take back every fail()."""
        self.faults = ()

    def power_on(self):
        """Switch the node off and on again: what it was about to send is lost."""
        self.sending = []
        self.due_us = None
        self.busy_until = 0
        self.reset()

    def complain(self, text):
        """Report a mistake of the master: raises ProtocolError."""
        raise mistake("%s: %s" % (type(self).__name__, text))
