"""Wrong variants of deadline(), on both runtimes."""

from .variant import Variant

VARIANTS = (
    Variant(
        "a deadline that swallows a foreign cancel (MicroPython)",
        [
            ("_rt_alarm.py", "and len(exc.args) == 2 and exc.args[1] is self", ""),
        ],
        "deadlines.over_a_child",
        "micropython",
        "cancellation",
    ),
    Variant(
        "a deadline that swallows a foreign cancel (CPython)",
        [
            ("_rt_cpython.py", "self._task.uncancel() <= self._before and", "self._task.uncancel() is not None and"),
        ],
        "deadlines.tidying",
        "cpython",
        "cancellation",
    ),
    Variant(
        "a deadline that replaces a foreign cancel on its way",
        [
            (
                "_rt_alarm.py",
                "if data is CancelledError:",
                "if False:",
            ),
        ],
        "deadlines.inside_a_lock",
        "micropython",
        "cancellation",
    ),
    Variant(
        "a deadline that leaves no mark",
        [
            ("_rt_alarm.py", "task.data = mark", "pass"),
        ],
        "deadlines.inside_a_lock",
        "micropython",
        "cancellation",
    ),
    Variant(
        "a deadline whose timer stays",
        [
            ("_rt_alarm.py", "self._queue.remove(self._timer)", "pass"),
        ],
        "deadlines.tidying",
        "micropython",
        "at rest: a timer is left",
    ),
)
