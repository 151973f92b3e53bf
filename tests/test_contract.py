"""One contract for everything that tasks take turns at: the same tests over each of them (tests/contract_rig.py).

tests/host/test_contract_variants.py shows that each of these tests can fail.
"""

import asyncio

from buslock import DeadlineExceeded, LockTimeout, NotHeld, Reentry, deadline
from contract_rig import KINDS, fresh
from i2c_rig import sleep
from support import clock
from support.driven import CANCELLED, Driven, drive
from support.turns import raises_async, turns

CLOCK = "virtual"
EACH = {
    "over": (
        "lock",
        "lock_hold",
        "key",
        "key_over_readers",
        "keys",
        "key_of_many",
        "table",
        "table_of_keys",
        "i2c_hold",
        "i2c_wire",
        "i2c_wire_of_two",
        "i2c_devices",
        "i2c_bus",
        "buses",
        "spi_select",
        "spi_select_of_two",
        "spi_hold",
        "spi_wire",
        "uart_hold",
        "uart_line",
        "exchange",
        "call",
        "transaction",
        "script",
    ),
    # Those with a block of the caller's.
    "held": (
        "lock",
        "lock_hold",
        "key",
        "key_over_readers",
        "keys",
        "key_of_many",
        "table",
        "table_of_keys",
        "i2c_hold",
        "i2c_wire",
        "i2c_wire_of_two",
        "i2c_devices",
        "i2c_bus",
        "buses",
        "spi_select",
        "spi_select_of_two",
        "spi_hold",
        "spi_wire",
        "uart_hold",
        "uart_line",
    ),
    # Those that run by themselves.
    "operation": ("exchange", "call", "transaction", "script"),
}


def test_all_are_there():
    """What is listed here is what there is."""
    assert set(EACH["over"]) == set(KINDS)
    assert set(EACH["held"]) | set(EACH["operation"]) == set(KINDS)


async def ended(task):
    """What a task has ended with."""
    try:
        return await task
    except asyncio.CancelledError:
        return CANCELLED
    except Exception as error:
        return error


async def occupied(kind, ms, leaving=None):
    """One that another task has for so long from now on, and that task."""
    over = await fresh(kind)
    occupier = asyncio.create_task(over.occupy(ms, leaving))
    await turns(3)
    await until(lambda: over.inside)
    return over, occupier


async def until(condition):
    """Some ms pass until that is so."""
    for _ in range(100):
        if condition():
            return
        await sleep(1)
    raise AssertionError("that never comes")


async def stay(kind, ms):
    """How many ms after that an occupier leaves."""
    over, occupier = await occupied(kind, ms)
    start = clock.now()
    await occupier
    return clock.now() - start


async def test_exclusion(over):
    """Whatever the users do and however long they stay, never are two of them in (that is looked at by enter())."""
    over = await fresh(over)

    async def user(name):
        for n in range(3):
            await over.use("%s%d" % (name, n), (n + ord(name)) % 3)
            await turns(n)

    await asyncio.gather(*[user(name) for name in "abcd"], over.occupy(2))
    assert len(over.log) == 13
    await over.check()


async def test_first_come_first_served(over):
    """Those who wait come in the order in which they asked; one that gives up does not change it."""
    over, occupier = await occupied(over, 5)
    tasks = []
    for name in "abcdef":
        tasks.append(asyncio.create_task(over.use(name, 1)))
        await turns(2)
    tasks[2].cancel()
    results = []
    for task in [occupier] + tasks:
        results.append(await ended(task))
    assert results == [None, None, None, CANCELLED, None, None, None]
    assert "".join(over.log) == "occupierabdef"
    await over.check()


async def test_who_asks_again_comes_last(over):
    """A task that leaves and asks again at once does not overtake one that waits."""
    over = await fresh(over)

    async def again():
        await over.occupy(3)
        await over.use("again")

    task = asyncio.create_task(again())
    await turns(3)
    assert over.inside
    other = asyncio.create_task(over.use("other", 2))
    await turns(3)
    await asyncio.gather(task, other)
    assert over.log == ["occupier", "other", "again"]
    await over.check()


async def cancelled_at(kind, taken, point):
    """A user is cancelled at its await number `point`. False if it has ended before."""
    results = []
    if taken:
        over, occupier = await occupied(kind, 3)
    else:
        over = await fresh(kind)
    driven = Driven(over.use("struck", 3), point)
    task = asyncio.create_task(drive(driven, results))
    following = asyncio.create_task(over.use("following", 1))
    await driven.reached.wait()
    cancelled = not results
    if cancelled:
        task.cancel()
    seen = await ended(task)
    if taken:
        await occupier
    await following
    if cancelled:
        # A synchronous end of the operation may come before the cancel is seen, but then the task is cancelled there.
        assert seen is CANCELLED and results == [CANCELLED]
    else:
        assert results == [None]
        assert "struck" in over.log
    assert over.log[-1] == "following"
    assert over.log.count("following") == 1
    await over.check()
    return cancelled


async def test_cancelled_at_each_await(over):
    """At whichever await a user is cancelled, waiting or in: it sees that, owns nothing, and the next one comes."""
    for taken in (False, True):
        point = 1
        while await cancelled_at(over, taken, point):
            point += 1
        # A driver's function stops the loop: where it is free nothing is awaited.
        assert point > 1 or over == "call" and not taken


