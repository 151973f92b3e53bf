"""What few waits need: those that may not begin, or end in vain, and the statistics of what is worse than before."""

from ._rt import ticks_diff
from .waitqueue import HOLD


def check(queue):
    """WouldDeadlock."""
    from .cycles import check

    check(queue)


def at_once(queue, hold, ms):
    """The refusal of a wait that may not begin."""
    from .refusals import at_once

    return at_once(queue, hold, ms)


def in_vain(queue, hold, waiter, ms):
    """The end of a wait that was not granted."""
    from .refusals import in_vain

    return in_vain(queue, hold, waiter, ms)


def behind(queue, waiter):
    """A task has to wait for the wire: behind whose hold of it?"""
    hold = queue.bus._wire_hold
    if hold._devices is not None:
        waiter.behind = hold._devices[0]._key


def worst(waiter, start, waited):
    """Longer than the longest hold so far that made a task wait: it may have been a longer one, or several."""
    queue = waiter.queue
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
    if waited > counts[HOLD]:
        counts[HOLD] = waited
        counts["hold_key"] = key
