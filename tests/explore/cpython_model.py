"""CPython's asyncio, as `_rt_cpython` sees it, in which the search decides which step comes next and when a timer is due.

The rules are those of its Task and Future: a cancel goes to the future that the task waits for, or else waits for the
task's next step (`_must_cancel`); each is counted; callbacks run in the order in which they were scheduled.
"""

TRAIL = 12  # as in micropython_model


class CancelledError(BaseException):
    pass


class TimeoutError(OSError):
    pass


class Handle:
    """A callback that is scheduled, with the task it is a step of if it is one."""

    def __init__(self, callback, args, task=None, due=None):
        self.callback = callback
        self.args = args
        self.task = task
        self.due = due
        loop.handles += 1
        self.number = loop.handles

    def cancel(self):
        if self in loop.timers:
            loop.timers.remove(self)
        elif self in loop.ready:
            loop.ready.remove(self)

    def name(self):
        return "k%d" % self.number if self.task is None else "r%d" % self.task.number

    def place(self):
        return (self.task, self.args, None if self.due is None else self.due - loop.now)


class Future:
    def __init__(self):
        self.state = "pending"
        self.value = None
        self.waiting = []  # callbacks, each with the task that it wakes

    def done(self):
        return self.state != "pending"

    def cancelled(self):
        return self.state == "cancelled"

    def get_loop(self):
        return loop

    def set_result(self, value):
        if self.done():
            loop.complain("the result of a future was set twice")
            return
        self._finish("finished", value)

    def cancel(self):
        if self.done():
            return False
        self._finish("cancelled", None)
        return True

    def _finish(self, state, value):
        self.state = state
        self.value = value
        for task in self.waiting:
            loop.ready.append(Handle(task.wake_up, (self,), task))
        self.waiting = []

    def result(self):
        if self.state == "cancelled":
            raise CancelledError()
        if isinstance(self.value, BaseException):
            raise self.value
        return self.value

    def __iter__(self):
        if not self.done():
            yield self
        return self.result()

    __await__ = __iter__

    def place(self):
        return (self.state, self.waiting)


class Task(Future):
    def __init__(self, coro):
        super().__init__()
        self.coro = coro
        self.number = len(loop.tasks)
        self.mark = None  # as in micropython_model
        self.trail = ""
        self.waits_for = None
        self.must_cancel = False
        self.cancels = 0
        loop.tasks.append(self)
        loop.ready.append(Handle(self.step, (), self))

    def cancel(self):
        if self.done():
            return False
        self.cancels += 1
        if self.waits_for is None or not self.waits_for.cancel():
            self.must_cancel = True
        return True

    def cancelling(self):
        return self.cancels

    def uncancel(self):
        if self.cancels:
            self.cancels -= 1
        return self.cancels

    def get_name(self):
        return "Task-%d" % self.number

    def get_coro(self):
        return _Named(getattr(self.coro, "__name__", "task"))

    def condemned(self):
        """Whether a CancelledError is on its way to it."""
        return self.must_cancel or self.waits_for is not None and self.waits_for.cancelled()

    def is_ready(self):
        """Whether it is about to take a step."""
        return any([handle.task is self for handle in loop.ready])

    def wake_up(self, future):
        try:
            future.result()
        except BaseException as error:
            self.step(error)
        else:
            self.step()

    def step(self, error=None):
        if self.must_cancel:
            if not isinstance(error, CancelledError):
                error = CancelledError()
            self.must_cancel = False
        self.waits_for = None
        if len(self.trail) < TRAIL:
            self.trail += "r" if error is None else "c"
        loop.current = self
        try:
            future = self.coro.send(None) if error is None else self.coro.throw(error)
        except StopIteration as end:
            if self.must_cancel:
                self.must_cancel = False
                self._finish("cancelled", None)
            else:
                self._finish("finished", end.value)
        except CancelledError:
            self._finish("cancelled", None)
        except Exception as end:
            if not self.waiting:
                loop.complain("task %d ended with an error that nobody saw: %r" % (self.number, end))
            self._finish("finished", end)
        else:
            if future is None:
                loop.ready.append(Handle(self.step, (), self))
            else:
                self.waits_for = future
                future.waiting.append(self)
                if self.must_cancel and future.cancel():
                    self.must_cancel = False
        loop.current = None

    def task_place(self):
        if self.done():
            return "done"
        return (self.trail, self.must_cancel, self.cancels, self.waits_for, self.waiting)


class _Named:
    def __init__(self, name):
        self.__name__ = name


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
        return Future()

    def call_later(self, delay, callback, *args):
        handle = Handle(callback, args, None, self.now + round(delay * 1000))
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
    future = Future()
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


class asyncio:
    """What `import asyncio` gives the library."""

    CancelledError = CancelledError
    TimeoutError = TimeoutError
    Task = Task
    sleep = sleep
    create_task = Task
    current_task = _current_task
    get_running_loop = _running_loop
