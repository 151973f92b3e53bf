"""Holders that outlive their run of the loop: Ctrl-C, a second asyncio.run(), a replaced loop. The cases of group H.

MicroPython's asyncio.run() ends without cancelling anything: what is left goes on in the next run, unless
new_event_loop() has stranded it for ever. CPython's cancels all that is left; there a loop is run by hand.
"""

import asyncio
import sys

from buslock import BusClosed, DeadlineExceeded, Lazy, Lock, LockTable, LockTimeout, NotHeld, deadline
from buslock.waitqueue import _waiting
from support import clock
from support.turns import raises, raises_async, turns

CLOCK = "virtual"

CPYTHON = sys.implementation.name == "cpython"


class Loops:
    """Runs coroutines in one loop after the other, and leaves what they leave behind."""

    def __init__(self):
        self.all = []
        self.new()

    def new(self):
        """Replaces the loop."""
        if CPYTHON:
            if self.all:
                self.loop.close()
            self.loop = asyncio.new_event_loop()
            self.all.append(self.loop)
        else:
            asyncio.core.cur_task = None
            asyncio.new_event_loop()

    def run(self, coro):
        if CPYTHON:
            return self.loop.run_until_complete(coro)
        asyncio.core.cur_task = None
        return asyncio.run(coro)

    def close(self):
        """Forgets what was left, so that the harness does not complain of it."""
        if CPYTHON:
            for loop in self.all:
                for task in asyncio.all_tasks(loop):
                    task._log_destroy_pending = False
                    task.get_coro().close()
                loop.close()
        else:
            self.new()


class Shared:
    """What a program has at its top level, made at import, outside of every loop."""

    def __init__(self):
        self.lock = Lock("lock")
        self.table = LockTable("table")
        self.kinds = (
            ("lock", lambda **k: self.lock.hold(**k), lambda: not self.lock.locked()),
            ("key", lambda **k: self.table.hold("k", **k), lambda: len(self.table) == 0),
            ("reader", lambda **k: self.table.hold("k", shared=True, **k), lambda: len(self.table) == 0),
            ("keys", lambda **k: self.table.hold_many(("j", "k"), **k), lambda: len(self.table) == 0),
            ("all", lambda **k: self.table.hold_all(**k), lambda: len(self.table) == 0),
        )

    def exclusive(self, name, **k):
        """A hold that conflicts with that kind."""
        return self.lock.hold(**k) if name == "lock" else self.table.hold("k", **k)


async def gather_all(*awaitables):
    """Results and exceptions."""
    return await asyncio.gather(*awaitables, return_exceptions=True)


async def leave(task_of, n=2):
    """Starts a task, lets it take its hold, and ends the run with the task in the middle of its block."""
    asyncio.create_task(task_of())  # noqa: RUF006
    await turns(n)


def test_h1_a_holder_that_goes_on_in_the_next_run_is_waited_for():
    """H1: a task that was in its block when the run ended keeps its hold and goes on in the next run."""
    shared = Shared()
    for name, new, free in shared.kinds:
        loops = Loops()
        log = []

        async def holder():
            async with new():
                await asyncio.sleep(0.05)
                log.append("holder")

        async def second():
            assert not free(), name
            async with shared.exclusive(name, timeout_ms=1000):
                log.append("second")

        loops.run(leave(holder))
        loops.run(second())
        assert log == ["holder", "second"], name
        assert free(), name
        loops.close()


def test_h1_it_is_named_when_it_takes_too_long():
    """H1: while the task that was left over holds, LockTimeout names it."""
    shared = Shared()
    for name, new, free in shared.kinds:
        loops = Loops()

        async def left_over():
            async with new():
                await asyncio.sleep(0.05)

        async def second():
            text = str(await raises_async(LockTimeout, enter(shared.exclusive(name, timeout_ms=5))))
            assert "'left_over'" in text, text
            await asyncio.sleep(0.1)

        loops.run(leave(left_over))
        loops.run(second())
        assert free(), name
        loops.close()


async def enter(hold):
    async with hold:
        pass


