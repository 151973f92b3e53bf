"""Holds of Lock and LockTable: one object for one block, its early release, who may end it, and what is lost never."""

import asyncio
import sys

from buslock import Lock, LockTable, LockTimeout, NotHeld, Reentry
from support.turns import raises, raises_async, turns

CLOCK = "virtual"


async def gather_all(*awaitables):
    """Results and exceptions."""
    return await asyncio.gather(*awaitables, return_exceptions=True)


async def use(hold, n=0):
    async with hold:
        await turns(n)


class Kinds:
    """Every kind of hold, and how to see that nothing is held: for name, new, free in Kinds()."""

    def __init__(self):
        self.lock = Lock("x0")
        self.table = LockTable("x0")

    def __iter__(self):
        lock, table = self.lock, self.table
        yield "Lock.hold", lock.hold, lambda: not lock.locked()
        yield "hold", lambda **k: table.hold("k", **k), lambda: len(table) == 0
        yield "hold shared", lambda **k: table.hold("k", shared=True, **k), lambda: len(table) == 0
        yield "hold_many", lambda **k: table.hold_many(("k", "j"), **k), lambda: len(table) == 0
        yield "hold_all", table.hold_all, lambda: len(table) == 0


async def blocker(kinds):
    """Holds everything until it is cancelled."""
    async with kinds.lock, kinds.table.hold_all():
        await asyncio.Event().wait()


async def test_a_hold_is_in_force_in_its_block_only():
    """`held` is True exactly inside the block; asking for a hold takes nothing; the block gets the hold itself."""
    for name, new, free in Kinds():
        hold = new()
        assert not hold.held, name
        assert free(), name
        async with hold as inner:
            assert inner is hold, name
            assert hold.held, name
            assert not free(), name
        assert not hold.held, name
        assert free(), name


async def test_the_same_after_a_wait():
    """A hold that had to be waited for is in force from the grant on, and the block gets the hold itself."""
    kinds = Kinds()
    for name, new, free in kinds:
        task = asyncio.create_task(blocker(kinds))
        await turns()
        hold = new(timeout_ms=1000)

        async def waits():
            async with hold as inner:
                assert inner is hold, name
                assert hold.held, name
            assert not hold.held, name

        waiter = asyncio.create_task(waits())
        await turns()
        assert not hold.held, name
        task.cancel()
        await waiter
        assert free(), name


async def test_a_hold_is_for_one_block():
    """A hold that was used is dead: entering it again raises NotHeld, and takes nothing."""
    for name, new, free in Kinds():
        hold = new()
        await use(hold)
        assert "x0" in str(await raises_async(NotHeld, use(hold))), name
        assert not hold.held, name
        assert free(), name


async def test_a_hold_that_timed_out_is_dead():
    """A hold that was not granted in time cannot be tried again: ask for a new one."""
    kinds = Kinds()
    task = asyncio.create_task(blocker(kinds))
    await turns()
    for name, new, _ in kinds:
        hold = new(timeout_ms=1)
        await raises_async(LockTimeout, use(hold))
        assert not hold.held, name
        raises(NotHeld, hold.release)
        await raises_async(NotHeld, use(hold))
    task.cancel()
    await turns()


async def test_a_hold_entered_while_in_force():
    """Entering a hold that is in force raises Reentry, and it stays in force."""
    for name, new, free in Kinds():
        hold = new()
        async with hold:
            await raises_async(Reentry, use(hold))
            assert hold.held, name
        assert free(), name


async def test_a_hold_entered_by_two_tasks():
    """Of two tasks that enter the same hold one after the other, the second gets an error and disturbs nothing."""
    kinds = Kinds()
    for name, new, free in kinds:
        task = asyncio.create_task(blocker(kinds))
        await turns()
        hold = new()
        waiter = asyncio.create_task(use(hold))
        await turns()
        await raises_async(NotHeld, use(hold))
        task.cancel()
        await waiter
        assert free(), name


async def test_early_release():
    """release() in the block ends the hold, a second one raises NotHeld, and the end of the block is silent."""
    for name, new, free in Kinds():
        async with new() as hold:
            hold.release()
            assert not hold.held, name
            assert free(), name
            assert "x0" in str(raises(NotHeld, hold.release)), name
        assert free(), name
        raises(NotHeld, hold.release)


async def test_early_release_leaves_the_next_holder_alone():
    """After an early release the next in line holds, and the end of the first one's block leaves it to that one."""
    kinds = Kinds()
    for name, new, free in kinds:
        second = new()
        async with new() as hold:
            task = asyncio.create_task(use(second, 6))
            await turns(2)
            if not second.held:  # readers run together
                hold.release()
                await turns(2)
            assert second.held, name
        assert second.held, name
        await task
        assert free(), name


async def test_release_before_it_is_in_force():
    """release() of a hold that was never entered raises NotHeld."""
    for _, new, _ in Kinds():
        assert "x0" in str(raises(NotHeld, new().release))


async def test_release_by_somebody_else():
    """release() by another task raises NotHeld that names the holder, who keeps the hold."""
    for name, new, free in Kinds():
        hold = new()

        async def display():
            await use(hold, 5)

        task = asyncio.create_task(display())
        await turns()
        text = str(raises(NotHeld, hold.release))
        for part in ("x0", "'display'"):
            assert part in text, text
        assert hold.held, name
        assert not free(), name
        await task
        assert free(), name


