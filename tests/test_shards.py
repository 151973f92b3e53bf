"""A table with more than a few keys at once keeps them in parts; nothing else about it changes."""

import asyncio

from buslock import LockTable, LockTimeout, NotHeld, Reentry
from support.turns import raises, raises_async, turns

CLOCK = "virtual"

MANY = 200
STYLES = (
    lambda i: i,
    lambda i: -1 - 61 * i,
    lambda i: f"key{i}",
    lambda i: (i, "channel", 3),
)


async def enter(hold):
    async with hold:
        pass


def crowded(name):
    """A table, and holds of many keys in it that the running task has: some from before it was divided."""
    table = LockTable()
    return table, [table.try_hold(name(i)) for i in range(MANY)]


async def test_every_key_is_found_and_the_table_is_empty_at_rest():
    for name in STYLES:
        table, holds = crowded(name)
        assert None not in holds
        assert len(table) == MANY
        assert all(name(i) in table for i in range(MANY))
        assert name(MANY) not in table
        for i in range(MANY):
            assert table.try_hold(name(i)) is None
            async with table.hold(name(MANY + i)) as hold:
                assert hold.held
                assert len(table) == MANY + 1
            assert not hold.held
        for hold in holds:
            hold.release()
        assert len(table) == 0
        assert table.stats()["peak_entries"] <= MANY + 1


async def test_many_keys_are_divided_and_few_are_not():
    """What makes the difference is not seen but in time: MicroPython's dict searches a run of ints place by place."""
    table = LockTable()
    holds = [table.try_hold(i) for i in range(8)]
    for _ in range(2):
        async with table.hold("x"):
            pass
    assert isinstance(table._entries, dict)
    holds += [table.try_hold(i) for i in range(8, MANY)]
    async with table.hold("x"):
        pass
    assert not isinstance(table._entries, dict)
    assert len(table) == MANY
    for hold in holds:
        hold.release()


async def test_a_hold_from_before_ends_and_is_handed_over_after():
    table = LockTable()
    log = []

    async def waiter(number):
        async with table.hold("early"):
            log.append(number)
            await turns(1)

    async with table.hold("early"):
        others = [table.try_hold(i) for i in range(MANY)]
        tasks = [asyncio.create_task(waiter(i)) for i in range(3)]
        await turns()
        assert table.waiters("early") == 3
        log.append("first")
    for task in tasks:
        await task
    assert log == ["first", 0, 1, 2]
    assert len(table) == MANY
    for hold in others:
        hold.release()
    assert len(table) == 0


async def test_in_line_for_a_key_among_many():
    """FIFO, a deadline and a cancellation, as with few keys."""
    table, holds = crowded(lambda i: i)
    log = []

    async def waiter(name, timeout_ms=None):
        try:
            async with table.hold(-7, timeout_ms):
                log.append(name)
        except LockTimeout:
            log.append(name + " late")
        except asyncio.CancelledError:
            log.append(name + " cancelled")

    async with table.hold(-7):
        tasks = [asyncio.create_task(waiter(*arguments)) for arguments in (("a",), ("b", 5), ("c",), ("d",))]
        await turns()
        tasks[2].cancel()
        await tasks[2]
        await tasks[1]
        assert log == ["c cancelled", "b late"]
    for task in tasks[::3]:
        await task
    assert log[2:] == ["a", "d"]
    assert len(table) == MANY
    for hold in holds:
        hold.release()


async def test_readers_among_many_keys():
    table, holds = crowded(lambda i: i)
    async with table.hold("log", shared=True):
        reader = table.try_hold("other", shared=True)
        assert reader.held
        assert table.try_hold("log") is None
        reader.release()
    assert len(table) == MANY
    for hold in holds:
        hold.release()


async def test_a_second_use_and_a_second_hold_are_refused():
    table, holds = crowded(lambda i: i)
    hold = table.hold("x")
    async with hold:
        await raises_async(Reentry, enter(table.hold("x")))
        await raises_async(Reentry, enter(hold))
        assert hold.held
    await raises_async(NotHeld, enter(hold))
    raises(NotHeld, hold.release)
    assert len(table) == MANY
    for hold in holds:
        hold.release()


async def test_hold_all_waits_for_each_of_many():
    table = LockTable()
    held = []
    go = asyncio.Event()

    async def holder():
        for i in range(MANY):
            held.append(table.try_hold(i))
        async with table.hold("divided"):
            assert not isinstance(table._entries, dict)
        await go.wait()
        for hold in held:
            hold.release()
            await turns(1)

    task = asyncio.create_task(holder())
    await turns(1)
    go.set()
    async with table.hold_all():
        assert not any(hold.held for hold in held)
        assert table.try_hold("x") is None
    await task
    async with table.hold_many(range(MANY)) as hold:
        assert len(table) == MANY
        assert len(hold.keys) == MANY
    assert len(table) == 0


async def test_tags_and_limits_stay():
    table = LockTable(max_waiters=1, tag=len)
    holds = [table.try_hold("x" * i) for i in range(MANY)]
    assert None not in holds
    assert "y" * 5 in table
    async with table.hold("y" * MANY):
        assert "z" * MANY in table
    assert len(table) == MANY
    for hold in holds:
        hold.release()
    assert len(table) == 0


async def test_a_hold_released_early():
    """The end of its block does not end what another task has of that key by then."""
    table, holds = crowded(lambda i: i)
    async with table.hold("divided"):
        pass

    async def next_one():
        async with table.hold("k"):
            await turns(5)

    async with table.hold("k") as hold:
        waiting = asyncio.create_task(next_one())
        await turns(2)
        hold.release()
        assert not hold.held
        await turns(2)
    assert "k" in table and not waiting.done()
    await waiting
    for hold in holds:
        hold.release()
    assert len(table) == 0
