"""The statistics of a line: what is counted when a task waits. stats() makes a table of it."""

from ._rt import ticks_diff, ticks_ms


def arrived(queue):
    """A task has just joined the line."""
    if queue._trace is not None:
        queue._trace.arrived(queue)
    counts = queue._counts
    counts["waits"] += 1
    n = len(queue._line)
    if n == 1 and queue.table is not None:
        counts["peak"] = max(counts.get("peak", 0), len(queue.table._entries))
    elif queue.table is None:  # the wire: behind whose hold of it is this one?
        hold = queue.bus._wire_hold
        if hold is not None and hold._devices is not None:
            queue._line[-1].behind = hold._devices[0]._key
    if n > counts["longest"]:
        counts["longest"] = n
        counts["longest_key"] = getattr(queue, "key", None)


def gone(queue, waiter, start):
    """A task has left the line, one way or another."""
    if queue._trace is not None and not waiter.granted:
        queue._trace.gone(queue, waiter, waiter.cancelled or waiter.error is not None)
    counts = queue._counts
    waited = ticks_diff(ticks_ms(), start)
    if waited > counts.get("hold", 0):
        worst(queue, waiter, start, waited)
    if waiter.cancelled:
        event = "cancellations"
    elif waiter.granted:
        event = 0  # a histogram: the number of bits of the milliseconds waited
        while waited > 0:
            waited >>= 1
            event += 1
    elif waiter.error is None:
        event = "timeouts"
    else:
        return
    counts[event] = counts.get(event, 0) + 1


def worst(queue, waiter, start, waited):
    """Longer than the longest hold so far that made a task wait: it may have been a longer one, or several."""
    counts = queue._counts
    key = waiter.behind if queue.table is None else getattr(queue, "key", None)
    if waited > counts.get("wait", 0):
        counts["wait"] = waited
        counts["wait_key"] = key
    gate = None if queue.table is None else queue.table._gate
    if gate is queue or gate is not None and gate._since is not None and ticks_diff(gate._since, start) >= 0:
        return  # hold_all, or behind it
    handed = queue._before if waiter.granted else queue._since
    if handed is not None and ticks_diff(handed, start) > 0:
        waited -= ticks_diff(handed, start)  # the rest was for those before
    if waited > counts.get("hold", 0):
        counts["hold"] = waited
        counts["hold_key"] = key