def test_h1_ctrl_c():
    """H1: Ctrl-C in one task leaves the holder asleep; in the next run it goes on, and nothing is lost."""
    lock, table = Lock(), LockTable()
    log = []

    async def holder():
        try:
            async with lock, table.hold("k"):
                await asyncio.sleep(0.02)
        finally:
            log.append("holder")

    async def interrupted():
        asyncio.create_task(holder())  # noqa: RUF006
        await turns(2)
        raise KeyboardInterrupt

    async def second():
        async with lock.hold(timeout_ms=1000), table.hold("k", timeout_ms=1000):
            log.append("second")

    try:
        asyncio.run(interrupted())
        raise AssertionError("not interrupted")
    except KeyboardInterrupt:
        pass
    if not CPYTHON:
        assert lock.locked()  # there asyncio.run() has cancelled it
        asyncio.core.cur_task = None
    asyncio.run(second())
    assert log == ["holder", "second"]
    assert not lock.locked()
    assert len(table) == 0
    if not CPYTHON:
        asyncio.new_event_loop()  # a task that ended by Ctrl-C never counts as done


def test_h1_ctrl_c_in_the_block_itself():
    """H1: Ctrl-C inside a block, where the holder itself is running, ends the hold on its way out."""
    lock, table = Lock(), LockTable()

    async def holder():
        async with lock, table.hold("k"), table.hold_many(("a", "b")):
            raise KeyboardInterrupt

    try:
        asyncio.run(holder())
        raise AssertionError("not interrupted")
    except KeyboardInterrupt:
        pass
    assert not lock.locked()
    assert len(table) == 0
    if not CPYTHON:
        asyncio.core.cur_task = None
        asyncio.new_event_loop()


def test_h2_a_holder_of_a_replaced_loop_is_discarded():
    """H2: new_event_loop() strands a sleeping holder for ever: the next who asks gets the hold at once (promise 13)."""
    shared = Shared()
    for name, new, free in shared.kinds:
        loops = Loops()
        holds = []

        async def holder():
            async with new() as hold:
                holds.append(hold)
                await asyncio.sleep(0.05)

        async def second():
            start = clock.now()
            async with shared.exclusive(name, timeout_ms=1000):
                assert not holds[0].held, name
            assert clock.now() == start, name
            async with new(timeout_ms=0):
                pass

        loops.run(leave(holder))
        assert not free(), name
        loops.new()
        loops.run(second())
        assert free(), name
        loops.close()


def test_h2_a_holder_that_can_still_resume_is_waited_for():
    """H2: a holder of the old loop that somebody may still wake is named and waited for (promise 13)."""
    lock, table = Lock("lock"), LockTable("table")
    events = []
    loops = Loops()
    old = loops.loop if CPYTHON else None

    async def left_over():
        events.append(asyncio.Event())
        async with lock, table.hold("k"):
            await events[0].wait()

    async def second():
        for hold in (lock.hold(timeout_ms=5), table.hold("k", timeout_ms=5)):
            text = str(await raises_async(LockTimeout, enter(hold)))
            assert "'left_over'" in text, text
        if not CPYTHON:
            events[0].set()

    async def third():
        await enter(lock.hold(timeout_ms=5))
        await enter(table.hold("k", timeout_ms=5))

    async def wake():
        events[0].set()
        await turns(2)

    loops.run(leave(left_over))
    if CPYTHON:
        loops.loop = asyncio.new_event_loop()  # beside the old one, which is not closed
        loops.all.append(loops.loop)
    else:
        loops.new()
    loops.run(second())
    if CPYTHON:
        old.run_until_complete(wake())
    loops.run(third())
    assert not lock.locked()
    assert len(table) == 0
    loops.close()


def test_h2_try_sees_it_too():
    """H2: try_acquire() and try_hold() discard a stranded holder as well."""
    lock, table = Lock(), LockTable()
    loops = Loops()

    async def holder():
        async with lock, table.hold("k"):
            await asyncio.sleep(1)

    async def second():
        assert lock.try_acquire()
        lock.release()
        hold = table.try_hold("k")
        assert hold is not None
        hold.release()

    loops.run(leave(holder))
    loops.new()
    loops.run(second())
    assert not lock.locked()
    assert len(table) == 0
    loops.close()


