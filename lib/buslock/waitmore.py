"""What few waits need: those that may not begin, or end in vain, and the statistics of what is worse than before."""

from ._rt import later, ticks_diff, ticks_ms
from .waitqueue import HOLD, LONGEST


def check(queue):
    """WouldDeadlock."""
    later.cycles.check(queue)


def at_once(queue, hold, ms):
    """The refusal of a wait that may not begin."""
    return later.refusals.at_once(queue, hold, ms)


def in_vain(hold, waiter, start, ms):
    """The end of a wait that was not granted."""
    _gone(waiter, start, waiter.error is not None)
    return later.refusals.in_vain(waiter.queue, hold, waiter, ms)


def cancelled(waiter, start):
    counts = waiter.queue._counts
    counts["cancellations"] = counts.get("cancellations", 0) + 1
    _gone(waiter, start, True)


def _gone(waiter, start, cancelled):
    queue = waiter.queue
    if queue._trace is not None:
        queue._trace.gone(queue, waiter, cancelled)
    if queue._counts is not None:
        worst(waiter, start, ticks_diff(ticks_ms(), start))


def longest(queue):
    """More tasks wait than ever before."""
    queue._counts[LONGEST] = len(queue._line)
    queue._counts["longest_key"] = getattr(queue, "key", None)


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
    handed = queue._before if waiter.task is None else queue._since
    if handed is not None and ticks_diff(handed, start) > 0:
        waited -= ticks_diff(handed, start)  # the rest was for those before
    if waited > counts[HOLD]:
        counts[HOLD] = waited
        counts["hold_key"] = key
