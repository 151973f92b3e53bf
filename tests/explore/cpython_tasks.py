"""Task and Future of CPython's asyncio, by the rules of its source: a cancel goes to the future that the task waits
for, or else waits for the task's next step (`_must_cancel`); each is counted.
"""

TRAIL = 12  # as in micropython_tasks


class CancelledError(BaseException):
    pass


class AsyncTimeout(OSError):
    pass


class Handle:
    """A callback that is scheduled, with the task it is a step of if it is one."""

    def __init__(self, loop, callback, args, task=None, due=None):
        self.loop = loop
        self.callback = callback
        self.args = args
        self.task = task
        self.due = due  # in loop time, while it is a timer
        loop.handles += 1
        self.number = loop.handles

    def cancel(self):
        for queue in (self.loop.timers, self.loop.ready):
            if self in queue:
                queue.remove(self)

    def name(self):
        return "k%d" % self.number if self.task is None else "r%d" % self.task.number

    def place(self):
        return (self.task, self.args, None if self.due is None else self.due - self.loop.now)


class Future:
    def __init__(self, loop):
        self.loop = loop
        self.state = "pending"
        self.value = None
        self.waiting = []  # callbacks, each with the task that it wakes

    def done(self):
        return self.state != "pending"

    def cancelled(self):
        return self.state == "cancelled"

    def get_loop(self):
        return self.loop

    def set_result(self, value):
        if self.done():
            self.loop.complain("the result of a future was set twice")
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
            self.loop.ready.append(Handle(self.loop, task.wake_up, (self,), task))
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
    def __init__(self, coro, loop):
        super().__init__(loop)
        self.coro = coro
        self.number = len(loop.tasks)
        self.mark = None  # as in micropython_model
        self.trail = ""
        self.waits_for = None
        self.must_cancel = False
        self.cancels = 0
        loop.tasks.append(self)
        loop.ready.append(Handle(loop, self.step, (), self))

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
        return any(handle.task is self for handle in self.loop.ready)

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
        self.loop.current = self
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
                self.loop.complain("task %d ended with an error that nobody saw: %r" % (self.number, end))
            self._finish("finished", end)
        else:
            if future is None:
                self.loop.ready.append(Handle(self.loop, self.step, (), self))
            else:
                self.waits_for = future
                future.waiting.append(self)
                if self.must_cancel and future.cancel():
                    self.must_cancel = False
        self.loop.current = None

    def task_place(self):
        if self.done():
            return "done"
        return (self.trail, self.must_cancel, self.cancels, self.waits_for, self.waiting)


class _Named:
    def __init__(self, name):
        self.__name__ = name
