"""deadline() and wait_for_ms(): what is interrupted, what is not, and that a cancellation stays a cancellation."""

import asyncio

from buslock import DeadlineExceeded, Lazy, Lock, LockTable, LockTimeout, Reentry, deadline, wait_for_ms
from support import clock
from support.small import SMALL
from support.turns import raises, raises_async, turns

CLOCK = "virtual"
LEFT_OUT = {
    "pico-circuitpython": {
        "CircuitPython awaits by hand only what has __await__, which the native iterator of a block's end has not": (
            "test_its_end_may_be_reached_twice",
        ),
    }
}


async def gather_all(*awaitables):
    """Results and exceptions."""
    return await asyncio.gather(*awaitables, return_exceptions=True)


async def forever():
    await asyncio.Event().wait()


async def asleep():
    await asyncio.sleep(1000)


async def limited(ms, coro):
    async with deadline(ms):
        return await coro


async def test_a_block_that_is_late_is_interrupted():
    """A block that waits for too long ends exactly at its deadline, with DeadlineExceeded, an asyncio.TimeoutError."""
    for wait, ms in ((forever, 1), (asleep, 1), (forever, 50), (asleep, 50), (forever, (1 << 28) - 1)):
        start = clock.now()
        error = await raises_async(DeadlineExceeded, limited(ms, wait()))
        assert clock.now() - start == ms
        assert isinstance(error, asyncio.TimeoutError)
        assert not isinstance(error, LockTimeout)


async def test_a_block_that_is_done_is_left_alone():
    """A block that ends in time is not touched, nor is what follows it, even when its time has come by then."""
    assert await limited(5, value(4, "x")) == "x"
    await asyncio.sleep(0.05)
    async with deadline(5):
        pass
    await asyncio.sleep(0.05)
    async with deadline(5):
        clock.advance(20)
    await asyncio.sleep(0.05)


async def value(ms, result):
    await asyncio.sleep(ms / 1000)
    return result


async def test_a_block_that_does_not_wait_is_not_interrupted():
    """A deadline interrupts waits only: a block that runs on past its time ends normally."""
    for ms in (0, 5):
        async with deadline(ms):
            clock.advance(20)
        await turns(3)


async def test_deadline_0_ends_at_the_first_wait():
    """With 0 the first wait of the block is interrupted, be it only one turn of the scheduler."""
    for wait in (forever, asleep, turns):
        reached = []

        async def block():
            async with deadline(0):
                reached.append(1)
                await wait()
                reached.append(2)

        start = clock.now()
        await raises_async(DeadlineExceeded, block())
        assert reached == [1]
        assert clock.now() == start


async def test_none_is_no_limit():
    """deadline(None) never interrupts, and makes nothing to clean up."""
    async with deadline(None):
        await asyncio.sleep(100)
    assert await wait_for_ms(value(100000, "x"), None) == "x"


async def test_message():
    """The message says how long the deadline was and which task had it."""

    async def display():
        await limited(7, forever())

    text = str(await raises_async(DeadlineExceeded, asyncio.create_task(display())))
    assert "7 ms" in text
    assert "'display'" in text


async def test_an_exception_of_the_block_goes_through():
    """What the block raises by itself is what is raised, also when the time is over by then."""
    for late in (False, True):
        try:
            async with deadline(5):
                if late:
                    clock.advance(20)
                raise OSError(5, "no answer")
        except OSError as error:
            assert error.args == (5, "no answer")
        await turns(3)
        await asyncio.sleep(0.05)


async def test_what_is_caught_in_the_block():
    """After `except CancelledError` in the block the deadline has been spent, and the block ends as it wants to."""
    log = []

    async def stubborn():
        async with deadline(5):
            try:
                await forever()
            except asyncio.CancelledError:
                log.append("caught")
            await asyncio.sleep(0.05)
            log.append("went on")

    await stubborn()
    assert log == ["caught", "went on"]
    await asyncio.sleep(0.01)


