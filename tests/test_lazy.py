"""Lazy: one initialisation for any number of callers, whoever of them is cancelled; failures, retries, closing."""

import asyncio
import sys

from buslock import BusClosed, DeadlineExceeded, Lazy, LockTimeout, Reentry, WouldDeadlock, deadline
from support import clock
from support.small import every
from support.turns import raises, raises_async, turns

CLOCK = "virtual"


async def gather_all(*awaitables):
    """Results and exceptions."""
    return await asyncio.gather(*awaitables, return_exceptions=True)


class Maker:
    """A factory that counts. `ms` is how long it takes, `error` what it raises instead."""

    def __init__(self, ms=5, error=None):
        self.ms = ms
        self.error = error
        self.calls = 0
        self.made = []
        self.closed = []
        self.cancelled = 0

    async def make(self):
        self.calls += 1
        try:
            await asyncio.sleep(self.ms / 1000)
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        if self.error is not None:
            raise self.error
        self.made.append(object())
        return self.made[-1]

    def make_at_once(self):
        self.calls += 1
        if self.error is not None:
            raise self.error
        self.made.append(object())
        return self.made[-1]

    def close(self, thing):
        self.closed.append(thing)

    async def close_slowly(self, thing):
        await asyncio.sleep(0.01)
        self.closed.append(thing)


async def test_made_on_first_use():
    """The object is made by the first get(), not before, and then always the same."""
    for factory in ("make", "make_at_once"):
        maker = Maker()
        lazy = Lazy(getattr(maker, factory))
        assert lazy.state == "empty"
        assert lazy.peek() is None
        assert maker.calls == 0
        thing = await lazy.get()
        assert thing is maker.made[0]
        assert lazy.state == "ready"
        assert lazy.peek() is thing
        assert await lazy.get(timeout_ms=0) is thing
        assert maker.calls == 1


async def test_objects_that_count_as_false():
    """Anything but None is an object: 0, "" and [] are made once and returned like others."""
    for thing in (0, "", [], False):
        calls = []

        def factory():
            calls.append(1)
            return thing

        lazy = Lazy(factory)
        assert await lazy.get() is thing
        assert await lazy.get() is thing
        assert len(calls) == 1


async def test_a_function_is_called_in_place():
    """A factory that is a plain function runs inside get(), without a turn of the scheduler and without a task."""
    ran = []

    async def other():
        ran.append(1)

    task = asyncio.create_task(other())
    lazy = Lazy(Maker().make_at_once)
    await lazy.get(timeout_ms=0)
    assert ran == []
    await task


async def test_one_object_for_many():
    """100 first callers cause one call of the factory and get one object (promise 9)."""
    maker = Maker()
    lazy = Lazy(maker.make)
    things = await gather_all(*[lazy.get() for _ in range(100)])
    assert maker.calls == 1
    assert [thing is maker.made[0] for thing in things] == [True] * 100
    assert lazy.stats()["calls"] == 1


async def test_whoever_is_cancelled():
    """Of 100 first callers any one may be cancelled, the first too, at any turn: the others get it (promise 9)."""
    for position in every(100):
        maker = Maker(1)
        lazy = Lazy(maker.make)
        tasks = [asyncio.create_task(lazy.get()) for _ in range(100)]
        await turns(position % 4)
        tasks[position].cancel()
        things = await gather_all(*tasks)
        assert isinstance(things[position], asyncio.CancelledError), position
        del things[position]
        assert maker.calls == 1, position
        assert [thing is maker.made[0] for thing in things] == [True] * 99, position


async def test_all_are_cancelled():
    """When all callers are cancelled, the making goes on all the same, for those who come later."""
    for n in range(4):
        maker = Maker()
        lazy = Lazy(maker.make)
        tasks = [asyncio.create_task(lazy.get()) for _ in range(3)]
        await turns(n)
        for task in tasks:
            task.cancel()
        results = await gather_all(*tasks)
        assert [isinstance(r, asyncio.CancelledError) for r in results] == [True] * 3
        assert lazy.state == ("starting" if n else "empty")
        assert await lazy.get() is maker.made[0]
        assert maker.calls == 1
        assert maker.cancelled == 0


