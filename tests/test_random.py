"""Random trials and large numbers, for machines with memory: exclusion, order of arrival, nothing lost, nothing left.

Every trial has a seed, which the message of a failing assertion tells, and runs on virtual time.
"""

import asyncio

from buslock import DeadlineExceeded, Lock, LockTable, LockTimeout, QueueFull, WouldDeadlock, deadline, wait_for_ms
from support import clock
from support.turns import turns

CLOCK = "virtual"
RUNTIMES = ("micropython", "micropython-adafruit", "cpython", "pico")
LEFT_OUT = {"pico": "too slow on an emulated board: thousands of acquisitions"}
SLOW = ("test_100000_acquisitions", "test_20000_acquisitions_of_several_keys")
TIME_LIMIT = 240


class Random:
    """The same numbers on every runtime."""

    def __init__(self, seed):
        self.state = seed * 2654435761 & 0x7FFFFFFF

    def below(self, n):
        self.state = (self.state * 1103515245 + 12345) & 0x7FFFFFFF
        return (self.state >> 8) % n


class Worker:
    """A task of a trial, and what is known about it."""

    cancelled = False  # cancel() was called, and it has not seen it yet
    ended = False
    task = None
    until = None  # when the deadline of its attempt interrupts it, some time before it has run and left the line


class Ticket:
    """One attempt's place in line."""

    def __init__(self, worker, shared):
        self.worker = worker
        self.shared = shared

    def may_be_passed(self):
        until = self.worker.until
        return self.worker.cancelled or until is not None and clock.now_us() >= until - 1000


class Trial:
    """`attempts` acquisitions by a few workers, of whom some are cancelled again and again."""

    def __init__(self, seed, attempts, workers=8):
        self.seed = seed
        self.random = Random(seed)
        self.left = attempts
        self.workers = [Worker() for _ in range(workers)]
        self.sent = self.seen = 0
        self.outcomes = {}

    async def run(self):
        for worker in self.workers:
            worker.task = asyncio.create_task(self.work(worker))
        canceller = asyncio.create_task(self.cancel_now_and_then())
        for worker in self.workers:
            await worker.task
        await canceller
        assert self.sent == self.seen, self.seed
        self.check_rest()

    async def work(self, worker):
        while self.left > 0:
            self.left -= 1
            try:
                outcome = await self.attempt_or_rest(worker)
            except LockTimeout:
                outcome = "LockTimeout"
            except DeadlineExceeded:
                outcome = "DeadlineExceeded"
            except WouldDeadlock:
                outcome = "WouldDeadlock"
            except asyncio.CancelledError:
                outcome = "CancelledError"
                assert worker.cancelled, self.seed
                worker.cancelled = False
                self.seen += 1
            assert not worker.cancelled, ("a cancellation was lost", self.seed, outcome)
            self.outcomes[outcome] = self.outcomes.get(outcome, 0) + 1
        worker.ended = True

    async def attempt_or_rest(self, worker):
        try:
            return await self.attempt(self.random, worker)
        except QueueFull:
            await turns(4)
            return "QueueFull"

    async def cancel_now_and_then(self):
        random = Random(self.seed + 1)
        workers = self.workers
        while self.left > 0:
            self.cancel(workers[random.below(len(workers))])
            if random.below(3) == 0:
                await asyncio.sleep(random.below(3) / 1000)
                # The tick of a deadline is where cancellations get lost.
                for worker in workers:
                    if worker.until is not None and abs(worker.until - clock.now_us()) <= 1000:
                        self.cancel(worker)
            else:
                await turns(1 + random.below(6))

    def cancel(self, worker):
        if not worker.cancelled and not worker.ended:
            worker.cancelled = True
            self.sent += 1
            worker.task.cancel()


