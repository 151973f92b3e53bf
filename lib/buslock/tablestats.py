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
        queue._taken = ticks_ms() if queue._since is None else queue._since
    elif queue.table is None:  # the wire: behind whose hold of it is this one?
        hold = queue.bus._wire_hold
        if hold is not None and hold._devices is not None:
            queue._line[-1].behind = hold._devices[0]._key
    if n > counts["longest"]:
        counts["longest"] = n
        counts["longest_key"] = getattr(queue, "key", None)


def gone(queue, waiter, start):
    """A task has left the line, one way or another."""
    if queue._trace is not None:
        queue._trace.gone(queue, waiter)
    counts = queue._counts
    now = ticks_ms()
    waited = ticks_diff(now, start)
    key = waiter.behind if queue.table is None else getattr(queue, "key", None)
    if waited > counts.get("wait", 0):
        counts["wait"] = waited
        counts["wait_key"] = key
    if key is not None and queue._taken is not None:  # of a key's line
        end = queue._since if waiter.granted else now
        if ticks_diff(end, queue._taken) > counts.get("hold", 0):
            counts["hold"] = ticks_diff(end, queue._taken)
            counts["hold_key"] = key
        if waiter.granted:
            queue._taken = end  # by this one
        if not queue._line:
            queue._taken = None
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
