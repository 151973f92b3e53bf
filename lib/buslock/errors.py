"""What buslock raises. Each message names the bus, the key, the holder's task, and the way out."""

from asyncio import TimeoutError


class DeadlineExceeded(TimeoutError):
    """The time of a `deadline()` is over. An asyncio.TimeoutError: on CPython an OSError too, on boards not."""


class LockTimeout(DeadlineExceeded):
    """Not granted within `timeout_ms`. Nothing is held."""


class QueueFull(RuntimeError):
    """`max_waiters` are waiting already."""


class NotHeld(RuntimeError):
    """Released by somebody who does not hold it, or used after its end."""


class Reentry(RuntimeError):
    """The task holds it already, and would wait for itself."""


class WouldDeadlock(RuntimeError):
    """Tasks that would wait for each other; the cycle is in the message."""


class NotCovered(RuntimeError):
    """The hold at hand does not cover that address."""


class BusClosed(RuntimeError):
    """Closed while waiting, or used while closing."""


class BusError(OSError):
    """A transfer failed. `args` is (errno of the port, text)."""

    final = False  # True: trying again is of no use


class NoAck(BusError):
    """Nobody acknowledged the address, or a byte of data."""


class BusStuck(BusError):
    """SDA or SCL stays low."""

    final = True


class TransferError(BusError):
    """The port reports an error that it does not say more about: time-out, lost arbitration."""


class NoReply(BusError):
    """Silence for `reply_ms`."""


class TransactionError(BusError):
    """An operation of a transaction failed: `index` says which, `results` has those of the operations before it."""

    def __init__(self, errno, text, index=None, results=()):
        super().__init__(errno, text)
        self.index = index
        self.results = results


ERRORS = (DeadlineExceeded, QueueFull, NotHeld, Reentry, WouldDeadlock, NotCovered, BusClosed, BusError)
