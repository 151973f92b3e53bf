"""The statistics of a line that are looked at only when they may be worse than before."""

from ._rt import ticks_diff
from .waitqueue import HOLD


def behind(queue, waiter):
    """A task has to wait for the wire: behind whose hold of it?"""
    hold = queue.bus._wire_hold
    if hold._devices is not None:
        waiter.behind = hold._devices[0]._key


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
    if waited > counts[HOLD]:
        counts[HOLD] = waited
        counts["hold_key"] = key
