"""Finding tasks that would wait for each other."""

from ._rt import being_cancelled, current_task, task_name
from .errors import WouldDeadlock
from .waitqueue import _waiting


def check(queue):
    """WouldDeadlock if one of those that hold `queue` waits, directly or through others, for what I hold."""
    me = current_task()
    seen = [queue]
    ways = ["task '%s' asks for %s" % (task_name(me), queue._label())]  # how each of `seen` was come to
    i = 0
    while i < len(seen):
        for task in seen[i]._holders():
            way = "%s, held by task '%s'" % (ways[i], task_name(task))
            if task is me:
                raise WouldDeadlock(way + ": take them in one order, or all at once")
            waiter = _waiting.get(task)
            # One that was granted or cancelled in this turn is on its way, and waits for nothing.
            if waiter is None or waiter.granted or waiter.error is not None or being_cancelled(waiter):
                continue
            if waiter.queue not in seen:
                seen.append(waiter.queue)
                ways.append("%s, which waits for %s" % (way, waiter.queue._label()))
        i += 1