async def test_cancelled_in_the_turn_in_which_it_is_made():
    """A caller that is cancelled in a turn around the end of the making sees that; the others get it (promise 4)."""
    for n in range(6):
        maker = Maker()
        lazy = Lazy(maker.make)
        tasks = [asyncio.create_task(lazy.get()) for _ in range(3)]
        await asyncio.sleep(0.005)
        await turns(n)
        cancelled = tasks[1].cancel()
        things = await gather_all(*tasks)
        assert things[0] is things[2] is maker.made[0]
        assert isinstance(things[1], asyncio.CancelledError) if cancelled else things[1] is maker.made[0], n


async def test_one_waiter_gives_up():
    """A caller's LockTimeout names what is being made and by whom, and the making goes on (case A10)."""

    async def slow_sensor():
        return await maker.make()

    maker = Maker(20)
    lazy = Lazy(slow_sensor)
    start = clock.now()
    text = str(await raises_async(LockTimeout, lazy.get(timeout_ms=5)))
    assert clock.now() - start == 5
    for part in ("slow_sensor", "5 ms"):
        assert part in text, text
    await raises_async(LockTimeout, lazy.get(timeout_ms=0))
    await raises_async(DeadlineExceeded, limited(5, lazy))
    assert lazy.state == "starting"
    assert await lazy.get() is maker.made[0]
    assert maker.calls == 1


async def limited(ms, lazy):
    async with deadline(ms):
        return await lazy.get()


async def test_get_can_be_gathered_again_and_again():
    """get() returns a new coroutine each time, never the shared task: gather() takes any number of them (case A11)."""
    maker = Maker()
    lazy = Lazy(maker.make)
    for _ in range(3):
        things = await asyncio.gather(lazy.get(), lazy.get(), lazy.get())
        assert list(things) == [maker.made[0]] * 3
    assert maker.calls == 1


async def test_failure_goes_to_all_who_wait():
    """When the factory raises, all who wait get the same kind of error, each a fresh exception (promise 9)."""
    maker = Maker(error=OSError(19, "no device"))
    lazy = Lazy(maker.make)
    errors = await gather_all(*[lazy.get() for _ in range(4)])
    assert [type(e) for e in errors] == [OSError] * 4
    assert [e.args for e in errors] == [(19, "no device")] * 4
    assert len({id(e) for e in errors}) == 4
    assert lazy.state == "failed"
    assert maker.calls == 1


async def test_failure_that_cannot_be_copied():
    """An exception whose class cannot be called with its arguments still reaches all who wait, with its text."""

    class Odd(Exception):
        def __init__(self, a, b):
            super().__init__("odd")

    maker = Maker(error=Odd(1, 2))
    lazy = Lazy(maker.make)
    errors = await gather_all(lazy.get(), lazy.get())
    assert errors[0] is not errors[1]
    for error in errors:
        assert isinstance(error, Exception)
        assert "odd" in str(error)


async def test_failure_is_tried_again():
    """After a failure the next caller has the factory called again."""
    for factory in ("make", "make_at_once"):
        maker = Maker(error=OSError(19, "no device"))
        lazy = Lazy(getattr(maker, factory))
        for n in range(1, 3):
            await raises_async(OSError, lazy.get())
            assert lazy.state == "failed"
            assert maker.calls == n
            assert lazy.peek() is None
        maker.error = None
        assert await lazy.get() is maker.made[0]
        assert lazy.state == "ready"
        assert maker.calls == 3
        stats = lazy.stats()
        assert (stats["calls"], stats["failures"]) == (3, 2)


async def test_not_before_retry_ms():
    """Until retry_ms after a failure, callers get a fresh copy of the error at once; the factory is left in peace."""
    for factory in ("make", "make_at_once"):
        maker = Maker(error=OSError(19, "no device"))
        lazy = Lazy(getattr(maker, factory), retry_ms=50)
        first = await raises_async(OSError, lazy.get())
        start = clock.now()
        errors = [await raises_async(OSError, lazy.get())]
        errors.append(await raises_async(OSError, lazy.get()))
        assert clock.now() == start
        await asyncio.sleep(0.049)
        errors.append(await raises_async(OSError, lazy.get()))
        assert maker.calls == 1
        assert [e.args for e in errors] == [first.args] * 3
        assert len({id(e) for e in errors}) == 3
        maker.error = None
        await asyncio.sleep(0.001)
        assert await lazy.get() is maker.made[0]
        assert maker.calls == 2


