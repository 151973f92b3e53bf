"""Finding tasks that would wait for each other."""

from ._rt import current_task, on_its_way, task_name
from .errors import WouldDeadlock
from .refusals import label
from .waitqueue import waiter_of


def check(queue):
    """WouldDeadlock if one of those that hold `queue` waits, directly or through others, for what I hold."""
    me = current_task()
    queues = [queue]
    ways = [None]  # for each queue: the index of the one before it on the way, and the task between the two
    seen = {id(queue)}
    for i, queue in enumerate(queues):  # grows as it goes
        for task in queue._holders():
            if task is me:
                raise WouldDeadlock(_text(me, queues, ways, i))
            waiter = waiter_of(task)
            # One that was granted or cancelled in this turn is on its way, and waits for nothing.
            if waiter is None or waiter not in waiter.queue._line or on_its_way(waiter):
                continue
            if id(waiter.queue) not in seen:
                seen.add(id(waiter.queue))
                queues.append(waiter.queue)
                ways.append((i, task))


def _text(me, queues, ways, i):
    mine = task_name(me)
    text = "%s, held by task '%s'" % (label(queues[i]), mine)
    while ways[i] is not None:
        i, task = ways[i]
        text = "%s, held by task '%s', which waits for %s" % (label(queues[i]), task_name(task), text)
    return "task '%s' asks for %s: take them in one order, or all at once" % (mine, text)