def test_h2_it_is_counted():
    """H2: the statistics count the holders that were discarded."""
    table = LockTable()
    loops = Loops()

    async def holder(key):
        async with table.hold(key):
            await asyncio.sleep(1)

    async def first():
        for key in "abc":
            asyncio.create_task(holder(key))  # noqa: RUF006
        await turns(2)

    async def second():
        await enter(table.hold("a"))
        assert table.stats()["stale_holders"] == 3
        assert len(table) == 0

    loops.run(first())
    assert table.stats()["stale_holders"] == 0
    loops.new()
    loops.run(second())
    loops.close()


def test_h2_those_who_waited_in_the_old_loop_are_passed_over():
    """H2: the line of a replaced loop is gone with it: whoever asks in the new one does not wait behind it."""
    shared = Shared()
    for name, new, free in shared.kinds:
        loops = Loops()

        log = []

        async def stranded(hold):
            try:
                async with hold:
                    await asyncio.sleep(1)
            except Exception as error:
                log.append(error)
            log.append("went on")

        async def sleeper(ms):
            await asyncio.sleep(ms / 1000)
            return ms

        async def first():
            for timeout_ms in (None, 50, 5000):
                asyncio.create_task(stranded(new(timeout_ms=timeout_ms)))  # noqa: RUF006
                asyncio.create_task(stranded(shared.exclusive(name, timeout_ms=timeout_ms)))  # noqa: RUF006
            await turns(3)

        async def second():
            sleepers = asyncio.create_task(gather_all(*[sleeper(ms) for ms in range(20)]))
            await turns()
            for _ in range(3):
                async with shared.exclusive(name, timeout_ms=0):
                    pass
            tasks = [asyncio.create_task(enter(shared.exclusive(name))) for _ in range(3)]
            await turns(3)
            assert [task.done() for task in tasks] == [True] * 3
            # None of the old ones has come into the new loop, nor taken anything out of it.
            assert await sleepers == list(range(20)), name
            await asyncio.sleep(10)
            assert log == [], name

        loops.run(first())
        assert _waiting
        loops.new()
        loops.run(second())
        assert free(), name
        assert not _waiting, name  # nothing keeps their tasks
        loops.close()


def test_h2_a_holder_in_the_middle_of_a_wait_for_another_task():
    """H2: a holder that awaited a task or a flag, or stood in a line, when its loop was replaced is discarded too."""
    lock, other = Lock(), Lock()
    kinds = {
        "child": lambda: asyncio.create_task(child()),
        "line": other.acquire,
        "timed line": lambda: other.acquire(timeout_ms=100),
        "wait_for": lambda: asyncio.wait_for(child(), 10),
    }
    if hasattr(asyncio, "ThreadSafeFlag"):
        kinds["flag"] = lambda: asyncio.ThreadSafeFlag().wait()  # polled by the loop that is gone
    for name in kinds:
        loops = Loops()

        async def blocker():
            async with other:
                await asyncio.sleep(1)

        async def child():
            await asyncio.sleep(1)

        async def holder():
            async with lock:
                await kinds[name]()

        async def first():
            asyncio.create_task(blocker())  # noqa: RUF006
            asyncio.create_task(holder())  # noqa: RUF006
            await turns(4)

        async def second():
            await lock.acquire(timeout_ms=0)
            lock.release()
            await other.acquire(timeout_ms=0)
            other.release()

        loops.run(first())
        assert lock.locked(), name
        assert other.locked(), name
        loops.new()
        loops.run(second())
        assert not lock.locked(), name
        assert not other.locked(), name
        loops.close()


def test_h2_the_old_hold_is_dead():
    """H2: the hold of a discarded holder cannot be used, and the end of its block leaves the new holder alone."""
    lock, table = Lock(), LockTable()
    loops = Loops()
    old = []

    async def holder():
        for hold in (lock.hold(), table.hold("k")):
            await hold.__aenter__()
            old.append(hold)
        await asyncio.sleep(1)

    async def second():
        async with lock, table.hold("k") as hold:
            for stale in old:
                assert not stale.held
                raises(NotHeld, stale.release)
                await stale.__aexit__(None, None, None)
            assert hold.held
            assert lock.locked()

    loops.run(leave(holder))
    loops.new()
    loops.run(second())
    assert not lock.locked()
    assert len(table) == 0
    loops.close()


