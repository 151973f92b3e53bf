"""What the tasks of a scenario ask for, get and give back at one lock or table; and the promises about that."""

ALL = None  # the keys of a claim on everything


class Claim:
    """What a task asks for: the keys in the order in which they are taken, or ALL."""

    def __init__(self, keys, shared=False):
        self.keys = keys
        self.shared = shared

    def excludes(self, other):
        """Whether the two must not be held at the same time."""
        if self.shared and other.shared:
            return False
        if self.keys is ALL or other.keys is ALL:
            return True
        return any(key in other.keys for key in self.keys)

    def precedes(self, later):
        """Whether, asked for first, it must be granted before `later`. Of several keys only the first counts: the
        others are asked for when that is held."""
        if self.shared and later.shared:
            return False
        return self.keys is ALL or later.keys is ALL or self.keys[0] == later.keys[0]

    def __repr__(self):
        keys = "all" if self.keys is ALL else "+".join([str(key) for key in self.keys])
        return keys + " shared" if self.shared else keys


class _Ask:
    def __init__(self, record, claim, limit, now, passes):
        self.record = record
        self.claim = claim
        self.limit = limit
        self.since = now
        self.passes = passes  # it holds something already, and may overtake

    def is_over(self):
        """A cancellation is on its way to the task, or has arrived since it asked."""
        return self.record.task.condemned() or "c" in self.record.task.trail


class Ledger:
    def __init__(self, world):
        self._world = world
        self._asked = []  # _Ask, in the order of arrival
        self._held = []  # (record, claim)

    def ask(self, record, claim, limit=None):
        """The task calls now; nothing may come between this and the call."""
        world = self._world
        world.at(record, "asks")
        world.log("task %d asks for %r", record.number, claim)
        self._asked.append(_Ask(record, claim, limit, world.now(), self.holds(record)))

    def enter(self, record, claim):
        """The call has come back with it."""
        world = self._world
        world.at(record, "in")
        world.log("task %d has %r", record.number, claim)
        for other, held in self._held:
            if claim.excludes(held):
                text = "exclusion: task %d got %r while task %d held %r"
                world.complain(text, record.number, claim, other.number, held)
        mine = self._take_ask(record, claim)
        for ask in self._asked:
            if ask is mine:
                break
            if not mine.passes and ask.claim.precedes(claim) and not ask.is_over():
                first = ask.record.number
                world.complain("order: task %d got %r before task %d, which asked first", record.number, claim, first)
        self._asked.remove(mine)
        self._held.append((record, claim))

    def leave(self, record, claim):
        """The task gives it back now."""
        self._world.at(record, "out")
        self._world.log("task %d gives back %r", record.number, claim)
        self._held.remove((record, claim))

    def refused(self, record, claim, why):
        """The call has come back without it."""
        world = self._world
        world.at(record, why)
        world.log("task %d does not get %r: %s", record.number, claim, why)
        ask = self._take_ask(record, claim)
        self._asked.remove(ask)
        if why == "late" and world.passed(ask.since) < ask.limit:
            world.complain("time: task %d gave up %r before its time", record.number, claim)

    def holds(self, record):
        return any(holder is record for holder, _ in self._held)

    def _take_ask(self, record, claim):
        for ask in self._asked:
            if ask.record is record and ask.claim is claim:
                return ask
        raise ValueError("it has not asked")

    def blockers(self, record):
        """Those for whom the task waits here: who holds what it asks for, and who asked before it."""
        holders = []
        earlier = []
        for i, ask in enumerate(self._asked):
            if ask.record is record:
                holders += [holder for holder, held in self._held if held.excludes(ask.claim)]
                earlier += [other.record for other in self._asked[:i] if other.claim.precedes(ask.claim)]
        return holders, earlier

    def _spent(self, ask):
        return ask.limit and min(ask.limit, self._world.passed(ask.since))

    def state(self):
        return (
            [(ask.record.task, repr(ask.claim), ask.passes, self._spent(ask)) for ask in self._asked],
            sorted(["%d %r" % (record.number, claim) for record, claim in self._held]),
        )

    def at_rest(self):
        if self._asked or self._held:
            self._world.complain("left over: %d asks, %d holds", len(self._asked), len(self._held))