async def test_factory_ms():
    """factory_ms bounds an async factory: it is cancelled, and those who wait get DeadlineExceeded."""
    maker = Maker(1000)
    lazy = Lazy(maker.make, factory_ms=20)
    start = clock.now()
    errors = await gather_all(lazy.get(), lazy.get(), lazy.get(timeout_ms=100))
    assert clock.now() - start == 20
    assert [isinstance(e, DeadlineExceeded) for e in errors] == [True] * 3
    assert [isinstance(e, LockTimeout) for e in errors] == [False] * 3
    assert lazy.state == "failed"
    assert maker.cancelled == 1
    maker.ms = 1
    assert await lazy.get() is maker.made[0]


async def test_factory_that_returns_none():
    """A factory that returns None has made nothing: TypeError that names it, and the state is "failed"."""

    def nothing():
        calls.append(1)

    async def nothing_later():
        calls.append(1)

    for factory in (nothing, nothing_later):
        calls = []
        lazy = Lazy(factory)
        for n in range(1, 3):
            error = await raises_async(TypeError, lazy.get())
            assert factory.__name__ in str(error)
            assert lazy.state == "failed"
            assert len(calls) == n


def test_bad_arguments():
    """A factory or close that cannot be called, and impossible times, raise at once."""
    for bad in (None, 5, "make", object()):
        raises(TypeError, lambda: Lazy(bad))
    for bad in (5, "close", object()):
        raises(TypeError, lambda: Lazy(Maker().make, close=bad))
    for bad in (-1, 1 << 28):
        raises(ValueError, lambda: Lazy(Maker().make, factory_ms=bad))
        raises(ValueError, lambda: Lazy(Maker().make, retry_ms=bad))
    for bad in ("5", 1.0, True):
        raises(TypeError, lambda: Lazy(Maker().make, factory_ms=bad))
        raises(TypeError, lambda: Lazy(Maker().make, retry_ms=bad))
    raises(TypeError, lambda: Lazy(Maker().make, retry_ms=None))


async def test_bad_times():
    """get() and aclose() refuse impossible times, and do nothing then."""
    maker = Maker()
    lazy = Lazy(maker.make)
    for bad, kind in ((-1, ValueError), (1 << 28, ValueError), (1.0, TypeError), (True, TypeError), ("5", TypeError)):
        await raises_async(kind, lazy.get(timeout_ms=bad))
        await raises_async(kind, lazy.aclose(timeout_ms=bad))
    assert lazy.state == "empty"
    assert maker.calls == 0


async def test_factory_that_needs_its_own_result():
    """An async factory that asks for its own object gets Reentry, and does not hang (promise 8)."""

    async def snake():
        return await lazy.get()

    for factory_ms in (None, 100):
        lazy = Lazy(snake, factory_ms=factory_ms)
        start = clock.now()
        text = str(await raises_async(Reentry, lazy.get()))
        assert "snake" in text
        assert clock.now() == start
        assert lazy.state == "failed"


async def test_factory_that_needs_its_own_result_through_a_child():
    """A factory that awaits a task that asks for the object is not seen; the timeout's message says who makes it."""

    async def snake():
        return await asyncio.create_task(tail())

    async def tail():
        return await lazy.get(timeout_ms=5)

    lazy = Lazy(snake)
    text = str(await raises_async(LockTimeout, lazy.get()))
    assert "snake" in text


async def test_factories_that_need_each_other():
    """Two factories that ask for each other's objects are a deadlock, and told as one."""

    async def make_a():
        return await b.get()

    async def make_b():
        return await a.get()

    a, b = Lazy(make_a), Lazy(make_b)
    errors = await gather_all(a.get(), b.get())
    assert isinstance(errors[0], WouldDeadlock)
    for part in ("make_a", "make_b"):
        assert part in str(errors[0])
    assert a.state == b.state == "failed"


async def test_close():
    """aclose() closes the object, sync or async, once, and the next get() makes a new one."""
    for close in ("close", "close_slowly"):
        maker = Maker()
        lazy = Lazy(maker.make, close=getattr(maker, close))
        for n in range(2):
            thing = await lazy.get()
            await lazy.aclose()
            assert lazy.state == "empty"
            assert lazy.peek() is None
            assert maker.closed[n] is thing
            assert len(maker.closed) == n + 1
        assert maker.calls == 2