def test_h2_a_holder_that_ended_is_not_replaced():
    """H2: a holder that ended without releasing, in a loop that is gone, is named, and may be released by hand."""
    lock = Lock()
    loops = Loops()

    async def careless():
        await lock.acquire()

    async def first():
        await asyncio.create_task(careless())

    async def second():
        text = str(await raises_async(LockTimeout, lock.acquire(timeout_ms=1)))
        assert "'careless'" in text
        lock.release()
        await enter(lock.hold(timeout_ms=0))

    loops.run(first())
    loops.new()
    loops.run(second())
    loops.close()


def test_h2_a_release_by_hand_does_not_wake_the_old_line():
    """H2: releasing in the new loop what a holder that ended has left behind does not wake those of the old line."""
    shared = Shared()
    for name, new, free in shared.kinds:
        loops = Loops()
        holds, log = [], []

        async def careless():
            holds.append(new())
            await holds[0].__aenter__()

        async def stranded(timeout_ms):
            try:
                async with shared.exclusive(name, timeout_ms=timeout_ms):
                    pass
            except Exception as error:
                log.append(error)
            log.append("went on")

        async def sleeper(ms):
            await asyncio.sleep(ms / 1000)
            return ms

        async def first():
            await asyncio.create_task(careless())
            for timeout_ms in (None, 50, 5000):
                asyncio.create_task(stranded(timeout_ms))  # noqa: RUF006
            await turns(2)

        async def second():
            sleepers = asyncio.create_task(gather_all(*[sleeper(ms) for ms in range(20)]))
            await turns()
            holds[0].release()
            assert free(), name
            await enter(shared.exclusive(name, timeout_ms=0))
            assert await sleepers == list(range(20)), name
            await asyncio.sleep(10)
            assert log == [], name

        loops.run(first())
        loops.new()
        loops.run(second())
        assert free(), name
        loops.close()


def test_h2_waiters_of_the_new_loop_keep_their_order():
    """H2: those who come in the new loop, the first of whom discards the old holder, go in order of arrival."""
    table = LockTable()
    loops = Loops()
    log = []

    async def holder():
        async with table.hold("k"):
            await asyncio.sleep(1)

    async def user(n):
        async with table.hold("k"):
            log.append(n)
            await turns(2)

    async def second():
        await asyncio.gather(*[user(n) for n in range(4)])

    loops.run(leave(holder))
    loops.new()
    loops.run(second())
    assert log == [0, 1, 2, 3]
    assert len(table) == 0
    loops.close()


def test_h4_everything_can_be_made_outside_of_a_loop():
    """H4: locks, tables, lazies and deadlines are made where no loop runs, and used in one run after the other."""
    lock, table = Lock(), LockTable()
    made = []

    async def factory():
        await turns()
        made.append(1)
        return "thing"

    lazy = Lazy(factory)
    limits = [deadline(5) for _ in range(3)]

    async def use(n):
        async with lock, table.hold("k"), table.hold_many(("a", "b")):
            assert await lazy.get() == "thing"
        try:
            async with limits[n], table.hold_all():
                await asyncio.sleep(1)
        except DeadlineExceeded:
            return n

    for n in range(3):
        if not CPYTHON:
            asyncio.core.cur_task = None
            if n == 2:
                asyncio.new_event_loop()
        assert asyncio.run(use(n)) == n
    assert made == [1]
    assert not lock.locked()
    assert len(table) == 0


def test_h4_first_use_inside_a_running_loop():
    """H4: made and used for the first time inside a coroutine, nothing starts or replaces a loop."""

    async def main():
        before = asyncio.get_running_loop() if CPYTHON else asyncio.core._task_queue
        async with Lock(), LockTable().hold("k"), deadline(5):
            await Lazy(object).get()
        after = asyncio.get_running_loop() if CPYTHON else asyncio.core._task_queue
        assert after is before
        return "done"

    if not CPYTHON:
        asyncio.core.cur_task = None
    assert asyncio.run(main()) == "done"


def test_lock_taken_outside_of_a_loop():
    """A lock that was taken at the top level, where no task runs, is held by nobody alive, and says so."""
    lock = Lock("lock")
    assert lock.try_acquire()

    async def main():
        text = str(await raises_async(LockTimeout, lock.acquire(timeout_ms=1)))
        assert "(no task)" in text
        assert "ended" in text
        lock.release()
        await enter(lock.hold(timeout_ms=0))

    if not CPYTHON:
        asyncio.core.cur_task = None
    asyncio.run(main())
    assert not lock.locked()


