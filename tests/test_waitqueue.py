"""The line under every primitive: its order, its deadlines, and what becomes of a grant that meets a cancellation."""

import asyncio

from buslock import BusClosed, Lock, LockTable, LockTimeout, QueueFull
from buslock._rt import current_task, loop_id
from buslock.closing import fail_all
from buslock.waitqueue import WaitQueue, _waiting, check_ms, grant, wait
from support import clock
from support.turns import raises, raises_async, turns

CLOCK = "virtual"


class Baton(WaitQueue):
    """The least that can be waited for: one holder at a time."""

    name = "baton"
    holder = None

    def __init__(self, max_waiters=None):
        self._loop = loop_id()
        self._limit = max_waiters

    def _holders(self):
        return () if self.holder is None else (self.holder,)

    def _stuck(self, waiter_of):
        return waiter_of(self.holder)

    def _advance(self):
        while self.holder is None and self._line:
            self.holder = grant(self)

    def _give_back(self, waiter):
        self.drop()

    async def take(self, ms=None):
        if self.holder is None and not self._line:
            self.holder = current_task()
        else:
            await wait(self, None, current_task(), ms)
        assert self.holder is current_task()

    def drop(self):
        self.holder = None
        self._advance()


async def gather_all(*awaitables):
    """Results and exceptions."""
    return await asyncio.gather(*awaitables, return_exceptions=True)


async def use(baton, log, n, ms=None):
    await baton.take(ms)
    log.append(n)
    try:
        await turns()
    finally:
        baton.drop()


def test_times():
    """A time is None or an int of 0 to 2**28-1; a bool, a float, a string is none."""
    for good in (None, 0, 1, 1000, (1 << 28) - 1):
        assert check_ms(good) is good or check_ms(good) == good
    for bad in (-1, 1 << 28, 1 << 40, -(1 << 40)):
        assert str(bad) in str(raises(ValueError, check_ms, bad))
    for bad in (True, False, 1.0, 0.0, "1", b"1", [], (1,), object()):
        raises(TypeError, check_ms, bad)


async def test_those_who_are_failed():
    """Who waits when a bus is closed gets an error of his own, and holds nothing."""
    table, lock = LockTable(), Lock()

    async def use(hold):
        async with hold:
            raise AssertionError("it was granted")

    async with table.hold("a"), lock:
        tasks = [
            asyncio.create_task(use(hold)) for hold in (table.hold("a"), table.hold("a", 50), lock, table.hold_all())
        ]
        await turns(2)
        error = BusClosed("closed")
        fail_all(table, lock, error)
        results = await gather_all(*tasks)
        for result in results:
            assert isinstance(result, BusClosed) and result is not error, results
        assert table.waiters("a") == lock.waiters == 0
    assert len(table) == 0 and not lock.locked()


async def test_order():
    """Those who wait are granted in the order of their arrival, with deadlines or without (promise 2)."""
    baton = Baton()
    log = []
    await baton.take()
    tasks = []
    for n in range(20):
        tasks.append(asyncio.create_task(use(baton, log, n, (None, 1000, 5000)[n % 3])))
        await turns()
    baton.drop()
    await gather_all(*tasks)
    assert log == list(range(20))


async def test_order_after_some_have_left():
    """Those who leave the line, at its front, its end or in between, do not change the order of the others."""
    for leaving in ((0,), (4,), (2,), (0, 1), (3, 4), (0, 2, 4), (1, 3), (0, 1, 2, 3, 4)):
        for how in ("cancel", "timeout"):
            baton = Baton()
            log = []
            await baton.take()
            tasks = []
            for n in range(5):
                ms = 5 if how == "timeout" and n in leaving else None
                tasks.append(asyncio.create_task(gather_all(use(baton, log, n, ms))))
                await turns(2)
            if how == "cancel":
                for n in leaving:
                    tasks[n].cancel()
            else:
                await asyncio.sleep(0.006)
            await turns(3)
            assert len(baton._line) == 5 - len(leaving)
            baton.drop()
            await gather_all(*tasks)
            assert log == [n for n in range(5) if n not in leaving], (leaving, how)
            assert baton.holder is None


