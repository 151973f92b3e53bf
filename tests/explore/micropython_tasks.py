"""Task and TaskQueue of MicroPython's asyncio, by the rules of its source: `push` clears `task.data`, equal keys keep
their order, `cancel` follows an awaited task and leaves a CancelledError in `data`.
"""

PERIOD = 1 << 30
TRAIL = 12  # steps since its last mark by which a task's place is told; more than any await in the library has


class CancelledError(BaseException):
    pass


class AsyncTimeout(Exception):
    pass


def ticks_add(ticks, ms):
    return (ticks + ms) % PERIOD


def ticks_diff(end, start):
    return (end - start + PERIOD // 2) % PERIOD - PERIOD // 2


class TaskQueue:
    """The heap as a list: by key, equal keys in the order of their arrival."""

    core = None  # the model, which sets this

    def __init__(self):
        self.tasks = []

    def peek(self):
        return self.tasks[0] if self.tasks else None

    def push(self, task, key=None):
        if task in self.tasks:
            self.core.complain("task %d was pushed twice" % task.number)
            return
        task.data = None
        task.ph_key = self.core.now if key is None else key
        i = len(self.tasks)
        while i and ticks_diff(self.tasks[i - 1].ph_key, task.ph_key) > 0:
            i -= 1
        self.tasks.insert(i, task)

    def pop(self):
        return self.tasks.pop(0)

    def remove(self, task):
        if task not in self.tasks:
            self.core.complain("task %d was removed from a queue that it is not in" % task.number)
            return
        self.tasks.remove(task)


class Task:
    core = None  # as above

    def __init__(self, coro, globals=None):
        self.coro = coro
        self.data = None
        self.state = True
        self.ph_key = 0
        self.number = len(self.core.tasks)
        self.mark = None  # the place in the scenario that it passed last, see World.at()
        self.trail = ""  # its steps since then
        self.core.tasks.append(self)

    def __iter__(self):
        if self.state is True:
            self.state = TaskQueue()
        elif not self.state:
            self.state = False
        return self

    __await__ = __iter__

    def __next__(self):
        if not self.state:
            raise self.data
        self.state.push(self.core.cur_task)
        self.core.cur_task.data = self

    def done(self):
        return not self.state

    def cancel(self):
        if not self.state:
            return False
        if self is self.core.cur_task:
            raise RuntimeError("can't cancel self")
        task = self
        while isinstance(task.data, Task):
            task = task.data
        if hasattr(task.data, "remove"):
            task.data.remove(task)
            self.core._task_queue.push(task)
        elif ticks_diff(task.ph_key, self.core.now) > 0:
            self.core._task_queue.remove(task)
            self.core._task_queue.push(task)
        task.data = CancelledError
        return True

    def condemned(self):
        """Whether a CancelledError is on its way to it."""
        return self.data is CancelledError or isinstance(self.data, CancelledError)

    def is_ready(self):
        """Whether it is about to take a step."""
        return self in self.core._task_queue.tasks and self.core.due(self) == 0

    def place(self):
        if not self.state:
            return "done"
        due = self.core.due(self) if self in self.core._task_queue.tasks else None
        return (self.trail, due, self.data, self.state is True)