async def test_clean_up_of_the_block_may_wait():
    """`finally` of an interrupted block may wait, and DeadlineExceeded comes after it."""
    start = clock.now()

    async def block():
        async with deadline(5):
            try:
                await forever()
            finally:
                await asyncio.sleep(0.02)

    await raises_async(DeadlineExceeded, block())
    assert clock.now() - start == 25


async def test_inner_deadline_first():
    """Of two nested deadlines the inner one, when it is due first, ends the inner block only."""
    log = []
    start = clock.now()
    async with deadline(50):
        try:
            async with deadline(5):
                await forever()
        except DeadlineExceeded as error:
            log.append(str(error))
        await asyncio.sleep(0.02)
        log.append(clock.now() - start)
    assert "5 ms" in log[0]
    assert log[1] == 25


async def test_outer_deadline_first():
    """The outer one, when it is due first, ends both blocks, and the inner one is not heard of again."""
    start = clock.now()

    async def nested():
        async with deadline(5):
            try:
                async with deadline(50):
                    await forever()
            except DeadlineExceeded:
                raise AssertionError("that was the outer deadline") from None

    text = str(await raises_async(DeadlineExceeded, nested()))
    assert "5 ms" in text
    assert clock.now() - start == 5
    await asyncio.sleep(0.1)


async def test_nested_deadlines_due_at_the_same_time():
    """When nested deadlines are due in one tick, the outer block ends with DeadlineExceeded and no cancel is left."""
    for inner, outer in ((5, 5), (5, 6), (6, 5), (0, 0)):
        for depth in range(2):

            async def nested():
                async with deadline(outer), deadline(outer if depth else None):
                    try:
                        async with deadline(inner):
                            await forever()
                    except DeadlineExceeded:
                        pass
                    await forever()

            start = clock.now()
            await raises_async(DeadlineExceeded, nested())
            assert clock.now() - start <= 6
            await turns(10)  # a cancellation that is left would arrive here
            await asyncio.sleep(0.05)


async def test_foreign_cancel():
    """A task that is cancelled before, at, or after the time of its deadline ends with CancelledError (promise 4)."""

    async def block():
        try:
            async with deadline(5):
                await forever()
        except DeadlineExceeded:
            return "deadline"

    for ms in (None, 0, 1, 4, 5, 6):
        task = asyncio.create_task(block())
        if ms is not None:
            await asyncio.sleep(ms / 1000)
        cancelled = task.cancel()
        assert cancelled or ms >= 5
        outcome = (await gather_all(task))[0]
        assert isinstance(outcome, asyncio.CancelledError) if cancelled else outcome == "deadline", ms


async def test_foreign_cancel_in_the_tick_of_the_deadline():
    """A cancellation in the same tick as the deadline's own, before it or after it, is a cancellation (promise 4)."""

    async def block():
        async with deadline(5):
            await forever()

    async def victim():
        tasks.append(asyncio.create_task(block()))
        return await tasks[0]

    async def canceller(ms, n):
        await asyncio.sleep(ms / 1000)
        await turns(n)
        if not tasks[0].done():
            cancelled.append(tasks[0].cancel())

    for canceller_first in (True, False):
        for n in range(12):
            tasks, cancelled = [], []
            if canceller_first:
                coros = canceller(5, n), victim()
            else:
                coros = victim(), canceller(5, n)
            results = await gather_all(*coros)
            kind = results[1 if canceller_first else 0]
            assert isinstance(kind, asyncio.CancelledError if cancelled else DeadlineExceeded), (canceller_first, n)


async def test_foreign_cancel_during_the_clean_up():
    """A cancel that is on its way when the deadline is due is not lost when that cuts the clean-up short."""
    for n in range(3):

        async def block():
            async with deadline(5):
                try:
                    await forever()
                finally:
                    await asyncio.sleep(1)

        async def canceller():
            await asyncio.sleep(0.005)
            tasks[0].cancel()

        # The canceller's timer is older, so it comes first in the tick.
        other = asyncio.create_task(canceller())
        await turns(n)
        tasks = [asyncio.create_task(block())]
        await raises_async(asyncio.CancelledError, tasks[0])
        await other


