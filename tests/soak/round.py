"""One round: a few workers at all stations, a canceller, and pauses in which everything is at rest."""

import asyncio
import sys

from buslock import BusClosed, DeadlineExceeded, LockTimeout, QueueFull, WouldDeadlock, deadline, wait_for_ms
from support import clock
from support.turns import turns
from test_random import Random, Worker

from . import buses, locks
from .memory import Level

STATIONS = (locks.Keys, locks.ManyKeys, locks.Lazies, buses.I2C, buses.SPI, buses.UART)
EXPECTED = (LockTimeout, DeadlineExceeded, QueueFull, WouldDeadlock, BusClosed)
CPYTHON = sys.implementation.name == "cpython"
WORKERS = 9
PAUSES = 16
PAUSES_IN_A_WINDOW = 4
ATTEMPTS = 60  # between two pauses


class Round:
    def __init__(self, seed, outcomes):
        self.seed = seed
        self.random = Random(seed)
        self.outcomes = outcomes  # name: how often, over all rounds
        self.stations = [station(seed, self.random) for station in STATIONS]
        self.left = 0
        self.sent = self.seen = 0

    async def run(self):
        level = Level(PAUSES_IN_A_WINDOW)
        for _ in range(PAUSES):
            await self.phase()
            for station in self.stations:
                await station.rest()
            assert self.sent == self.seen, "a cancellation was lost"
            level.look()

    async def phase(self):
        self.left = ATTEMPTS
        workers = [Worker() for _ in range(WORKERS)]
        for worker in workers:
            worker.task = asyncio.create_task(self.work(worker))
        canceller = asyncio.create_task(self.cancel_now_and_then(workers))
        try:
            await asyncio.gather(*[worker.task for worker in workers])
        finally:
            self.left = 0
            for worker in workers:
                worker.ended = True
            await canceller

    async def work(self, worker):
        while self.left > 0:
            self.left -= 1
            station = self.stations[self.random.below(len(self.stations))]
            name = type(station).__name__
            try:
                await self.attempt(station, worker)
                outcome = "done"
            except EXPECTED + station.expected as error:
                outcome = type(error).__name__
                if worker.cancelled and worker.limited and outcome == "DeadlineExceeded" and not CPYTHON:
                    # A deadline may cut short the clean-up after a cancel, and boards cannot see that cancel any more.
                    self.see(worker)
            except asyncio.CancelledError:
                assert worker.cancelled, "nobody has cancelled it"
                outcome = "CancelledError"
                self.see(worker)
            if outcome != "done" and not worker.cancelled:
                await self.breathe(worker)
            assert not worker.cancelled, "a cancellation was lost: %s, %s" % (name, outcome)
            name += "." + outcome
            self.outcomes[name] = self.outcomes.get(name, 0) + 1
        worker.ended = True

    def see(self, worker):
        worker.cancelled = False
        self.seen += 1

    async def breathe(self, worker):
        """Let others run, or what fails at once would be tried for ever."""
        try:
            await turns(1)
        except asyncio.CancelledError:
            assert worker.cancelled, "nobody has cancelled it"
            self.see(worker)

    async def attempt(self, station, worker):
        worker.until = None
        how = 0 if isinstance(station, locks.Keys) else self.random.below(5)  # those have deadlines of their own
        worker.limited = how in (1, 2)
        ms = self.random.below(12)
        if how == 1:
            async with deadline(ms):
                await station.use(worker)
        elif how == 2:
            await wait_for_ms(station.use(worker), ms)
        else:
            await station.use(worker)

    async def cancel_now_and_then(self, workers):
        random = Random(self.seed + 1)
        while self.left > 0:
            worker = workers[random.below(len(workers))]
            if not worker.cancelled and not worker.ended:
                worker.cancelled = True
                self.sent += 1
                worker.task.cancel()
            if random.below(3) == 0:
                await asyncio.sleep(random.below(8) / 1000)
            else:
                await turns(1 + random.below(20))


def run(seed, outcomes):
    """A coroutine: one round, the same for the same seed on a clock that was restarted. One that fails prints its seed."""
    return _named(Round(seed, outcomes))


async def _named(a_round):
    try:
        await a_round.run()
    except BaseException as error:
        print("soak: seed %d fails at virtual time %d ms" % (a_round.seed, clock.now()))
        raise error
