"""Scenarios of Lazy."""


class FactoryError(Exception):
    pass


class _Thing:
    def __init__(self, number):
        self.number = number
        self.closed = 0  # how many times to the end
        self.cut_short = False  # the last close was interrupted


class _Workshop:
    """Makes things, one at a time, and looks after them."""

    def __init__(self, world, steps, may_fail, close_steps=None, **options):
        self._world = world
        self._steps = steps
        self._may_fail = may_fail
        self._close_steps = close_steps
        self.things = []
        self.running = 0
        self.closing = False
        self.errors = []  # those that callers got
        close = self.close if close_steps is None else self.close_slowly
        self.lazy = world.watch(world.library.Lazy(self.make, close, **options))
        world.watch(self)
        world.outlived = True
        world.rest.append(self.look)

    def make(self):
        coroutine = self._make()
        self._world.coroutines.append(coroutine)
        return coroutine

    async def _make(self):
        world = self._world
        world.log("the making begins")
        self.running += 1
        if self.running > 1:
            world.complain("making: it was begun twice")
        try:
            for i in range(self._steps):
                await world.pause("making %d" % i)
            if self._may_fail and world.choose(2):
                raise FactoryError("no")
            thing = _Thing(len(self.things))
            self.things.append(thing)
            return thing
        finally:
            self.running -= 1
            world.log("the making ends")

    def close(self, thing):
        self._world.log("thing %d is closed", thing.number)
        thing.closed += 1

    async def close_slowly(self, thing):
        self.closing = thing.cut_short = True
        try:
            for i in range(self._close_steps):
                await self._world.pause("closing %d" % i)
            self.close(thing)
            thing.cut_short = False
        finally:
            self.closing = False

    def look(self):
        world = self._world
        if self.running:
            world.complain("at rest: the making goes on")
        if self.lazy.state == "starting":
            world.complain("at rest: it is still starting")
        for thing in self.things:
            kept = self.lazy.peek() is thing
            if thing.closed > 1 or kept and thing.closed:
                world.complain("closing: thing %d was closed %d times", thing.number, thing.closed)
            if not thing.closed and not kept and not thing.cut_short:
                world.complain("closing: thing %d is lost", thing.number)


async def _caller(world, record, shop, limit=None, times=1):
    await world.stagger()
    errors = world.errors
    for _ in range(times):
        world.at(record, "gets")
        start = world.now()
        try:
            thing = await shop.lazy.get(limit)
        except FactoryError as error:
            if any(error is other for other in shop.errors):
                world.complain("error: two callers got the same exception")
            shop.errors.append(error)
            world.did(record, "failed")
        except errors.BusClosed:
            world.did(record, "closed")
        except errors.LockTimeout:
            if world.passed(start) < limit:
                world.complain("time: task %d gave up before its time", record.number)
            world.did(record, "late")
        except errors.DeadlineExceeded:
            world.did(record, "over")  # the factory's own limit
        else:
            if thing.closed or thing.cut_short:
                world.complain("closing: task %d got thing %d, which is closed", record.number, thing.number)
            world.did(record, "got")


async def _closer(world, record, shop, limit=None):
    await world.stagger()
    world.at(record, "closes")
    start = world.now()
    try:
        await shop.lazy.aclose(limit)
    except world.errors.LockTimeout:
        if world.passed(start) < limit:
            world.complain("time: task %d gave up before its time", record.number)
        world.did(record, "late")
    else:
        if shop.closing:
            world.complain("closing: task %d was told that it is closed, and the closing goes on", record.number)
        for thing in shop.things:
            if thing.cut_short:
                world.complain(
                    "closing: task %d was told that all is closed, and thing %d is not", record.number, thing.number
                )
        world.did(record, "closed")


def callers(world):
    """3 callers, two of them twice; the making takes 2 steps and may fail each time; two cancellations."""
    world.cancels = 2
    shop = _Workshop(world, 2, True)
    for times in (2, 2, 1):
        world.spawn(_caller, shop, None, times)


def impatient(world):
    """3 callers, one with a limit; the making sleeps and may fail; one cancellation."""
    world.cancels = 1
    shop = _Workshop(world, 1, True, retry_ms=3)
    for limit in (5, None, 5):
        world.spawn(_caller, shop, limit)
    world.spawn(_sleeper)


async def _sleeper(world, record):
    """Makes time go on."""
    await world.sleep(2)
    await world.sleep(4)


def slow_factory(world):
    """factory_ms: a making that is ended by its own limit; one cancellation."""
    world.cancels = 1
    shop = _SlowWorkshop(world, 0, False, factory_ms=5)
    for _ in range(2):
        world.spawn(_caller, shop)


class _SlowWorkshop(_Workshop):
    async def _make(self):
        self.running += 1
        try:
            await self._world.sleep((4, 5, 6)[self._world.choose(3)])
        finally:
            self.running -= 1
        thing = _Thing(len(self.things))
        self.things.append(thing)
        return thing


class _StubbornWorkshop(_Workshop):
    async def _make(self):
        thing = _Thing(len(self.things))
        self.things.append(thing)
        try:
            await self._world.pause("making")
        except self._world.library.CancelledError:
            self._world.here("making goes on")
        return thing


def stubborn(world):
    """A factory that comes through in spite of its cancel, 2 callers and 2 closers; one cancellation."""
    world.cancels = 1
    shop = _StubbornWorkshop(world, 0, False)
    for _ in range(2):
        world.spawn(_caller, shop)
    for _ in range(2):
        world.spawn(_closer, shop)


def closing_with_two_cancels(world):
    """The same with two cancellations."""
    closing(world, 2)


def closing(world, cancels=1):
    """2 callers and aclose(); the making takes 2 steps and may fail; one cancellation."""
    world.cancels = cancels
    shop = _Workshop(world, 2, True)
    for _ in range(2):
        world.spawn(_caller, shop)
    world.spawn(_closer, shop)


def closing_twice(world):
    """A caller that comes back, two closers, one with a limit, and a close that takes a step; one cancellation."""
    world.cancels = 1
    shop = _Workshop(world, 1, False, 1)
    world.spawn(_caller, shop, None, 2)
    world.spawn(_closer, shop)
    world.spawn(_closer, shop, 5)