async def test_foreign_cancel_when_there_is_time_left():
    """A cancelled block ends with CancelledError, and its deadline is not heard of later."""

    async def block():
        try:
            await limited(20, forever())
        except asyncio.CancelledError:
            await asyncio.sleep(0.05)
            return "cleaned up"

    task = asyncio.create_task(block())
    await turns(2)
    task.cancel()
    assert await task == "cleaned up"


async def test_used_twice():
    """A deadline is for one block: a second use raises Reentry."""
    limit = deadline(5)
    async with limit:
        error = await raises_async(Reentry, enter(limit))
        assert "new one" in str(error)
    await raises_async(Reentry, enter(limit))
    await asyncio.sleep(0.02)


async def enter(limit):
    async with limit:
        pass


async def test_its_end_may_be_reached_twice():
    """__aexit__ by hand, before that of the block: the second does nothing."""
    block = deadline(10)
    async with block:
        assert not await block.__aexit__(None, None, None)
        await asyncio.sleep(0.02)


async def test_bad_times():
    """Wrong types and impossible times raise TypeError or ValueError."""
    for bad in (-1, 1 << 28, 1 << 40):
        raises(ValueError, lambda: deadline(bad))
    for bad in ("5", 1.0, True, b"5", []):
        raises(TypeError, lambda: deadline(bad))

    async def nothing():
        pass

    task = asyncio.create_task(nothing())
    await raises_async(ValueError, wait_for_ms(task, -1))
    await raises_async(TypeError, wait_for_ms(task, 1.0))
    await task


def test_outside_of_a_task():
    """A deadline that is entered where no task runs says so."""
    limit = deadline(5)
    error = raises(RuntimeError, limit.__aenter__)
    assert "task" in str(error)


async def test_around_waits_for_locks():
    """A deadline ends a wait for a lock, a key, several, or all: nothing is held then, and the line is empty."""
    lock, table = Lock(), LockTable()

    async def holder():
        async with lock, table.hold_all():
            await forever()

    task = asyncio.create_task(holder())
    await turns()
    for new in (
        lambda: lock,
        lambda: lock.hold(timeout_ms=100),
        lambda: table.hold("k"),
        lambda: table.hold("k", timeout_ms=100, shared=True),
        lambda: table.hold_many(("k", "j")),
        lambda: table.hold_all(),
    ):

        async def ask():
            async with deadline(5), new():
                raise AssertionError("not reached")

        start = clock.now()
        error = await raises_async(DeadlineExceeded, ask())
        assert not isinstance(error, LockTimeout)
        assert clock.now() - start == 5
        assert lock.waiters == 0
        assert table.waiters("k") == 0
        assert len(table) == 1
    task.cancel()
    await turns(2)
    assert len(table) == 0
    assert not lock.locked()


async def test_lock_timeout_inside_a_deadline():
    """The shorter time decides: a lock's own timeout is a LockTimeout, that the outer deadline leaves alone."""
    lock = Lock()
    await lock.acquire()

    async def ask(outer, inner):
        async with deadline(outer), lock.hold(timeout_ms=inner):
            pass

    async def run(outer, inner):
        return (await gather_all(ask(outer, inner)))[0]

    assert isinstance(await run(50, 5), LockTimeout)
    error = await run(5, 50)
    assert isinstance(error, DeadlineExceeded)
    assert not isinstance(error, LockTimeout)
    # In one tick: one of the two, and nothing is left of either.
    assert isinstance(await run(5, 5), DeadlineExceeded)
    assert lock.waiters == 0
    lock.release()
    await asyncio.sleep(0.1)


