"""Task and TaskQueue for MicroPython's asyncio, written in Python, with ticks of 30 bits as on the boards.

The VM of a desk has them in C, where they stamp what they push with the VM's own ticks, of 62 bits: those never wrap.
`install()` comes before the first import of asyncio.
"""

import sys
import time

PERIOD_MS = 1 << 30

core = None  # asyncio.core


def ticks_add(ticks, ms):
    return (ticks + ms) % PERIOD_MS


def ticks_diff(end, start):
    return (end - start + PERIOD_MS // 2) % PERIOD_MS - PERIOD_MS // 2


def is_installed():
    return core is not None


def install():
    global core
    sys.modules["_asyncio"] = None
    sys.modules["asyncio.task"] = sys.modules[__name__]
    import asyncio

    core = asyncio.core
    core.ticks_add = ticks_add
    core.ticks_diff = ticks_diff
    core.ticks = lambda: time.ticks_ms() % PERIOD_MS


class TaskQueue:
    """By key; equal keys in the order of their arrival. A ring of the tasks and the queue itself: like the one in C it
    allocates nothing when a task is pushed, for tests in which memory runs out."""

    def __init__(self):
        self.before = self.after = self

    def peek(self):
        return None if self.after is self else self.after

    def push(self, task, key=None):
        task.data = None
        task.ph_key = key = core.ticks() if key is None else key
        place = self.before
        while place is not self and ticks_diff(place.ph_key, key) > 0:
            place = place.before
        task.before = place
        task.after = place.after
        place.after.before = task
        place.after = task

    def pop(self):
        task = self.after
        self.remove(task)
        return task

    def remove(self, task):
        task.before.after = task.after
        task.after.before = task.before
        task.before = task.after = None


class Task:
    """`state`: True while it runs and nobody waits for it, a queue of those who do, a function for gather(); None when
    it has ended and nobody knows, else False."""

    def __init__(self, coro, globals=None):
        self.coro = coro
        self.data = None
        self.state = True
        self.ph_key = 0
        self.before = self.after = None

    def __iter__(self):
        if not self.state:
            self.state = False
        elif self.state is True:
            self.state = TaskQueue()
        elif not isinstance(self.state, TaskQueue):
            raise RuntimeError("can't wait")
        return self

    __await__ = __iter__

    def __next__(self):
        if not self.state:
            raise self.data
        self.state.push(core.cur_task)
        core.cur_task.data = self

    def done(self):
        return not self.state

    def cancel(self):
        if not self.state:
            return False
        if self is core.cur_task:
            raise RuntimeError("can't cancel self")
        task = self
        while isinstance(task.data, Task):
            task = task.data
        queue = None
        if hasattr(task.data, "remove"):
            queue = task.data
        elif ticks_diff(task.ph_key, core.ticks()) > 0:
            queue = core._task_queue
        if queue is not None:
            queue.remove(task)
            core._task_queue.push(task)
        task.data = core.CancelledError
        return True
