"""MicroPython's asyncio, as `_rt` sees it, in which the search decides which step comes next and when a timer is due.
`core` stands in for `asyncio.core`.
"""

from .micropython_tasks import PERIOD, TRAIL, AsyncTimeout, CancelledError, Task, TaskQueue, ticks_add, ticks_diff

START = PERIOD - 3  # ticks wrap in the middle of every scenario with timers


class _Sleep:
    """The one object behind every sleep, armed when it is called."""

    state = None

    def __iter__(self):
        return self

    __await__ = __iter__

    def __next__(self):
        if self.state is None:
            raise StopIteration
        core._task_queue.push(core.cur_task, self.state)
        self.state = None


class _Never:
    """Yields once without being scheduled again."""

    waiting = True

    def __iter__(self):
        return self

    __await__ = __iter__

    def __next__(self):
        if self.waiting:
            self.waiting = False
            return
        raise StopIteration


class Core:
    Task = Task
    CancelledError = CancelledError
    ticks_add = staticmethod(ticks_add)
    ticks_diff = staticmethod(ticks_diff)
    _never = _Never
    _io_queue = None

    def __init__(self):
        self.reset(False, print)

    def reset(self, any_order, complain):
        """Everything as it is before the first task is made."""
        self.any_order = any_order
        self.complain = complain
        self.now = START
        self.tasks = []
        self.cur_task = None
        self._task_queue = TaskQueue()
        self._sleep = _Sleep()

    def ticks(self):
        return self.now

    def sleep_ms(self, ms):
        if self._sleep.state is not None:
            self.complain("a sleep was called and not awaited")
        self._sleep.state = ticks_add(self.now, ms)
        return self._sleep

    def create_task(self, coro):
        task = Task(coro)
        self._task_queue.push(task)
        return task

    # What follows is the search's side.

    def due(self, task):
        """Milliseconds until it is due; 0 for one that is, however long."""
        return max(0, ticks_diff(task.ph_key, self.now))

    def options(self):
        """What may happen next; nothing when every task has ended or waits for ever."""
        tasks = self._task_queue.tasks
        ready = [task for task in tasks if self.due(task) == 0]
        if self.any_order:
            options = ["r%d" % number for number in sorted([task.number for task in ready])]
        else:
            options = ["r"] if ready else []
        if len(ready) < len(tasks):
            options.append("t")
        return options

    def perform(self, option):
        """Does that, and returns the task that took a step, if one did."""
        tasks = self._task_queue.tasks
        if option == "t":
            self.now = next(task.ph_key for task in tasks if self.due(task))
            return None
        task = self._chosen(option)
        tasks.remove(task)
        self._step(task)
        return task

    def describe(self, option):
        if option == "t":
            return "%d ms pass" % next(self.due(task) for task in self._task_queue.tasks if self.due(task))
        return "task %d" % self._chosen(option).number

    def _chosen(self, option):
        return self._task_queue.tasks[0] if option == "r" else self.tasks[int(option[1:])]

    def _step(self, task):
        self.cur_task = task
        cancelled = task.data
        if len(task.trail) < TRAIL:
            task.trail += "c" if cancelled else "r"
        try:
            if cancelled:
                task.data = None
                task.coro.throw(cancelled)
            else:
                task.coro.send(None)
        except (StopIteration, CancelledError, Exception) as end:
            self._end(task, end)
        self.cur_task = None

    def _end(self, task, end):
        if task.data is not None:
            self.complain("task %d ended while it stood in a queue" % task.number)
        waiting = task.state
        task.state = False
        if waiting is not True:
            while waiting.tasks:
                self._task_queue.push(waiting.pop())
        elif not isinstance(end, (StopIteration, CancelledError)):
            self.complain("task %d ended with an error that nobody saw: %r" % (task.number, end))
        task.data = end

    def next_task(self):
        """The task that option "r" would let run."""
        return self._chosen("r")

    def timers_left(self):
        """Whether something sleeps."""
        return any(self.due(task) for task in self._task_queue.tasks)

    def places(self):
        """The model's part of the state: what the tasks are at, and in which order they will run."""
        if self.any_order:
            order = None
        else:
            order = list(self._task_queue.tasks)
        return (order, [task.place() for task in self.tasks])


core = TaskQueue.core = Task.core = Core()


class asyncio:
    """What `import asyncio` gives the library."""

    core = core
    CancelledError = CancelledError
    TimeoutError = AsyncTimeout
    create_task = core.create_task