async def test_in_the_tick_in_which_the_lock_is_granted():
    """Deadline and release in one tick, in any turn and order: the lock is held or free, never lost (promise 3)."""
    for make in (lambda: (Lock(), None), lambda: (None, LockTable())):
        for releaser_first in (False, True):
            for release_turn in range(5):
                for ms in (0, 4, 5):
                    lock, table = make()
                    outcome = []

                    async def ask():
                        try:
                            async with deadline(ms):
                                async with lock or table.hold("k"):
                                    outcome.append("got it")
                                    await turns(3)
                        except DeadlineExceeded:
                            outcome.append("deadline")

                    async def holder():
                        async with lock or table.hold("k"):
                            await asyncio.sleep(ms / 1000)
                            await turns(release_turn)

                    async def main():
                        hold = (lock or table.hold("k")) if releaser_first else None
                        if hold:
                            async with hold:
                                task = asyncio.create_task(ask())
                                await asyncio.sleep(ms / 1000)
                                await turns(release_turn)
                        else:
                            tasks = [asyncio.create_task(holder())]
                            await turns()
                            task = asyncio.create_task(ask())
                            await tasks[0]
                        # The next one gets it, whatever became of the first.
                        async with lock.hold(timeout_ms=10) if lock else table.hold("k", timeout_ms=10):
                            pass
                        await task

                    await main()
                    assert outcome[-1:] in (["got it"], ["deadline"])
                    if lock:
                        assert not lock.locked()
                    else:
                        assert len(table) == 0


async def test_around_asyncio_wait_for():
    """A deadline around asyncio.wait_for() ends what that waits for; a wait_for that is earlier is not disturbed."""
    ended = []

    async def work():
        try:
            await forever()
        finally:
            ended.append(1)

    for depth in range(1, 5):
        ended.clear()

        async def nest(n):
            if n == 0:
                await work()
            else:
                await asyncio.wait_for(nest(n - 1), 10)

        start = clock.now()
        await raises_async(DeadlineExceeded, limited(5, nest(depth)))
        assert clock.now() - start == 5
        # What is left of the wait_for must not hit this task later.
        await asyncio.sleep(0.02)
        await turns(20)
        assert ended == [1]

    error = (await gather_all(limited(50, asyncio.wait_for(forever(), 0.005))))[0]
    assert isinstance(error, asyncio.TimeoutError)
    assert not isinstance(error, DeadlineExceeded)
    assert await limited(50, asyncio.wait_for(value(1, "x"), 1)) == "x"
    await asyncio.sleep(0.1)


async def test_inside_asyncio_wait_for():
    """A deadline inside asyncio.wait_for(): the shorter of the two decides, and in one tick either."""

    async def run(outer, inner):
        return (await gather_all(asyncio.wait_for(limited(inner, forever()), outer / 1000)))[0]

    assert isinstance(await run(50, 5), DeadlineExceeded)
    error = await run(5, 50)
    assert isinstance(error, asyncio.TimeoutError)
    assert not isinstance(error, DeadlineExceeded)
    assert isinstance(await run(5, 5), asyncio.TimeoutError)
    await asyncio.sleep(0.1)
    await turns(10)


async def test_wait_for_that_ends_in_the_tick_of_the_deadline():
    """When asyncio.wait_for() ends in the tick of the deadline, there is its result or DeadlineExceeded, no more."""
    for ms in (4, 5, 6):
        for order in range(2):
            for n in range(4):

                async def work():
                    await asyncio.sleep(ms / 1000)
                    await turns(n)
                    return "x"

                async def block():
                    if order:
                        return await limited(5, asyncio.wait_for(work(), 1))
                    task = asyncio.create_task(work())
                    await turns()
                    return await limited(5, asyncio.wait_for(task, 1))

                result = (await gather_all(block()))[0]
                assert result == "x" or isinstance(result, DeadlineExceeded), (ms, order, n, result)
                assert ms != 4 or n or result == "x"
                await turns(12)
                await asyncio.sleep(0.02)