class OneKeyEach(Trial):
    """Each attempt is for one of few keys or the lock, in one of all ways; the order of arrival is checked."""

    def __init__(self, seed, attempts, workers=8):
        super().__init__(seed, attempts, workers)
        self.lock = Lock("lock")
        self.table = LockTable("table")
        self.lines = {"a": [], "b": [], self.lock: []}  # who has asked and has neither got it nor gone
        self.inside = {"a": [], "b": [], self.lock: []}  # who has it

    def check_rest(self):
        assert not self.lock.locked(), self.seed
        assert self.lock.waiters == 0, self.seed
        assert len(self.table) == 0, self.seed
        assert [line for line in self.lines.values() if line] == [], self.seed
        stats = self.table.stats()
        assert stats["entries"] == 0
        assert sum(stats["wait_ms"]) + stats["timeouts"] + stats["cancellations"] >= stats["waits"], self.seed

    async def attempt(self, random, worker):
        what = (self.lock, "a", "a", "b")[random.below(4)]
        how = random.below(6)
        ms = random.below(4)
        stay = random.below(5)
        shared = what is not self.lock and random.below(3) == 0
        ticket = Ticket(worker, shared)
        worker.until = clock.now_us() + ms * 1000 if how >= 4 else None
        if how < 2:
            await self.section(ticket, what, self.hold(what, None, shared), stay)
        elif how < 4:
            await self.section(ticket, what, self.hold(what, ms, shared), stay)
        elif how == 4:
            async with deadline(ms):
                await self.section(ticket, what, self.hold(what, None, shared), stay)
        elif what is self.lock:
            await wait_for_ms(self.section(ticket, what, Acquired(self.lock, ms + 2), stay), ms)
        else:
            await wait_for_ms(self.section(ticket, what, self.hold(what, ms + 1, shared), stay), ms)
        return "done"

    def hold(self, what, ms, shared):
        if what is self.lock:
            return what if ms is None else what.hold(ms)
        return self.table.hold(what, ms, shared)

    async def section(self, ticket, what, hold, stay):
        line, inside = self.lines[what], self.inside[what]
        line.append(ticket)
        try:
            async with hold:
                for earlier in line:
                    if earlier is ticket:
                        break
                    # Readers that are granted together may run in another order.
                    together = ticket.shared and earlier.shared
                    assert together or earlier.may_be_passed(), ("not the first to ask", self.seed)
                line.remove(ticket)
                if inside:
                    assert ticket.shared and inside[0].shared, ("two at a time", self.seed)
                inside.append(ticket)
                try:
                    if stay == 4:
                        await asyncio.sleep(0.001)
                    elif stay:
                        await turns(stay)
                finally:
                    inside.remove(ticket)
        finally:
            if ticket in line:
                line.remove(ticket)


class Acquired:
    """`async with` for acquire() and release()."""

    def __init__(self, lock, ms):
        self.lock = lock
        self.ms = ms

    async def __aenter__(self):
        await self.lock.acquire(timeout_ms=self.ms)

    async def __aexit__(self, exc_type, exc, tb):
        self.lock.release()


class SeveralKeys(Trial):
    """Attempts for one key, several, one after the other, or all; exclusion is checked over all of them."""

    def __init__(self, seed, attempts, workers=8):
        super().__init__(seed, attempts, workers)
        self.table = LockTable("table", max_waiters=5)
        self.holders = {}  # key: [how many, shared]

    def check_rest(self):
        assert len(self.table) == 0, self.seed
        assert self.holders == {}, self.seed

    async def attempt(self, random, worker):
        how = random.below(10)
        ms = (None, random.below(4))[random.below(2)]
        keys = sorted({random.below(5) for _ in range(1 + random.below(3))})
        shared = random.below(3) == 0
        stay = random.below(4)
        if how == 0:
            async with self.table.hold_all(ms):
                await self.inside(range(5), False, stay)
        elif how < 4:
            async with self.table.hold_many(keys, ms, shared):
                await self.inside(keys, shared, stay)
        elif how == 4:
            async with deadline(ms), self.table.hold_many(keys, None, shared):
                await self.inside(keys, shared, stay)
        elif how == 5:
            # One after the other in any order: this is what WouldDeadlock is for, unless hold_all is in between.
            other = random.below(5)
            async with self.table.hold(keys[0], ms, shared):
                await self.inside(keys[:1], shared, stay)
                if other != keys[0]:
                    async with self.table.hold(other, ms):
                        await self.inside((other,), False, 1)
        elif how == 6:
            hold = self.table.try_hold(keys[0], shared)
            if hold is not None:
                try:
                    await self.inside(keys[:1], shared, stay)
                finally:
                    hold.release()
        else:
            async with self.table.hold(keys[0], ms, shared):
                await self.inside(keys[:1], shared, stay)
        return "done"

    async def inside(self, keys, shared, stay):
        holders = self.holders
        for key in keys:
            if key in holders:
                assert shared and holders[key][1], ("two at a time", self.seed)
                holders[key][0] += 1
            else:
                holders[key] = [1, shared]
        try:
            await turns(stay)
        finally:
            for key in keys:
                holders[key][0] -= 1
                if not holders[key][0]:
                    del holders[key]


