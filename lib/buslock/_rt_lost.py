"""The part of `_rt` that looks at other tasks: whether they will run again, and soon."""

from asyncio import core

from ._rt import OUTSIDE


def can_resume(task):
    """False if the task sleeps in the queue of a loop that was replaced, and so never runs again."""
    while isinstance(task.data, core.Task):
        task = task.data
    data = task.data
    if data is core._io_queue or task is core.cur_task or task is OUTSIDE:
        return True
    if hasattr(data, "remove"):
        # Whoever owns that queue may still wake it, unless it is a line of ours (see wake) or the old loop's poll.
        line = getattr(data, "queue", None)
        return (line is None or line._loop is core._task_queue) and not hasattr(data, "poller")
    # The heap can only be read by emptying it. Nothing runs in between, and equal keys keep their order.
    queue = core._task_queue
    tasks = []
    while queue.peek():
        t = queue.pop()
        tasks.append((t, t.ph_key, t.data))
    found = False
    for t, key, data in tasks:
        queue.push(t, key)
        t.data = data
        found = found or t is task
    return found


def on_its_way(waiter):
    """True if a parked task was cancelled, or its time is over, and it has not run since: it waits for nothing."""
    task = waiter.task
    data = task.data
    return data is not waiter and (data is not None or core.ticks_diff(task.ph_key, core.ticks()) <= 0)
