"""CPython's asyncio, as `_rt_cpython` sees it, in which the search decides which step comes next and when
a timer is due. Callbacks run in the order in which they were scheduled.
"""

from .cpython_tasks import AsyncTimeout, CancelledError, Future, Handle, Task


class Loop:
    def __init__(self):
        self.reset(False, print)

    def reset(self, any_order, complain):
        """Everything as it is before the first task is made."""
        self.any_order = any_order
        self.complain = complain
        self.now = 1000
        self.tasks = []
        self.handles = 0
        self.ready = []
        self.timers = []
        self.current = None
        self.running = False

    def time(self):
        return self.now / 1000 + 0.0001  # never a hair below the millisecond

    def is_closed(self):
        return False

    def is_running(self):
        return self.running

    def create_future(self):
        return Future(self)

    def call_soon(self, callback, *args):
        handle = Handle(self, callback, args)
        self.ready.append(handle)
        return handle

    def call_later(self, delay, callback, *args):
        handle = Handle(self, callback, args, None, self.now + round(delay * 1000))
        self.timers.append(handle)
        return handle

    # What follows is the search's side.

    def options(self):
        """What may happen next; nothing when every task has ended or waits for ever."""
        if self.any_order:
            options = sorted([handle.name() for handle in self.ready])
        else:
            options = ["r"] if self.ready else []
        if self.timers:
            options.append("t")
        return options

    def describe(self, option):
        if option == "t":
            return "%d ms pass" % max(0, min(self.timers, key=_due).due - self.now)
        task = self._chosen(option).task
        return "a timer" if task is None else "task %d" % task.number

    def _chosen(self, option):
        return next(handle for handle in self.ready if option == "r" or option == handle.name())

    def perform(self, option):
        """Does that, and returns the task that took a step, if one did."""
        if option == "t":
            # The first of those that are due next: the loop appends it to what is ready, behind all that is there.
            handle = min(self.timers, key=_due)
            self.timers.remove(handle)
            self.now = max(self.now, handle.due)
            handle.due = None
            self.ready.append(handle)
            return None
        handle = self._chosen(option)
        self.ready.remove(handle)
        self.running = True
        handle.callback(*handle.args)
        self.running = False
        return handle.task

    def next_task(self):
        """The task that option "r" would let run; None if that is a timer."""
        return self._chosen("r").task

    def timers_left(self):
        """Whether something sleeps."""
        return len(self.timers) > 0

    def places(self):
        """The model's part of the state: what the tasks are at, and in which order they will run."""
        ready = self.ready
        if self.any_order:
            ready = sorted(ready, key=Handle.name)
        ready = [handle.place() for handle in ready]
        timers = [handle.place() for handle in self.timers]
        return (ready, timers, [task.task_place() for task in self.tasks])


def _due(handle):
    return handle.due


loop = Loop()


async def sleep(seconds):
    if seconds <= 0:
        await _Bare()
        return
    future = Future(loop)
    timer = loop.call_later(seconds, _set, future)
    try:
        await future
    finally:
        timer.cancel()


def _set(future):
    if not future.done():
        future.set_result(None)


class _Bare:
    """A bare yield."""

    def __iter__(self):
        yield

    __await__ = __iter__


def _running_loop():
    if not loop.running:
        raise RuntimeError("no running event loop")
    return loop


def _current_task():
    _running_loop()
    return loop.current


def _create_task(coro):
    return Task(coro, loop)


class asyncio:
    """What `import asyncio` gives the library."""

    CancelledError = CancelledError
    TimeoutError = AsyncTimeout
    Task = Task
    sleep = sleep
    create_task = _create_task
    current_task = _current_task
    get_running_loop = _running_loop
