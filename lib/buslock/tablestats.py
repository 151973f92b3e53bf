"""The statistics of a LockTable."""

from .waitqueue import LONGEST, PEAK, WAITS

_BUCKETS = 16


def stats(table):
    """A dict of counters. `wait_ms` counts waits by their length: below 1 ms, below 2, below 4, and so on."""
    count = table._counts.get
    waits = [0] * _BUCKETS
    for event in table._counts:
        if isinstance(event, int) and event >= 0:
            waits[min(event, _BUCKETS - 1)] += table._counts[event]
    return {
        "entries": len(table._entries),
        "peak_entries": max(count(PEAK), len(table._entries)),
        "waits": count(WAITS),
        "timeouts": count("timeouts", 0),
        "cancellations": count("cancellations", 0),
        "rejections": count("rejections", 0),
        "stale_holders": count("stale", 0),
        "longest_queue": count(LONGEST),
        "longest_queue_key": count("longest_key"),
        "wait_ms": waits,
    }