async def test_around_gather():
    """A deadline around asyncio.gather() cancels what that runs."""
    ended = []

    async def work(n):
        try:
            await (forever() if n else asleep())
        finally:
            ended.append(n)

    start = clock.now()
    await raises_async(DeadlineExceeded, limited(5, gathered(work(0), work(1), work(2))))
    assert clock.now() - start == 5
    await turns(3)
    assert sorted(ended) == [0, 1, 2]
    assert await limited(5, gathered(value(1, "a"), value(2, "b"))) == ["a", "b"]
    await asyncio.sleep(0.05)


async def gathered(*coros):
    return list(await asyncio.gather(*coros))


async def test_around_events_and_asyncios_own_lock():
    """A deadline around an Event or asyncio's own Lock ends the wait, and both can be used afterwards."""
    event, lock = asyncio.Event(), asyncio.Lock()
    await raises_async(DeadlineExceeded, limited(5, event.wait()))
    await lock.acquire()
    await raises_async(DeadlineExceeded, limited(5, lock.acquire()))
    lock.release()
    await limited(5, lock.acquire())
    event.set()
    await limited(5, event.wait())
    await asyncio.sleep(0.05)


async def test_around_a_child_task():
    """A deadline around the await of a task cancels that task, as a cancellation would."""
    ended = []

    async def grandchild():
        try:
            await forever()
        finally:
            ended.append("grandchild")

    async def child():
        try:
            await asyncio.create_task(grandchild())
        finally:
            ended.append("child")

    task = asyncio.create_task(child())
    await turns(2)
    start = clock.now()
    await raises_async(DeadlineExceeded, limited(5, awaited(task)))
    assert clock.now() - start == 5
    assert ended == ["grandchild", "child"]
    assert task.done()


async def awaited(task):
    return await task


async def test_around_a_child_that_is_cancelled_by_another():
    """A child task that somebody else cancels is no deadline: its parent sees CancelledError."""
    child = asyncio.create_task(forever())

    async def block():
        await limited(50, awaited(child))

    task = asyncio.create_task(block())
    await turns(2)
    child.cancel()
    assert isinstance((await gather_all(task))[0], asyncio.CancelledError)
    await asyncio.sleep(0.1)


async def test_many_at_once():
    """Deadlines of many tasks end each at its own time, and only its own block."""

    async def one(ms):
        start = clock.now()
        await raises_async(DeadlineExceeded, limited(ms, forever()))
        return clock.now() - start == ms

    many = 15 if SMALL else 100
    assert await gather_all(*[one(1 + n * 7 % 20) for n in range(many)]) == [True] * many


async def test_wait_for_ms():
    """wait_for_ms() gives the result in time, and DeadlineExceeded when it is late; None is no limit."""
    assert await wait_for_ms(value(4, "x"), 5) == "x"
    start = clock.now()
    await raises_async(DeadlineExceeded, wait_for_ms(asleep(), 5))
    assert clock.now() - start == 5
    error = OSError(5, "no answer")

    async def fail():
        raise error

    assert await raises_async(OSError, wait_for_ms(fail(), 5)) is error
    task = asyncio.create_task(value(1, "y"))
    assert await wait_for_ms(task, 5) == "y"
    await raises_async(TypeError, wait_for_ms(5, 5))
    await asyncio.sleep(0.01)


async def test_wait_for_ms_runs_in_the_callers_task():
    """What wait_for_ms() waits for runs in the caller's own task: a lock taken in it is the caller's."""
    lock = Lock()

    async def take():
        async with lock.hold() as hold:
            hold.release()
        await lock.acquire()

    await wait_for_ms(take(), 5)
    await raises_async(Reentry, lock.acquire())
    await raises_async(Reentry, wait_for_ms(lock.acquire(), 5))
    lock.release()
    assert await wait_for_ms(lock.acquire(), 5) is True
    lock.release()


async def test_lazy_inside_a_deadline():
    """A caller of a Lazy whose deadline is over goes, and the making goes on."""
    lazy = Lazy(lambda: value(20, "x"))
    await raises_async(DeadlineExceeded, limited(5, lazy.get()))
    assert lazy.state == "starting"
    assert await lazy.get() == "x"
    assert lazy.stats()["calls"] == 1