def test_deadline_that_was_left_in_an_old_loop():
    """A deadline that is running when its loop is replaced is not heard of in the next."""
    loops = Loops()

    async def sleeper():
        async with deadline(20):
            await asyncio.sleep(1)

    async def second():
        await asyncio.sleep(0.05)
        return "undisturbed"

    loops.run(leave(sleeper))
    loops.new()
    assert loops.run(second()) == "undisturbed"
    loops.close()


def test_deadline_that_goes_on_in_the_next_run():
    """A deadline that is running when the run ends is kept in the next, at its time."""
    loops = Loops()
    log = []

    async def sleeper():
        start = clock.now()
        try:
            async with deadline(20):
                await asyncio.sleep(1)
        except DeadlineExceeded:
            log.append(clock.now() - start)

    async def second():
        await asyncio.sleep(0.05)

    loops.run(leave(sleeper))
    loops.run(second())
    assert log == [20]
    loops.close()


def test_lazy_that_was_being_closed_in_an_old_loop():
    """A close that was stranded with its loop is forgotten: the next get() makes another object, aclose() ends both."""
    for use in ("get", "aclose"):
        loops = Loops()
        made, closed = [], []

        async def close(thing):
            if len(closed) == 0 and len(made) == 1 and not second_loop:
                await asyncio.sleep(1)
            closed.append(thing)

        def make():
            made.append(object())
            return made[-1]

        lazy = Lazy(make, close)
        second_loop = []

        async def closer():
            await lazy.get()
            await lazy.aclose()

        async def busy():
            # In the next run of the same loop, the closer is at work still.
            await turns()
            if not CPYTHON:
                await raises_async(BusClosed, lazy.get())

        async def second():
            second_loop.append(1)
            if use == "get":
                assert await lazy.get() is made[1]
                assert lazy.peek() is made[1]
            await lazy.aclose(timeout_ms=100)
            assert closed == made
            assert lazy.state == "empty"

        loops.run(leave(closer))
        if not CPYTHON:
            loops.run(busy())
        loops.new()
        loops.run(second())
        loops.close()


def test_lazy_that_was_being_made_in_an_old_loop():
    """What was being made when its loop was replaced is made anew; the old factory is left where it is, its callers too."""
    for use in ("get", "aclose"):
        loops = Loops()
        log = []

        async def make():
            log.append("begins")
            try:
                await asyncio.sleep(0.02)
            except BaseException as error:
                log.append(type(error).__name__)
                raise
            return "made"

        lazy = Lazy(make)

        async def caller(ms):
            log.append(await lazy.get(ms))

        async def first():
            for ms in (None, 50):
                asyncio.create_task(caller(ms))  # noqa: RUF006
            await turns(3)
            assert lazy.state == "starting"

        async def second():
            if use == "get":
                assert await lazy.get() == "made"
            else:
                await lazy.aclose(timeout_ms=100)
            await asyncio.sleep(1)
            assert log == ["begins"] * (2 if use == "get" else 1)
            assert not _waiting
            assert lazy.state == ("ready" if use == "get" else "empty")

        loops.run(first())
        loops.new()
        loops.run(second())
        loops.close()


def test_h2_the_lock_is_held_by_who_takes_it_from_a_discarded_holder():
    """In every way of taking it: nobody else gets it then, and it is free afterwards."""
    for way in ("with", "hold", "acquire", "try_acquire"):
        loops = Loops()
        lock = Lock("lock")

        async def stranded():
            async with lock:
                await asyncio.sleep(1)

        async def second():
            if way == "with":
                await lock.__aenter__()
            elif way == "hold":
                await lock.hold().__aenter__()
            elif way == "acquire":
                await lock.acquire()
            else:
                assert lock.try_acquire()
            assert lock.locked(), way
            await raises_async(LockTimeout, asyncio.create_task(enter(lock.hold(timeout_ms=5))))
            lock.release()
            assert not lock.locked()

        loops.run(leave(stranded))
        loops.new()
        loops.run(second())
        loops.close()