async def test_close_of_what_was_never_made():
    """aclose() of an empty or failed Lazy calls nothing, and leaves it empty."""
    maker = Maker(error=OSError(19, "no device"))
    lazy = Lazy(maker.make, close=maker.close)
    await lazy.aclose()
    assert lazy.state == "empty"
    await raises_async(OSError, lazy.get())
    await lazy.aclose()
    assert lazy.state == "empty"
    assert maker.closed == []
    maker.error = None
    assert await lazy.get() is maker.made[0]


async def test_close_without_a_close_function():
    """Without `close` the object is just forgotten."""
    maker = Maker()
    lazy = Lazy(maker.make)
    await lazy.get()
    await lazy.aclose()
    assert lazy.peek() is None


async def test_close_while_it_is_made():
    """aclose() at any turn of the making ends it: those who wait get BusClosed, and the next get() makes it anew."""
    for n in range(6):
        maker = Maker()
        lazy = Lazy(maker.make, close=maker.close)
        getters = asyncio.create_task(gather_all(lazy.get(), lazy.get(), lazy.get()))
        await turns(2)
        if n < 4:
            await turns(n)
        else:
            await asyncio.sleep(0.005)  # the turn in which it is made
            await turns(n - 4)
        await lazy.aclose()
        assert lazy.state == "empty"
        assert lazy.peek() is None
        for result in await getters:
            assert isinstance(result, BusClosed) or result in maker.made, n
        assert maker.closed == maker.made, n
        thing = await lazy.get()
        assert thing is maker.made[-1]
        assert thing not in maker.closed


async def test_close_of_a_factory_that_comes_through():
    """A factory that makes the object in spite of the cancel: it is closed, and nobody is given it."""
    closed = []

    async def stubborn():
        try:
            await asyncio.sleep(10)
        except asyncio.CancelledError:
            await turns()
        return "the thing"

    lazy = Lazy(stubborn, close=closed.append)
    given = []

    async def keen():
        for _ in range(12):
            try:
                given.append((await lazy.get(timeout_ms=0), lazy.state))
            except (BusClosed, LockTimeout):
                pass
            await turns()
            if lazy.peek():
                given.append(lazy.peek())
            if lazy.state == "empty":
                break

    getters = asyncio.create_task(gather_all(lazy.get(), keen()))
    await turns(4)
    await lazy.aclose()
    assert closed == ["the thing"]
    assert lazy.state == "empty"
    results = await getters
    assert isinstance(results[0], BusClosed)
    assert results[1] is None
    assert given == []


async def test_close_of_a_factory_that_does_not_end():
    """aclose(timeout_ms=) of a making that does not let itself be cancelled raises LockTimeout, and it goes on."""

    async def stubborn():
        for _ in range(2):
            try:
                await asyncio.sleep(0.02)
            except asyncio.CancelledError:
                pass
        return "the thing"

    lazy = Lazy(stubborn)
    task = asyncio.create_task(lazy.get())
    await turns(2)
    start = clock.now()
    await raises_async(LockTimeout, lazy.aclose(timeout_ms=5))
    assert clock.now() - start == 5
    assert lazy.state == "starting"
    assert await task == "the thing"
    assert await lazy.get() == "the thing"


async def test_get_while_it_is_closed():
    """get() while a close is under way raises BusClosed that says what to do; afterwards it makes a new object."""
    maker = Maker()
    lazy = Lazy(maker.make, close=maker.close_slowly)
    first = await lazy.get()
    task = asyncio.create_task(lazy.aclose())
    await turns()
    assert lazy.peek() is None
    text = str(await raises_async(BusClosed, lazy.get()))
    for part in ("make", "aclose"):
        assert part in text, text
    assert maker.calls == 1
    await task
    assert await lazy.get() is not first


async def test_a_closer_that_waits_for_another_has_its_own_time():
    """aclose(timeout_ms=) while somebody else closes gives up when its time is over; the other one goes on."""
    maker = Maker()
    lazy = Lazy(maker.make, close=maker.close_slowly)
    await lazy.get()
    task = asyncio.create_task(lazy.aclose())
    await turns()
    start = clock.now()
    await raises_async(LockTimeout, lazy.aclose(timeout_ms=4))
    assert clock.now() - start == 4
    await task
    assert maker.closed == maker.made


