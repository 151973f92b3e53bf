"""Wrong variants of the wait queue, Lock and the search for cycles."""

from .variant import Variant

VARIANTS = (
    Variant(
        "a re-push that erases a cancel",
        [
            (
                "_rt.py",
                "if queue is not loop or data is not None and data is not waiter:\n            return",
                "if False:\n            return",
            ),
            (
                "_rt.py",
                "if data is None:\n            if core",
                "if data is not waiter:\n            if data is None and core",
            ),
        ],
        "locks.three_by_one",
        "micropython-any",
        "cancellation",
        True,
    ),
    Variant(
        "a hand-over to a cancelled waiter, which does not pass it on",
        [
            ("_rt_cpython.py", "if future.cancelled() or future.get_loop", "if future.get_loop"),
            ("waitqueue.py", "queue._give_back(waiter)", "pass"),
        ],
        "locks.three_by_one",
        "cpython-any",
        "at rest: the lock is held",
        True,
    ),
    Variant(
        "a grant that a cancelled waiter keeps",
        [
            ("waitqueue.py", "queue._give_back(waiter)", "pass"),
        ],
        "locks.three_by_one",
        "micropython-any",
        "at rest: the lock is held",
        True,
    ),
    Variant(
        "last in, first out",
        [
            ("waitqueue.py", "waiter = queue._line.pop(0)", "waiter = queue._line.pop()"),
        ],
        "locks.three_by_one",
        "micropython-any",
        "order",
        True,
    ),
    Variant(
        "a timed-out waiter that is left in the line",
        [
            ("waitqueue.py", "queue._line.remove(waiter)\n        queue._advance()", "pass"),
        ],
        "locks.three_by_one",
        "micropython-any",
        "structure: somebody stands in line who does not wait",
        True,
    ),
    Variant(
        "a time-out that is believed although the grant came first",
        [
            (
                "waitqueue.py",
                "if waiter.task is None:\n                # Counted",
                "if waiter.task is None and left != ms:\n                # Counted",
            ),
        ],
        "locks.three_by_one",
        "cpython-any",
        "left behind",
        True,
    ),
    Variant(
        "a lock that is free while it is handed over",
        [
            ("lock.py", "self._holder = waiter.holder or task\n", "return\n"),
            (
                "lock.py",
                "await wait(self, hold, holder, timeout_ms)\n",
                "await wait(self, hold, holder, timeout_ms)\n        self._holder = holder\n",
            ),
        ],
        "locks.grabbers",
        "micropython-any",
        "order",
    ),
    Variant(
        "a line without its limit",
        [
            ("waitqueue.py", "len(queue._line) >= queue._limit", "len(queue._line) > queue._limit"),
        ],
        "locks.bounded",
        "micropython-any",
        "structure: more wait than max_waiters",
    ),
    Variant(
        "a lock released early that is taken from its next holder",
        [
            (
                "lock.py",
                "if holder is current_task() or holder is not None and ended(holder):",
                "if holder is not None:",
            ),
        ],
        "locks.early",
        "micropython-any",
        "exclusion",
    ),
    Variant(
        "a cycle that nobody looks for",
        [
            ("waitqueue.py", "if queue._stuck(waiter_of):", "if False:"),
        ],
        "locks.crosswise",
        "micropython-any",
        "left behind",
        True,
    ),
    Variant(
        "a cycle over a task that is being cancelled",
        [
            ("cycles.py", " or on_its_way(waiter):", ":"),
        ],
        "locks.crosswise",
        "cpython-any",
        "cycle",
        True,
    ),
)
