"""Depth first through every choice of a scenario, with each state looked at once; and replaying one schedule.

Coroutines cannot be copied, so each schedule runs from the start, along the choices made before.
"""

from .world import World


class Stop(Exception):
    """The limit of states is reached."""


class Failure(Exception):
    """A promise was broken. `trace` is the schedule."""

    def __init__(self, problem, trace):
        super().__init__(problem, trace)
        self.problem = problem
        self.trace = trace


class Result:
    def __init__(self):
        self.states = 0  # in which there was a choice
        self.runs = 0  # that were carried out
        self.schedules = 0  # that these stand for
        self.ends = {}  # outcomes: how many runs ended so
        self.failure = None
        self.complete = True


class _Fork:
    """A place where there was a choice."""

    def __init__(self, options, state):
        self.options = options
        self.state = state
        self.index = 0
        self.schedules = 0


class Search:
    """`build(world)` makes the scenario. `limit` ends the search after that many states. Without `prune` what has been
    seen is looked at again, and each schedule is a run."""

    def __init__(self, build, library, any_order=False, limit=None, prune=True):
        self._build = build
        self._library = library
        self._any_order = any_order
        self._limit = limit
        self._prune = prune
        self._forks = []
        self._known = {}  # state: the number of schedules from there
        self.result = Result()

    def run(self):
        result = self.result
        with self._library:
            try:
                while True:
                    self._one_run()
                    result.runs += 1
                    if not self._next():
                        break
            except Stop:
                result.complete = False
            except Failure as failure:
                result.failure = failure
        return result

    def _next(self):
        """Goes back to the last fork that has another way."""
        forks = self._forks
        while forks:
            fork = forks[-1]
            fork.index += 1
            if fork.index < len(fork.options):
                return True
            forks.pop()
            if fork.state is not None:
                self._known[fork.state] = fork.schedules
            self._count(fork.schedules)
        return False

    def _count(self, schedules):
        if self._forks:
            self._forks[-1].schedules += schedules
        else:
            self.result.schedules += schedules

    def _one_run(self):
        self._depth = 0
        world = World(self._library, self._choose, self._any_order)
        try:
            self._build(world)
            self._follow(world)
        finally:
            world.close()

    def _choose(self, n):
        return int(self._pick(["x%d" % i for i in range(n)], None)[1:])

    def _pick(self, options, state):
        """The option to take, by the path that is being followed, or the first at a new fork."""
        depth = self._depth
        self._depth += 1
        if depth == len(self._forks):
            self._forks.append(_Fork(options, state))
        fork = self._forks[depth]
        if fork.options != options:
            raise AssertionError("not the same choices as before: %r, %r" % (fork.options, options))
        return options[fork.index]

    def _follow(self, world):
        forks = self._forks
        known = self._known
        while True:
            # The steps before the last fork on the path were checked when they were new.
            if self._depth >= len(forks):
                world.check()
            if world.problem is not None:
                raise Failure(world.problem, self._trace())
            options = world.options()
            if not options:
                world.finish()
                if world.problem is not None:
                    raise Failure(world.problem, self._trace())
                self._ended(world)
                return
            if len(options) == 1:
                world.perform(options[0])
                continue
            state = None
            if self._depth >= len(forks):
                state = world.fingerprint()
                if self._prune and state in known:
                    self._count(known[state])
                    return
                known[state] = 0  # a path that comes back to it is no schedule of its own
                self.result.states += 1
                if self._limit is not None and self.result.states > self._limit:
                    raise Stop
            world.perform(self._pick(options, state))

    def _ended(self, world):
        self._count(1)
        end = " | ".join([" ".join(record.outcome) for record in world.records])
        self.result.ends[end] = self.result.ends.get(end, 0) + 1

    def _trace(self):
        return " ".join([fork.options[fork.index] for fork in self._forks])


def replay(build, library, trace, any_order=False, verbose=True):
    """Runs one schedule, printing each step, and returns what is wrong, or None."""
    choices = trace.split()

    def pick(options):
        if not choices:
            return options[0]
        choice = choices.pop(0)
        if choice not in options:
            raise ValueError("%r is not possible here, but %s" % (choice, " ".join(options)))
        return choice

    def choose(n):
        return int(pick(["x%d" % i for i in range(n)])[1:])

    with library:
        world = World(library, choose, any_order, verbose)
        try:
            build(world)
            while True:
                world.check()
                options = world.options()
                if world.problem is not None or not options:
                    break
                world.perform(options[0] if len(options) == 1 else pick(options))
            if world.problem is None:
                world.finish()
        finally:
            world.close()
    return world.problem