async def test_those_who_wait_get_busclosed_whatever_the_factory_makes_of_the_cancel():
    """A factory that answers the cancel of aclose() with an error of its own: those who wait get BusClosed."""

    async def angry():
        begun.append(1)
        try:
            await asyncio.sleep(1)
        except asyncio.CancelledError:
            raise OSError(5, "interrupted")

    begun = []
    lazy = Lazy(angry)
    getter = asyncio.create_task(gather_all(lazy.get()))
    while not begun:
        await turns()
    await lazy.aclose()
    assert [type(result) for result in await getter] == [BusClosed]
    assert lazy.state == "empty"
    assert lazy.stats()["failures"] == 1


async def test_made_in_spite_of_a_close_that_gave_up():
    """aclose() is cancelled in the turn in which a stubborn factory comes through: the object stays, and is closed later."""
    for n in range(8):
        closed = []

        async def stubborn():
            try:
                await asyncio.sleep(1)
            except asyncio.CancelledError:
                await turns(2)
            return "the thing"

        lazy = Lazy(stubborn, close=closed.append)
        getter = asyncio.create_task(gather_all(lazy.get()))
        await turns(2)
        closer = asyncio.create_task(lazy.aclose())
        await turns(n)
        cancelled = closer.cancel()
        await gather_all(closer)
        while lazy.state == "starting":
            await asyncio.sleep(0.1)
        if not closed:
            assert cancelled, n
            assert lazy.state == "ready", n
            assert await lazy.get() == lazy.peek() == "the thing", n
            await lazy.aclose()
        assert closed == ["the thing"], n
        assert lazy.peek() is None
        await getter


async def test_the_shared_task_is_cancelled_by_a_stranger():
    """Somebody cancels the task that makes it, at its first step or later: those who wait get BusClosed, a retry works."""
    for n in (0, 3):
        maker = Maker()
        lazy = Lazy(maker.make)
        getter = asyncio.create_task(gather_all(lazy.get(), lazy.get()))
        while lazy.state != "starting":
            await turns()
        await turns(n)
        lazy._task.cancel()  # as the end of a program does, with a list of all tasks
        await turns(3)
        if n:
            assert lazy.state == "failed"
            assert lazy.stats()["failures"] == 1
        assert await lazy.get() is maker.made[0]
        assert maker.calls == (2 if n else 1)
        for result in await getter:
            assert isinstance(result, BusClosed), n


async def test_two_closers():
    """Of two that close at the same time, both return when all is closed, and `close` is called once."""
    for state in ("ready", "starting"):
        maker = Maker(5 if state == "ready" else 1000)
        lazy = Lazy(maker.make, close=maker.close_slowly)
        getter = asyncio.create_task(gather_all(lazy.get()))
        await asyncio.sleep(0.01)
        assert lazy.state == state

        async def closer():
            await lazy.aclose()
            return lazy.state, len(maker.closed)

        results = await gather_all(closer(), closer(), closer())
        assert results == [("empty", 1 if state == "ready" else 0)] * 3
        await getter


async def test_a_closer_that_gives_up():
    """When the first of two closers is cancelled or times out, the second one closes."""
    for how in ("timeout", "cancel"):
        maker = Maker()

        async def stubborn():
            for _ in range(2):
                try:
                    await asyncio.sleep(0.02)
                except asyncio.CancelledError:
                    pass
            return await maker.make()

        lazy = Lazy(stubborn, close=maker.close)
        getter = asyncio.create_task(gather_all(lazy.get()))
        await turns(2)
        first = asyncio.create_task(gather_all(lazy.aclose(timeout_ms=5)))
        await turns(2)
        second = asyncio.create_task(lazy.aclose())
        await turns()
        if how == "cancel":
            first.cancel()
        await second
        assert lazy.state == "empty"
        assert maker.closed == maker.made
        await gather_all(first, getter)


async def test_a_close_that_is_cancelled():
    """A closer that is cancelled in an async close sees it; the object is forgotten, the next get() makes another."""
    maker = Maker()
    lazy = Lazy(maker.make, close=maker.close_slowly)
    first = await lazy.get()
    task = asyncio.create_task(lazy.aclose())
    await turns(2)
    task.cancel()
    await raises_async(asyncio.CancelledError, task)
    assert lazy.state == "empty"
    assert maker.closed == []
    assert await lazy.get() is not first


async def test_a_close_that_fails():
    """What `close` raises goes to the closer, and the Lazy is empty all the same: that object is not closed again."""
    maker = Maker()
    tried = []

    def fail(thing):
        tried.append(thing)
        raise OSError(5, "stuck")

    lazy = Lazy(maker.make, close=fail)
    first = await lazy.get()
    await raises_async(OSError, lazy.aclose())
    assert lazy.state == "empty"
    await lazy.aclose()
    assert tried == [first]
    assert await lazy.get() is not first