async def test_release_after_the_holder_has_ended():
    """A hold whose task ended without ending it stays in force, is named, and may be released by anyone."""
    kinds = Kinds()
    for name, new, free in kinds:
        hold = new()

        async def careless():
            await hold.__aenter__()

        await asyncio.create_task(careless())
        assert hold.held, name
        assert not free(), name
        if not hold.shared:
            text = str(await raises_async(LockTimeout, use(new(timeout_ms=1))))
            assert "'careless'" in text, text
            assert "ended" in text, text
        hold.release()
        assert not hold.held, name
        assert free(), name


async def test_lock_released_under_its_hold():
    """lock.release() ends the hold that the lock was taken with, and a later hold is not ended by that one's block."""
    lock = Lock("x0")
    async with lock.hold() as hold:
        lock.release()
        assert not hold.held
        raises(NotHeld, hold.release)
        async with lock.hold() as second:
            assert second.held
            assert not hold.held
            raises(NotHeld, hold.release)
            assert lock.locked()
        assert not lock.locked()
    assert not lock.locked()


async def test_keys_of_holds():
    """Every hold says which keys it is for, and whether it is shared."""
    lock, table = Lock("x0"), LockTable()
    assert lock.hold().keys == ("x0",)
    assert table.hold(5).keys == (5,)
    assert table.hold_many((5, 3)).keys == (3, 5)
    assert table.hold_all().keys == ()
    for hold in (lock.hold(), table.hold(5), table.hold_many((5, 3)), table.hold_all()):
        assert not hold.shared
    assert table.hold(5, shared=True).shared
    assert table.hold_many((5, 3), shared=True).shared


async def test_shared_hold_many():
    """hold_many(shared=True) runs together with other readers of the same keys, and not with writers."""
    table = LockTable()
    async with table.hold_many(("a", "b"), shared=True):

        async def other():
            await use(table.hold_many(("b", "c"), shared=True))
            await raises_async(LockTimeout, use(table.hold("b", timeout_ms=1)))

        await asyncio.create_task(other())
    assert len(table) == 0


async def test_released_when_the_block_raises():
    """An exception in the block goes through unchanged, and the hold is over."""
    for name, new, free in Kinds():
        hold = new()
        error = OSError(5, "no answer")

        async def fail():
            async with hold:
                raise error

        assert await raises_async(OSError, fail()) is error, name
        assert not hold.held, name
        assert free(), name


async def test_cancel_at_every_await_of_a_block():
    """Cancelled at whichever await of a block, the hold is over and the cancellation is seen (case A12)."""
    for name, new, free in Kinds():
        for at in range(4):
            seen = []

            async def driver():
                try:
                    async with new():
                        for i in range(4):
                            try:
                                await turns()
                            except Exception:  # a driver that thinks this is everything
                                seen.append("swallowed")
                            seen.append(i)
                except asyncio.CancelledError:
                    seen.append("cancelled")
                    raise

            task = asyncio.create_task(driver())
            await turns(at + 1)
            task.cancel()
            await raises_async(asyncio.CancelledError, task)
            assert seen == list(range(at)) + ["cancelled"], name
            assert free(), name


async def test_cancel_around_a_grant():
    """A waiter that is cancelled in any turn around its grant ends cancelled and owns nothing; the next one gets it."""
    kinds = Kinds()
    for name, new, free in kinds:
        for timeout_ms in (None, 1000):
            for release_at in range(3):
                for cancel_at in range(5):
                    task = asyncio.create_task(blocker(kinds))
                    await turns()
                    got = []

                    async def waits(n):
                        async with new(timeout_ms=timeout_ms):
                            got.append(n)
                            await turns(4)

                    waiters = [asyncio.create_task(waits(n)) for n in range(2)]
                    await turns()
                    for turn in range(6):
                        if turn == release_at:
                            task.cancel()
                        if turn == cancel_at:
                            waiters[0].cancel()
                        await turns()
                    results = await gather_all(task, *waiters)
                    assert isinstance(results[1], asyncio.CancelledError), (name, release_at, cancel_at)
                    assert results[2] is None, (name, release_at, cancel_at)
                    assert got[-1] == 1
                    assert free(), name


async def test_two_cancels_in_one_turn_with_the_release():
    """Release and cancellations of the first waiters in one step, in every order: the third gets it (case A6)."""
    lock = Lock()
    for order in ((0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)):
        await lock.acquire()
        tasks = [asyncio.create_task(use(lock)) for _ in range(3)]
        await turns()
        for step in order:
            if step == 2:
                lock.release()
            else:
                tasks[step].cancel()
        results = await gather_all(*tasks)
        assert [isinstance(r, asyncio.CancelledError) for r in results] == [True, True, False], order
        assert results[2] is None
        assert not lock.locked()


async def test_end_of_a_block_takes_no_turn():
    """Leaving a block lets no other task run: what is released is released at once."""
    for name, new, free in Kinds():
        ran = []

        async def other():
            ran.append(1)

        async with new():
            task = asyncio.create_task(other())
        assert ran == [], name
        assert free(), name
        await task


async def test_a_free_hold_takes_no_turn():
    """Entering a free hold lets no other task run."""
    for name, new, _ in Kinds():
        ran = []

        async def other():
            ran.append(1)

        task = asyncio.create_task(other())
        async with new():
            assert ran == [], name
        await task


async def test_a_hold_that_is_never_entered():
    """A hold that was asked for and thrown away leaves no trace."""
    for name, new, free in Kinds():
        new()
        assert free(), name
    if sys.implementation.name != "cpython":
        assert asyncio.core._task_queue.peek() is None
