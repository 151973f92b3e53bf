"""Mistakes on the wire. They are raised where they happen and also remembered, because a driver may swallow them."""

# Every mistake since the last check(), on all wires of this program.
_unchecked = []


class ProtocolError(AssertionError):
    """Somebody broke the rules of the bus, or of the chip that was spoken to."""


class Fault(Exception):
    """What the electrical level met; the bus objects turn it into the OSError of their port.

    kind is "nack" (of the address), "timeout" or "arbitration".
    """

    def __init__(self, kind):
        super().__init__(kind)
        self.kind = kind


def mistake(text):
    """A ProtocolError to be raised by the caller, already remembered."""
    error = ProtocolError(text)
    _unchecked.append(error)
    return error


def check():
    """Raise the first mistake made on any wire since the last check, swallowed or not. Then forget them."""
    if _unchecked:
        first = _unchecked[0]
        text = str(first)
        if len(_unchecked) > 1:
            text += " (and %d more)" % (len(_unchecked) - 1)
        _unchecked.clear()
        raise ProtocolError(text)


def forget():
    """Forget the mistakes; returns them. For tests that make one on purpose."""
    made = list(_unchecked)
    _unchecked.clear()
    return made
