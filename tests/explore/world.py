"""One run of a scenario: its tasks, what they have seen, and what they were owed."""

from .fingerprint import Fingerprint
from .ledger import Ledger
from .structure import check_rest, check_step


class Record:
    """A task of the scenario."""

    def __init__(self, number):
        self.number = number
        self.task = None
        self.owed = False  # it was cancelled and has not seen that yet
        self.lenient = False  # it may see a cancellation that was sent to another
        self.outcome = []
        self.scopes = []  # holds and deadlines that are only in its local variables


class World:
    """What a scenario builds on, and the search drives.

    `cancels` is how many cancellations the search may deliver, `victims` the tasks it may deliver them to (None: all).
    `symmetric`: the tasks are all alike, so they need take their first steps in one order only.
    `outlived`: something goes on when the tasks have ended.
    """

    cancels = 0
    victims = None
    symmetric = False
    outlived = False

    def __init__(self, library, choose, any_order, verbose=False):
        self.library = library
        self.errors = library.errors
        self.problem = None
        self.records = []
        self.ledgers = []
        self.watched = []  # the objects under test
        self.coroutines = []  # made by the scenario and given away: some may never be started
        self.rest = []  # functions that look at the end whether all is well
        self.verbose = verbose
        self._any_order = any_order
        self._choose = choose
        self._decisions = []
        self._model = library.model
        self._model.reset(any_order, self.complain)
        self._difference = library.rt.ticks_diff

    # For scenarios:

    def ledger(self):
        ledger = Ledger(self)
        self.ledgers.append(ledger)
        return ledger

    def watch(self, x):
        """An object under test: part of the state."""
        self.watched.append(x)
        return x

    def spawn(self, program, *args):
        """A task that runs `program(world, record, *args)`."""
        record = Record(len(self.records))
        self.records.append(record)
        record.task = self.library.asyncio.create_task(program(self, record, *args))
        return record

    def choose(self, n, remember=True):
        """A number below n; the search tries all of them. Not to be remembered if marks tell it."""
        value = self._choose(n)
        if remember:
            self._decisions.append(value)
        self.log("chosen: %d of %d", value, n)
        return value

    def at(self, record, mark):
        """The task has come to a place, known by this name."""
        record.task.mark = mark
        record.task.trail = ""

    def here(self, mark):
        """The same for the running task, whoever made it."""
        task = self.library.rt.current_task()
        task.mark = mark
        task.trail = ""

    def did(self, record, what):
        record.outcome.append(what)
        self.at(record, "")

    async def pause(self, mark="pause"):
        """Others may run here."""
        self.here(mark)
        await self.library.rt.sleep_ms(0)
        self.here("after " + mark)

    async def sleep(self, ms):
        self.here("sleep")
        await self.library.rt.sleep_ms(ms)
        self.here("after sleep")

    async def stagger(self):
        """Where tasks run in the order in which they became ready, this lets them begin in other orders too."""
        if not self._any_order:
            for i in range(self.choose(3, False), 0, -1):
                await self.pause("early %d" % i)

    def cancel(self, record):
        task = record.task
        if not task.done() and task.cancel():
            record.owed = True
            self.log("task %d is cancelled", record.number)

    def saw_cancel(self, record):
        """The task has caught a CancelledError."""
        self.log("task %d sees its cancellation", record.number)
        if not record.owed and not record.lenient:
            self.complain("cancellation: task %d saw one that nobody sent", record.number)
        record.owed = False
        self.at(record, "cancelled")

    def got_cancel(self, record):
        """The task has a CancelledError in its hands, of whomever, and will see another or none."""
        record.owed = False
        record.lenient = True

    def now(self):
        return self._model.now

    def passed(self, since):
        return self._difference(self._model.now, since)

    def complain(self, text, *values):
        if self.problem is None:
            self.problem = text % values if values else text
            self.log("PROBLEM " + self.problem)

    def is_deadlock(self, record):
        """Whether what the task asks for waits, over others or directly, for what the task holds.

        A holder that is ready to run, as one that is being cancelled is, waits for nothing. But those behind it in line
        wait for it to go: whether they would come through without it is not looked at (nor does the library).
        """
        seen = []
        left = [record]
        while left:
            other = left.pop()
            for ledger in self.ledgers:
                holders, earlier = ledger.blockers(other)
                if record in holders or record in earlier:
                    return True
                for blocker in [each for each in holders if not each.task.is_ready()] + earlier:
                    if blocker not in seen:
                        seen.append(blocker)
                        left.append(blocker)
        return False

    def log(self, text, *values):
        if self.verbose:
            print("        " + (text % values if values else text))

    # For the search:

    def options(self):
        """What may happen next; nothing at the end."""
        options = self._model.options()
        if self.symmetric and self._any_order:
            options = [option for option in options if not self._comes_too_early(option)]
        if options and self.cancels:
            for record in self.records:
                if not record.task.done() and (self.victims is None or record.number in self.victims):
                    options.append("c%d" % record.number)
        return options

    def _comes_too_early(self, option):
        if option[0] != "r":
            return False
        number = int(option[1:])
        if not 0 < number < len(self.records):
            return False
        return not _started(self.records[number]) and not _started(self.records[number - 1])

    def perform(self, option):
        if option[0] == "c":
            if self.verbose:
                print("    " + option)
            self.cancels -= 1
            self.cancel(self.records[int(option[1:])])
            return
        if self.verbose:
            print("    %-4s %s" % (option, self._model.describe(option)))
        task = self._model.perform(option)
        if task is not None and task.done():
            self._ended(task)

    def _ended(self, task):
        for record in self.records:
            if record.task is task:
                self._settle_account(record)

    def _settle_account(self, record):
        end = self.library.end_of(record.task)
        if isinstance(end, self.library.CancelledError):
            self.saw_cancel(record)
            record.outcome.append("cancelled")
        elif end is not None:
            self.complain("error: task %d ended with %r", record.number, end)
        if not self.outlived and self._model.timers_left() and all(each.task.done() for each in self.records):
            self.complain("at rest: a timer is left")
        if record.owed:
            self.complain("cancellation: task %d was cancelled and never saw it", record.number)
        self.log("task %d has ended: %s", record.number, record.outcome)

    def check(self):
        """After a step."""
        check_step(self)

    def finish(self):
        """After the last step."""
        for record in self.records:
            if not record.task.done():
                self.complain("left behind: task %d waits for ever", record.number)
        if self.problem is None:
            for ledger in self.ledgers:
                ledger.at_rest()
            check_rest(self)
            for look in self.rest:
                look()

    def fingerprint(self):
        f = Fingerprint(self.passed)
        self._describe(f)
        return f.number()

    def _describe(self, f):
        f.add(self.cancels)
        f.add(self._decisions)
        for record in self.records:
            f.add((record.owed, len(record.outcome)))
        f.add([task.mark for task in self._model.tasks])
        f.add(self._model.places())
        f.add([ledger.state() for ledger in self.ledgers])
        f.add(self.watched)
        f.add([record.scopes for record in self.records])
        f.add(self.library.waitqueue._waiting)

    def close(self):
        """Ends what has not ended, so that nothing of it reaches the next run."""
        for coroutine in [task.coro for task in self._model.tasks] + self.coroutines:
            try:
                coroutine.close()
            except Exception as error:
                # After a broken promise the library's objects may be in any state.
                if self.problem is None:
                    self.log("a task does not end when it is closed: %r", error)
        self.library.waitqueue._waiting.clear()


def _started(record):
    task = record.task
    return task.done() or task.mark is not None