def all_happened(trial, *names):
    for name in names:
        assert trial.outcomes.get(name, 0) > 0, (name, trial.outcomes)


async def test_5000_acquisitions():
    """5,000 random acquisitions with deadlines and cancels: exclusion, order, no leak, no lost cancel."""
    for seed in range(10):
        trial = OneKeyEach(seed, 500, workers=4 + seed)
        await trial.run()
        all_happened(trial, "done", "LockTimeout", "DeadlineExceeded", "CancelledError")


async def test_100000_acquisitions():
    """100,000 random acquisitions with deadlines and cancels: exclusion, order, no leak, no lost cancel."""
    total = 0
    for seed in range(100, 120):
        trial = OneKeyEach(seed, 5000, workers=4 + seed % 12)
        await trial.run()
        total += sum(trial.outcomes.values())
        all_happened(trial, "done", "LockTimeout", "DeadlineExceeded", "CancelledError")
    assert total == 100000


async def test_2000_acquisitions_of_several_keys():
    """2,000 random hold, hold_many, hold_all and try_hold: exclusion over all of them, and nothing is left."""
    for seed in range(8):
        trial = SeveralKeys(seed, 250)
        await trial.run()
        all_happened(trial, "done", "LockTimeout", "CancelledError")


async def test_20000_acquisitions_of_several_keys():
    """20,000 random hold, hold_many, hold_all and try_hold, with every outcome there is."""
    outcomes = {}
    for seed in range(100, 120):
        trial = SeveralKeys(seed, 1000, workers=4 + seed % 8)
        await trial.run()
        for name in trial.outcomes:
            outcomes[name] = outcomes.get(name, 0) + trial.outcomes[name]
    for name in ("done", "LockTimeout", "DeadlineExceeded", "QueueFull", "WouldDeadlock", "CancelledError"):
        assert outcomes.get(name, 0) > 10, outcomes


async def test_transfers_between_accounts():
    """1,000 concurrent transfers between 10 accounts, each holding its two keys, leave the sum as it was."""
    table = LockTable()
    accounts = [100] * 10
    random = Random(12345)
    tasks = []

    async def transfer(source, target, amount):
        async with table.hold_many((source, target)):
            a, b = accounts[source], accounts[target]
            await turns()
            accounts[source] = a - amount
            await turns()
            accounts[target] = b + amount

    for _ in range(1000):
        source = random.below(10)
        tasks.append(transfer(source, (source + 1 + random.below(9)) % 10, random.below(50)))
    await asyncio.gather(*tasks)
    assert sum(accounts) == 1000
    assert len(set(accounts)) > 1
    assert len(table) == 0


async def test_1000_requests_on_one_key():
    """Of 1,000 requests on one key with max_waiters=100, one holds, 100 wait, and 899 fail at once."""
    table = LockTable("t", max_waiters=100)
    done = []
    begin = clock.now()

    async def user(n):
        try:
            async with table.hold("k"):
                await asyncio.sleep(0.001)
            done.append(n)
        except QueueFull as error:
            assert clock.now() == begin
            return str(error)
        return None

    results = await asyncio.gather(*[user(n) for n in range(1000)])
    refused = [r for r in results if r is not None]
    assert len(refused) == 899
    assert done == list(range(101))
    for part in ("t/k", "'user'", "100 ", "max_waiters"):
        assert part in refused[0], refused[0]
    assert table.stats()["rejections"] == 899
    assert len(table) == 0


async def test_a_line_of_2000():
    """2,000 waiters, of whom every third is cancelled and every third times out, leave in order and completely."""
    lock = Lock()
    log = []

    async def user(n, ms):
        try:
            async with lock.hold(timeout_ms=ms):
                log.append(n)
        except LockTimeout:
            pass

    await lock.acquire()
    tasks = [asyncio.create_task(user(n, (None, 1, None)[n % 3])) for n in range(2000)]
    await turns()
    assert lock.waiters == 2000
    for n in range(2, 2000, 3):
        tasks[n].cancel()
    await asyncio.sleep(0.002)
    assert lock.waiters == 667
    lock.release()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert log == list(range(0, 2000, 3))
    assert not lock.locked()
