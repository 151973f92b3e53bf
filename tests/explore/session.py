"""A few tasks that do as they are told at a LockTable, each event held against the plain table.

An operation is a list of words, and a session can be written down as text and run again anywhere:

    hold 0 a          task 0 asks for key a          hold 0 a shared 5    shared, with timeout_ms=5
    many 1 a,c 5      all 2        all 2 0           try 1 b shared
    release 0         task 0 releases what it took last
    cancel 0          cancels what task 0 is waiting for
    step              the next ready task takes a step
    run               all that are ready do, until none is
    time              the next timer is due
"""

from .plain import ALL, PlainTable
from .structure import check_rest, check_step
from .world import World

TASKS = 4
NAMES = "abc"


class _Mailbox:
    """Where a task of the session waits to be told what to do."""

    error = None
    granted = False

    def __init__(self, library, task):
        self.task = task
        self.loop = library.rt.loop_id()
        self.orders = []

    def remove(self, task):
        pass


class Session:
    def __init__(self, library):
        self.library = library
        self.done = []  # the operations so far
        self.events = []  # what came of them
        self._world = world = World(library, None, False)
        self._model = library.model
        self._plain = PlainTable()
        self._ready = None
        self.table = world.watch(library.LockTable("t"))
        self._boxes = []
        self._held = [[] for _ in range(TASKS)]  # per task: (hold, request)
        self._asked = [None] * TASKS  # per task: the request that it waits for
        self._records = [world.spawn(self._worker) for _ in range(TASKS)]
        for record in self._records:
            self._boxes.append(_Mailbox(library, record.task))
        self.do("run")

    # What decides which operations make sense.

    def is_idle(self, i):
        """Task i waits to be told something."""
        return self._asked[i] is None and not self._boxes[i].orders and not self._records[i].owed

    def holds(self, i):
        return self._plain.holds(i)

    def has(self, i, name):
        return self._plain.has(i, name)

    def can_release(self, i):
        return len(self._held[i]) > 0

    def can_cancel(self, i):
        return self._asked[i] is not None and not self._records[i].owed

    # What a session does.

    def do(self, text):
        """One operation."""
        self.done.append(text)
        words = text.split()
        name = words[0]
        if name == "step":
            options = self._model.options()
            if "r" in options:
                self._step()
        elif name == "run":
            while "r" in self._model.options():
                self._step()
            self._compare()
        elif name == "time":
            if "t" in self._model.options():
                self._model.perform("t")
        elif name == "cancel":
            self._cancel(int(words[1]))
        else:
            box = self._boxes[int(words[1])]
            box.orders.append(words)
            self.library.rt.wake(box, self.library.rt.loop_id())

    def finish(self):
        """Everything is released; nothing may be left."""
        self.do("run")
        for _ in range(TASKS * 4):
            for i in range(TASKS):
                while self._asked[i] is None and self._held[i]:
                    self.do("release %d" % i)
                    self.do("run")
            self.do("run")
            if not any(self._held) and not any(self._asked):
                break
            self.do("time")
        check_rest(self._world)
        self._look("at the end")
        if len(self._plain):
            raise AssertionError("the plain table is not empty")

    def close(self):
        self._world.close()

    def _cancel(self, i):
        record = self._records[i]
        request = self._asked[i]
        if request is not None and not record.owed:
            # On CPython the cancel of a task whose time is over already cannot be seen: such a one may be granted it
            # yet, and passes it on.
            request.doomed = self.library.runtime == "micropython" or not record.task.is_ready()
            record.owed = record.task.cancel()

    def _step(self):
        task = self._model.next_task()
        for record, request in zip(self._records, self._asked):
            if record.task is task and request is not None and not task.condemned():
                self._plain.ran(request)
        # A task that is told of a deadlock has given back what it had when it can say so, and woken others by that.
        self._ready = [record.task.is_ready() for record in self._records]
        self._model.perform("r")
        self._ready = None
        check_step(self._world)
        self._look("after a step")

    def _compare(self):
        for name in NAMES:
            waiting = self.table.waiters(name)
            if waiting != self._plain.waiting(name):
                self._wrong("%d wait for %s, and should be %d", waiting, name, self._plain.waiting(name))
        if len(self.table) != len(self._plain):
            self._wrong("the table has %d entries and should have %d", len(self.table), len(self._plain))
        for request in self._plain.requests:
            if request is self._asked[request.task] and request.is_complete():
                self._wrong("task %d should have %r", request.task, request.keys)
            if not request.granted and not request.doomed and self._plain.is_deadlock(request, self._is_ready):
                self._wrong("task %d waits for itself, and was not told", request.task)
        self._look("when all is quiet")

    def _is_ready(self, i):
        return self._records[i].task.is_ready() if self._ready is None else self._ready[i]

    def _wrong(self, text, *values):
        raise AssertionError(text % values)

    def _look(self, when):
        if self._world.problem is not None:
            self._wrong("%s: %s", when, self._world.problem)

    async def _worker(self, world, record):
        i = record.number
        while True:
            box = self._boxes[i]
            while not box.orders:
                await self.library.rt.park(box, None)
            words = box.orders[0]
            if words[0] == "release":
                hold, request = self._held[i].pop()
                self._plain.drop(request)
                hold.release()
                self._say("%d releases", i)
            elif words[0] == "try":
                self._try(i, words[2], "shared" in words)
            else:
                await self._ask(world, record, words)
            box.orders.pop(0)

    def _try(self, i, name, shared):
        request = self._plain.try_ask(i, name, shared)
        hold = self.table.try_hold(name, shared)
        if (hold is None) != (request is None):
            self._world.complain("try: %s, and the plain table says otherwise", hold)
        if hold is not None:
            self._held[i].append((hold, request))
        self._say("%d tries: %s", i, hold is not None)

    async def _ask(self, world, record, words):
        i = record.number
        errors = self.library.errors
        shared = "shared" in words
        limit = int(words[-1]) if words[-1].isdigit() and len(words) > 2 else None
        if words[0] == "hold":
            hold, keys = self.table.hold(words[2], limit, shared), [words[2]]
        elif words[0] == "many":
            keys = sorted(set(words[2].split(",")))
            hold = self.table.hold_many(words[2].split(","), limit, shared)
        else:
            hold, keys = self.table.hold_all(limit), ALL
        forbidden = self.holds(i) if keys is ALL else any(self._plain.has(i, key) for key in keys)
        start = world.now()
        request = None
        if not forbidden:
            self._asked[i] = request = self._plain.ask(i, keys, shared)
            self._plain.ran(request)
        entered = False
        try:
            await hold.__aenter__()
            entered = True
        except errors.LockTimeout:
            if request is None or request.is_complete() or world.passed(start) < limit:
                world.complain("time: task %d gave up what it has, or too early", i)
            self._say("%d is late", i)
        except errors.Reentry:
            if not forbidden:
                world.complain("reentry: task %d was told of one", i)
            self._say("%d holds it already", i)
        except errors.WouldDeadlock:
            if request is None or not self._plain.is_deadlock(request, self._is_ready):
                world.complain("cycle: there is none, and task %d was told of one", i)
            self._say("%d would deadlock", i)
        except self.library.CancelledError:
            if not record.owed:
                world.complain("cancellation: task %d saw one that nobody sent", i)
            record.owed = False
            self._say("%d is cancelled", i)
        self._asked[i] = None
        if entered:
            if request is None or not request.is_complete():
                world.complain("task %d has %r, and should not yet", i, keys)
            if record.owed:
                world.complain("cancellation: task %d was cancelled and never saw it", i)
            self._held[i].append((hold, request))
            self._say("%d has %s", i, words[2] if keys is not ALL else "all")
        elif request is not None:
            self._plain.drop(request)

    def _say(self, text, *values):
        self.events.append(text % values)
