"""A table of locks as plain as can be, to hold the real one against: no tasks, no waiting, lists and dicts.

What holds nothing goes through the gate: a request for everything waits there until nothing is held and nobody waits
inside, and those that came after it wait behind it. From the gate a request goes to the line of its key, where it is
granted in its turn. A task that holds something goes to that line at once.
"""

ALL = None


class Request:
    """One task asks for `keys`, one after the other, or for ALL."""

    def __init__(self, task, keys, shared):
        self.task = task
        self.keys = keys
        self.shared = shared
        self.got = []  # keys held
        self.granted = False  # the key that was asked for last, or ALL, is held
        self.doomed = False  # cancelled, and not gone yet

    def wants(self):
        return ALL if self.keys is ALL else self.keys[len(self.got)]

    def is_complete(self):
        return self.granted and (self.keys is ALL or len(self.got) == len(self.keys))


class PlainTable:
    def __init__(self):
        self.requests = []  # all that have not been released or given up
        self.gate = []
        self.lines = {}  # key: requests, never empty
        self.holders = {}  # key: requests, never empty
        self.all = None  # the request that holds ALL

    def holds(self, task):
        return any(each.got or each is self.all for each in self.requests if each.task == task)

    def has(self, task, key):
        return any(each.task == task and (each is self.all or key in each.got) for each in self.requests)

    def ask(self, task, keys, shared=False):
        request = Request(task, keys, shared)
        self.requests.append(request)
        self._stand_in_line(request)
        return request

    def try_ask(self, task, key, shared):
        """The request, granted; or None, and nothing has happened."""
        if self.all is not None or self.gate and not self.holds(task) or self.has(task, key) or key in self.lines:
            return None
        if any(not (shared and holder.shared) for holder in self.holders.get(key, ())):
            return None
        return self.ask(task, [key], shared)

    def ran(self, request):
        """Its task takes a step, and asks for the next key if it was granted the last."""
        while request.granted and not request.is_complete():
            request.granted = False
            self._stand_in_line(request)

    def drop(self, request):
        """Released, or given up."""
        self.requests.remove(request)
        for key in request.got:
            self.holders[key].remove(request)
            if not self.holders[key]:
                del self.holders[key]
        if request is self.all:
            self.all = None
        for line in [self.gate] + list(self.lines.values()):  # noqa: RUF005
            if request in line:
                line.remove(request)
        self._settle()

    def waiting(self, key):
        """How many tasks wait for the key."""
        return len(self.lines.get(key, ())) + len([each for each in self.gate if each.wants() == key])

    def __len__(self):
        return len(set(self.holders) | set(self.lines)) + len(self.gate) + (self.all is not None)

    def is_deadlock(self, request, is_ready):
        """Whether the request waits for its own task, directly or over others. A holder that is ready to run waits for
        nothing; but those behind it in line wait for its request to go."""
        seen = []
        left = [request]
        while left:
            for other in self._before(left.pop()):
                if other.task == request.task:
                    return True
                for each in self.requests:
                    waits = not each.granted and (each is other or not is_ready(each.task))
                    if each.task == other.task and waits and each not in seen:
                        seen.append(each)
                        left.append(each)
        return False

    def _before(self, request):
        """The requests that must be dropped, or granted and dropped, before this one is granted."""
        if request in self.gate:
            ahead = self.gate[: self.gate.index(request)]
            return [each for each in self.requests if each.got or each is self.all or each in ahead]
        line = self.lines.get(request.wants(), [])
        if request not in line:
            return []
        return self.holders.get(request.wants(), []) + line[: line.index(request)]

    def _stand_in_line(self, request):
        if request.keys is ALL or not self.holds(request.task):
            self.gate.append(request)
        else:
            self.lines.setdefault(request.wants(), []).append(request)
        self._settle()

    def _settle(self):
        for key in list(self.lines):
            self._serve(key)
        while self.gate and self.all is None:
            first = self.gate[0]
            if first.keys is not ALL:
                self.lines.setdefault(first.wants(), []).append(self.gate.pop(0))
                self._serve(first.wants())
            elif self.holders or self.lines:
                break
            else:
                self.gate.pop(0)
                if not first.doomed:
                    first.granted = True
                    self.all = first

    def _serve(self, key):
        line = self.lines[key]
        while line:
            first = line[0]
            if any(not (first.shared and holder.shared) for holder in self.holders.get(key, ())):
                return
            line.pop(0)
            if not first.doomed:
                first.granted = True
                first.got.append(key)
                self.holders.setdefault(key, []).append(first)
        del self.lines[key]