async def test_no_grant_is_lost_to_a_cancellation():
    """Cancelled at any place and any turn around the release: CancelledError, and the others go on in order."""
    for place in range(3):
        for ms in (None, 1000):
            for cancel_at in range(8):
                baton = Baton()
                log = []
                await baton.take()
                tasks = [asyncio.create_task(use(baton, log, n, ms)) for n in range(3)]
                await turns()
                for turn in range(8):
                    if turn == 2:
                        baton.drop()
                    if turn == cancel_at:
                        cancelled = tasks[place].cancel() and not tasks[place].done()
                    await turns()
                results = await gather_all(*tasks)
                for n in range(3):
                    assert isinstance(results[n], asyncio.CancelledError) == (cancelled and n == place)
                assert [n for n in log if n != place] == [n for n in range(3) if n != place], (place, ms, cancel_at)
                assert baton.holder is None
                assert not baton._line
                assert not _waiting


async def test_no_grant_is_lost_to_a_timeout():
    """Release and timeout in one tick, in any order of turns: granted or LockTimeout, and the others go on in order."""
    for place in range(3):
        for release_ms in (4, 5, 6):
            for turn in range(5):
                for release_first in (False, True):
                    baton = Baton()
                    log = []

                    async def holder():
                        await baton.take()
                        started.set()
                        await asyncio.sleep(release_ms / 1000)
                        await turns(turn)
                        baton.drop()

                    started = asyncio.Event()
                    tasks = [use(baton, log, n, 5 if n == place else None) for n in range(3)]
                    if release_first:
                        task = asyncio.create_task(holder())
                        await started.wait()
                        results = await gather_all(*tasks)
                        await task
                    else:
                        await baton.take()
                        task = asyncio.create_task(gather_all(*tasks))
                        await asyncio.sleep(release_ms / 1000)
                        await turns(turn)
                        baton.drop()
                        results = await task
                    late = isinstance(results[place], LockTimeout)
                    assert late or results[place] is None
                    assert late or release_ms < 6
                    assert log == [n for n in range(3) if n != place or not late]
                    assert baton.holder is None
                    assert not _waiting


async def test_cancellation_and_timeout_in_one_tick():
    """A task that is cancelled in the tick of its timeout sees CancelledError if cancel() was in time (promise 4)."""
    for turn in range(4):
        baton = Baton()
        await baton.take()
        task = asyncio.create_task(gather_all(cancelled_or_late(baton)))
        await asyncio.sleep(0.005)
        await turns(turn)
        cancelled = waiting[0].cancel()
        outcome = (await task)[0]
        assert isinstance(outcome, asyncio.CancelledError) if cancelled else outcome == "late", turn
        assert not baton._line
        baton.drop()


waiting = []


async def cancelled_or_late(baton):
    waiting.clear()
    waiting.append(current_task())
    try:
        await baton.take(5)
    except LockTimeout:
        return "late"


async def test_a_task_that_swallows_its_cancellation():
    """A task that catches CancelledError owns nothing then, and may stand in line again, at the end."""
    baton = Baton()
    log = []

    async def stubborn():
        try:
            await baton.take()
        except asyncio.CancelledError:
            log.append("cancelled")
        assert baton.holder is not current_task()
        await use(baton, log, "stubborn")

    await baton.take()
    task = asyncio.create_task(stubborn())
    await turns()
    other = asyncio.create_task(use(baton, log, "other"))
    await turns()
    task.cancel()
    await turns(2)
    baton.drop()
    await gather_all(task, other)
    assert log == ["cancelled", "other", "stubborn"]


async def test_times_out_exactly():
    """A deadline is kept to the millisecond, by each of many waiters, whatever the order of their times."""
    baton = Baton()
    await baton.take()

    async def late(ms):
        start = clock.now()
        await raises_async(LockTimeout, baton.take(ms))
        return clock.now() - start

    times = [1 + n * 37 % 100 for n in range(100)]
    assert await gather_all(*[late(ms) for ms in times]) == times
    baton.drop()


async def test_0_is_refused_at_once():
    """With 0 nobody stands in line, full or not: LockTimeout in the same turn, that names what was asked for."""
    for max_waiters in (None, 0):
        baton = Baton(max_waiters)
        await baton.take()
        error = await raises_async(LockTimeout, wait(baton, None, object(), 0))
        assert "baton" in str(error)
    await raises_async(QueueFull, wait(baton, None, object(), 1))
    assert not baton._line
    assert not _waiting