async def test_closing_from_within():
    """A factory or close function that calls aclose() would wait for itself: Reentry (promise 8)."""

    async def making():
        await lazy.aclose()

    lazy = Lazy(making)
    assert "making" in str(await raises_async(Reentry, lazy.get()))

    async def close(thing):
        await lazy.aclose()

    lazy = Lazy(Maker().make, close=close)
    await lazy.get()
    await raises_async(Reentry, lazy.aclose())
    assert lazy.state == "empty"


async def test_statistics():
    """stats() tells state, calls, failures, and how long the last call took."""
    maker = Maker(7)
    lazy = Lazy(maker.make)
    stats = lazy.stats()
    assert (stats["state"], stats["calls"], stats["failures"], stats["last_ms"]) == ("empty", 0, 0, None)
    await lazy.get()
    stats = lazy.stats()
    assert (stats["state"], stats["calls"], stats["failures"], stats["last_ms"]) == ("ready", 1, 0, 7)
    await lazy.aclose()
    maker.error = OSError(5, "x")
    maker.ms = 3
    again = asyncio.create_task(raises_async(OSError, lazy.get()))
    await turns(2)
    stats = lazy.stats()
    assert (stats["state"], stats["calls"], stats["failures"], stats["last_ms"]) == ("starting", 2, 0, 7)
    await again
    stats = lazy.stats()
    assert (stats["state"], stats["calls"], stats["failures"], stats["last_ms"]) == ("failed", 2, 1, 3)


def run_in_new_loop(coro):
    if sys.implementation.name != "cpython":
        asyncio.core.cur_task = None
        asyncio.new_event_loop()
    return asyncio.run(coro)


def test_made_in_another_loop():
    """What was made in one loop is there in the next; what was being made when its loop went is made anew."""
    maker = Maker()
    lazy = Lazy(maker.make)

    async def interrupted():
        task = asyncio.create_task(gather_all(lazy.get(), lazy.get(timeout_ms=1000)))
        await turns(3)
        assert lazy.state == "starting"
        if sys.implementation.name == "cpython":
            task.cancel()  # asyncio.run() would do it
            await gather_all(task)

    async def first():
        return await lazy.get()

    run_in_new_loop(interrupted())
    thing = run_in_new_loop(first())
    assert thing is maker.made[0]
    assert maker.calls == 2
    assert run_in_new_loop(first()) is thing


def test_those_who_waited_in_another_loop_stay_there():
    """Callers that were stranded with a replaced loop do not go on in the new one, and disturb nobody there."""
    if sys.implementation.name == "cpython":
        return  # asyncio.run() ends them
    lazy = Lazy(Maker().make)
    log = []

    async def stranded(timeout_ms):
        try:
            log.append(await lazy.get(timeout_ms))
        finally:
            log.append("went on")

    async def sleeper(ms):
        await asyncio.sleep(ms / 1000)
        return ms

    async def first():
        for timeout_ms in (None, 50, None, 5000):
            asyncio.create_task(stranded(timeout_ms))  # noqa: RUF006
        await turns(3)

    async def second():
        sleepers = asyncio.create_task(gather_all(*[sleeper(ms) for ms in range(20)]))
        await turns()
        await lazy.get()
        assert await sleepers == list(range(20))
        await asyncio.sleep(10)

    run_in_new_loop(first())
    run_in_new_loop(second())
    assert log == []
    asyncio.new_event_loop()


async def test_a_loop_that_cancels_everything():
    """A shutdown that cancels all tasks, the shared one too, at any turn, leaves a Lazy that can be used again."""
    if sys.implementation.name != "cpython":
        return  # there is no list of all tasks
    for n in range(10):
        maker = Maker()
        lazy = Lazy(maker.make)
        tasks = [asyncio.create_task(lazy.get()) for _ in range(2)]
        await turns(n // 2)
        for task in asyncio.all_tasks():
            if task is not asyncio.current_task():
                task.cancel()
        await gather_all(*tasks)
        await turns(3)
        if n % 2:
            await lazy.aclose(timeout_ms=100)
        assert await lazy.get(timeout_ms=100) is maker.made[0], n
