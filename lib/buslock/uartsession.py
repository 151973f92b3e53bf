"""UARTSession: what the hold of a node gives."""

from .devicemore import Own
from .holds import over
from .uart import Exchanges
from .waitqueue import check_ms


class UARTSession(Exchanges):
    """The operations of a node for the time of a hold, without locking again. Any task may use it."""

    def __init__(self, node, hold):
        self._node = node
        self._hold = hold

    async def _run(self, timeout_ms, function, a, b):
        check_ms(timeout_ms)
        bus = self._node._bus
        hold = self._hold
        if not hold.held:
            raise over(hold)
        if isinstance(hold, Own):
            hold = hold._wire
        if bus._wire_hold is not None and bus._wire_hold is not hold:
            bus._refuse_wire_holder(self._node._label())
        # Cancelled here: the line is free, and dirty if something was under way; the key is the hold's.
        return await bus._on_wire(hold, timeout_ms, 0, function, a, b)
