from typing import Any, Final

EVENTS: list[str]
KINDS: tuple[str, ...]
WAIT: Final[int]
GRANT: Final[int]
TIMEOUT: Final[int]
CANCEL: Final[int]
REJECT: Final[int]
RELEASE: Final[int]
START: Final[int]
END: Final[int]
SELECT: Final[int]
DESELECT: Final[int]
ENABLE: Final[int]
DISABLE: Final[int]
RECOVER: Final[int]
RECOVERED: Final[int]
MAKING: Final[int]
READY: Final[int]
FAILED: Final[int]
CLOSE: Final[int]
CLOSED: Final[int]
BLOCK: Final[int]
MARK: Final[int]
WIRE: Final[int]
ALL: Final[int]
LAZY: Final[int]
BUS: Final[int]
NOTE: Final[int]
QUICK: Final[int]
QUICK_WIRE: Final[int]

class Trace:
    """A ring of the last `capacity` records, of which each takes 21 bytes on a board (33 on 64 bits).

    A record is an event, but for an operation that nobody hinders: its grants and releases come with start and end.

    Give it to buses: `I2CBus(..., trace=trace)`; several may share it. `unit` of its times is "us", or "ms" where the
    port has no finer clock. A pause of more than `wrap` of them (18 minutes of us) looks shorter than it was.
    """

    capacity: int
    unit: str
    wrap: int
    def __init__(self, capacity: int = 256) -> None: ...
    def __len__(self) -> int: ...
    def record(self, code: int, bus: Any, key: Any, task: Any, value: int) -> None:
        """For the buses: an event and its kind, and what the dump is to make a text of."""

    def name(self, text: str) -> None:
        """Call the running task so in the dump, in place of the name of its coroutine function."""

    def call(self, task: Any, text: str) -> None:
        """For the buses: the name of a task of theirs."""

    def mark(self, text: str) -> None:
        """A remark of your own among the events."""

    def clear(self) -> None:
        """Forget all events, and the tasks and buses that they keep alive."""

    def dump(self, stream: Any = None) -> None:
        """Print the events, oldest first, or write them to a file, a UART or whatever has write().

        Needs no loop: after an exception or Ctrl-C the last events are still there. Blocks until all is written.
        """
