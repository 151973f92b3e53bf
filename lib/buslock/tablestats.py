"""The statistics of a LockTable."""

from ._rt import ticks_diff, ticks_ms

_BUCKETS = 16


def arrived(queue):
    """A task has just joined the line."""
    counts = queue._counts
    counts["waits"] += 1
    n = len(queue._line)
    if n == 1 and queue.table is not None:
        counts["peak"] = max(counts.get("peak", 0), len(queue.table._entries))
    if n > counts["longest"]:
        counts["longest"] = n
        counts["longest_key"] = getattr(queue, "key", None)


def gone(queue, waiter, start):
    """A task has left the line, one way or another."""
    counts = queue._counts
    if waiter.cancelled:
        event = "cancellations"
    elif waiter.granted:
        event = 0  # a histogram: the number of bits of the milliseconds waited
        waited = ticks_diff(ticks_ms(), start)
        while waited > 0:
            waited >>= 1
            event += 1
    elif waiter.error is None:
        event = "timeouts"
    else:
        return
    counts[event] = counts.get(event, 0) + 1


def stats(table):
    """A dict of counters. `wait_ms` counts waits by their length: below 1 ms, below 2, below 4, and so on."""
    count = table._counts.get
    waits = [0] * _BUCKETS
    for event in table._counts:
        if isinstance(event, int):
            waits[min(event, _BUCKETS - 1)] += table._counts[event]
    return {
        "entries": len(table._entries),
        "peak_entries": max(count("peak", 0), len(table._entries)),
        "waits": count("waits", 0),
        "timeouts": count("timeouts", 0),
        "cancellations": count("cancellations", 0),
        "rejections": count("rejections", 0),
        "stale_holders": count("stale", 0),
        "longest_queue": count("longest", 0),
        "longest_queue_key": count("longest_key"),
        "wait_ms": waits,
    }