async def test_cancelled_when_it_is_handed_over(over):
    """A waiter that is cancelled in the step of the hand-over, or some steps later: the same."""
    for steps in range(-1, 5):
        waiter = []
        one, occupier = await occupied(over, 3, None if steps >= 0 else lambda: waiter[0].cancel())
        waiter.append(asyncio.create_task(one.use("struck", 6)))
        await turns(2)
        following = asyncio.create_task(one.use("following"))
        if steps >= 0:
            await until(lambda: "occupier" not in one.inside)
            await turns(steps)
            waiter[0].cancel()
        seen = await ended(waiter[0])
        # A driver's function stops the loop: it may have come to its end.
        assert seen is CANCELLED or over == "call" and steps >= 0, steps
        await occupier
        await following
        assert one.log[-1] == "following"
        await one.check()


async def test_a_time_limit_that_ends_with_the_hand_over(over):
    """A waiter whose time is over when it is handed over has it or has LockTimeout, never both, and the next one comes."""
    ms = await stay(over, 5)
    seen = []
    for limit in (ms - 1, ms, ms + 1):
        for steps in range(3):
            for outer in (False, True):
                one, occupier = await occupied(over, 5)
                await turns(steps)
                if outer:
                    task = asyncio.create_task(within(limit, one.use("tied", 1)))
                else:
                    task = asyncio.create_task(one.use("tied", 1, limit))
                await turns(1)
                following = asyncio.create_task(one.use("following"))
                result = await ended(task)
                assert await ended(following) is None
                await occupier
                if outer:
                    assert result is None or type(result) is DeadlineExceeded, repr(result)
                else:
                    assert (result is None) == ("tied" in one.log)
                    assert result is None or type(result) is LockTimeout, repr(result)
                seen.append(result is None)
                assert one.log[-1] == "following"
                assert one.log.count("following") == 1
                await one.check()
    assert False in seen


async def within(ms, coro):
    async with deadline(ms):
        await coro


async def test_a_time_out(over):
    """A waiter whose time is over has LockTimeout then, disturbs nobody, and stands in nobody's way."""
    over, occupier = await occupied(over, 40)
    start = clock.now()
    behind = []
    task = asyncio.create_task(over.use("impatient", 0, 10))
    await turns(2)
    behind.append(asyncio.create_task(over.use("patient")))
    await raises_async(LockTimeout, task)
    assert 10 <= clock.now() - start <= 12
    assert over.inside
    await occupier
    await behind[0]
    assert over.log == ["occupier", "patient"]
    await over.check()


async def test_no_time_at_all(over):
    """With 0 nothing is waited for: LockTimeout in the same step if it is taken, and it is had if it is free."""
    over, occupier = await occupied(over, 5)

    async def ask():
        # Its own task: whoever occupies it is another one.
        coro = over.use("hasty", 0, 0)
        try:
            coro.send(None)
        except LockTimeout:
            return True
        except StopIteration:
            return False
        coro.close()
        return False

    assert await asyncio.create_task(ask())
    await occupier
    assert over.log == ["occupier"]
    await over.use("free", 1, 0)
    await over.check()


class Mine(Exception):
    pass


async def test_an_error_inside(over):
    """What is raised inside goes to the caller as it is, and the next one comes."""
    over = await fresh(over)
    for error in (Mine(1), OSError(5, "x"), LockTimeout(0, "of another")):
        following = [None]

        async def failing():
            following[0] = asyncio.create_task(over.use("following"))
            await over.use("failing", 0, None, error)

        assert await raises_async(type(error), failing()) is error
        await following[0]
        assert over.log == ["failing", "following"]
        over.log.clear()
        await over.check()


async def test_released_early(held):
    """release() inside the block lets the next one in at once; the end of the block is silent, a second release is not."""
    over = await fresh(held)
    came = []

    async def follow():
        async with over.hold():
            came.append(held)

    hold = over.hold()
    async with hold:
        following = asyncio.create_task(follow())
        await turns(5)
        assert came == []
        hold.release()
        await until(lambda: came)
        assert not getattr(hold, "held", False)
        try:
            hold.release()
            released = True
        except NotHeld:
            released = False
        assert not released
        await following
    await over.check()
    await over.use("afterwards")
    await over.check()


async def test_taken_twice(held):
    """Who has it and asks for it again gets Reentry and keeps it, and it is free afterwards."""
    over = await fresh(held)

    async def again(timeout_ms):
        async with over.hold(timeout_ms):
            pass

    for timeout_ms in (None, 0, 5):
        async with over.hold():
            await raises_async(Reentry, again(timeout_ms))
            other = asyncio.create_task(over.use("other"))
            await turns(5)
            assert over.log == []
        await other
        over.log.clear()
        await over.check()


async def test_a_hold_is_for_one_block(held):
    """A hold that has ended cannot be entered again: NotHeld. (A Lock is no hold, and can.)"""
    over = await fresh(held)
    hold = over.hold()

    async def enter():
        async with hold:
            over.log.append("in")

    await enter()
    if held == "lock":
        await enter()
    else:
        await raises_async(NotHeld, enter())
        assert over.log == ["in"]
    await over.check()


async def test_under_the_own_hold(operation):
    """Under the hold of its own task an operation runs at once; one of another task waits for the end of that hold."""
    over = await fresh(operation)
    async with over.held():
        other = asyncio.create_task(over.use("other"))
        await turns(5)
        await over.use("own")
        assert over.log == ["own"]
    await other
    assert over.log == ["own", "other"]
    await over.check()
