"""What users of asyncio's own lock and wait_for ran into: each case of group A, and C8 and C9 for plain keys.

The same programs against asyncio.Lock, which loses, swallows or hangs, are in the bench.
"""

import asyncio

from buslock import DeadlineExceeded, Lazy, Lock, LockTable, LockTimeout, NotHeld, Reentry, deadline, wait_for_ms
from support import clock
from support.turns import raises, raises_async, turns

CLOCK = "virtual"


async def gather_all(*awaitables):
    """Results and exceptions."""
    return await asyncio.gather(*awaitables, return_exceptions=True)


async def in_time_by_the_lock(lock):
    await lock.acquire(timeout_ms=1000)
    lock.release()


async def in_time_by_a_hold(lock):
    async with lock.hold(timeout_ms=1000):
        pass


async def in_time_by_a_deadline(lock):
    async with deadline(1000), lock:
        pass


async def in_time_by_wait_for_ms(lock):
    await wait_for_ms(lock.acquire(), 1000)
    lock.release()


IN_TIME = (in_time_by_the_lock, in_time_by_a_hold, in_time_by_a_deadline, in_time_by_wait_for_ms)


async def test_a1_cancelled_just_as_the_lock_is_handed_over():
    """A1: a task that waits with a limit and is cancelled 0 to 4 turns after the release leaves the lock free."""
    for ask in IN_TIME:
        for n in range(5):
            lock = Lock()
            await lock.acquire()
            victim = asyncio.create_task(ask(lock))
            await turns(3)
            lock.release()
            await turns(n)
            cancelled = victim.cancel()
            result = (await gather_all(victim))[0]
            assert isinstance(result, asyncio.CancelledError) if cancelled else result is None, (ask, n)
            assert not lock.locked(), (ask, n)
            await lock.acquire(timeout_ms=0)


async def test_a1_the_next_in_line_gets_it():
    """A1: what the cancelled task was handed goes to the next in line at once."""
    for ask in IN_TIME:
        for n in range(5):
            lock = Lock()
            got = []
            await lock.acquire()
            victim = asyncio.create_task(ask(lock))
            await turns(2)

            async def second():
                async with lock:
                    got.append(clock.now())

            other = asyncio.create_task(second())
            await turns(2)
            lock.release()
            await turns(n)
            start = clock.now()
            victim.cancel()
            await gather_all(victim, other)
            assert got == [start], (ask, n)
            assert not lock.locked()


async def test_a1_with_asyncios_wait_for_the_lock_is_not_lost_silently():
    """A1: a lock whose acquire() an asyncio.wait_for() has dropped the result of names its holder and can be freed."""
    for n in range(5):
        lock = Lock("i2c0")

        async def careless():
            await asyncio.wait_for(lock.acquire(), 1)
            lock.release()

        await lock.acquire()
        victim = asyncio.create_task(careless())
        await turns(3)
        lock.release()
        await turns(n)
        victim.cancel()
        await gather_all(victim)
        await turns(3)
        if lock.locked():
            text = str(await raises_async(LockTimeout, lock.acquire(timeout_ms=1)))
            assert "'careless'" in text, text
            assert "ended" in text, text
            lock.release()
        assert not lock.locked()


async def test_a2_timeout_and_release_in_one_tick():
    """A2: the holder sleeps n ms, the waiter's time is n-1 to n+1: acquired or timed out, never both, never neither."""
    for ask in (
        lambda lock, ms: lock.acquire(timeout_ms=ms),
        lambda lock, ms: wait_for_ms(lock.acquire(), ms),
    ):
        for n in range(1, 30):
            for late in (-1, 0, 1):
                for holder_first in (False, True):
                    lock = Lock()

                    async def holder():
                        async with lock:
                            taken.set()
                            await asyncio.sleep(n / 1000)

                    async def waiter():
                        if holder_first:
                            await taken.wait()
                        try:
                            await ask(lock, n + late)
                        except DeadlineExceeded:
                            return "timeout"
                        lock.release()
                        return "acquired"

                    taken = asyncio.Event()
                    if holder_first:
                        outcome = (await gather_all(holder(), waiter()))[1]
                    else:
                        await lock.acquire()
                        task = asyncio.create_task(waiter())
                        await asyncio.sleep(n / 1000)
                        lock.release()
                        outcome = await task
                    assert outcome == "acquired" or late < 1, (n, late, holder_first)
                    assert outcome == "timeout" or late > -1, (n, late, holder_first)
                    assert not lock.locked(), (n, late, holder_first)


async def test_a2_random_times():
    """A2: of 300 waiters with random times each acquires or times out, and at the end the lock is free."""
    lock = Lock()
    seed = 4711
    inside = []

    async def user(delay, held, limit):
        await asyncio.sleep(delay / 1000)
        try:
            await lock.acquire(timeout_ms=limit)
        except LockTimeout:
            return 0
        inside.append(1)
        await asyncio.sleep(held / 1000)
        assert len(inside) == 1
        inside.pop()
        lock.release()
        return 1

    users = []
    for _ in range(300):
        seed = (seed * 1103515245 + 12345) & 0x7FFFFFFF
        users.append(user(seed // 64 % 300, seed // 20000 % 3, seed // 600000 % 20))
    results = await gather_all(*users)
    assert set(results) == {0, 1}
    assert not lock.locked()
    assert lock.waiters == 0


async def test_a4_never_two_in_the_section():
    """A4: two tasks that hold the lock across sleeps are never both in the section."""
    for ask in (lambda: lock, lambda: lock.hold(timeout_ms=1000)):
        lock = Lock()
        inside = []

        async def user(n):
            for _ in range(10):
                async with ask():
                    inside.append(n)
                    await asyncio.sleep(0)
                    await asyncio.sleep(0.001)
                    assert inside == [n]
                    inside.pop()

        assert await gather_all(user(1), user(2)) == [None, None]


async def test_a5_nobody_comes_between():
    """A5: between the release and the next holder's step, `if not locked` and a try do not get in."""
    lock, table = Lock(), LockTable()
    got = []

    async def waiter():
        async with lock, table.hold("k"):
            got.append("waiter")

    async def barger():
        for _ in range(5):
            if not lock.locked() and lock.try_acquire():
                got.append("lock barger")
                lock.release()
            hold = table.try_hold("k")
            if hold:
                got.append("table barger")
                hold.release()
            if got:
                return
            await turns()

    async with table.hold("k"):
        await lock.acquire()
        task = asyncio.create_task(waiter())
        await turns()
        other = asyncio.create_task(barger())
        lock.release()
        assert not lock.try_acquire()
        await turns()
        assert got == []
    await gather_all(task, other)
    assert got[0] == "waiter"


async def test_a6_cancel_of_the_next_in_line():
    """A6: the first waiter is cancelled in the turn of the release, before or after it: the second gets the lock."""
    for cancel_first in (False, True):
        for timeout_ms in (None, 1000):
            lock = Lock()
            got = []

            async def user(n):
                async with lock.hold(timeout_ms=timeout_ms):
                    got.append(n)
                    await turns()

            await lock.acquire()
            tasks = [asyncio.create_task(user(n)) for n in range(3)]
            await turns()
            if cancel_first:
                tasks[0].cancel()
            lock.release()
            if not cancel_first:
                tasks[0].cancel()
            results = await gather_all(*tasks)
            assert isinstance(results[0], asyncio.CancelledError)
            assert got == [1, 2]
            assert not lock.locked()


async def test_a7_a_greedy_task_starves_nobody():
    """A7: a task that releases and asks again 1,000 times in a row lets another one in after one section."""
    lock, table = Lock(), LockTable()
    for hold in (lock.hold, lambda: table.hold("k")):
        sections = []

        async def greedy():
            for _ in range(1000):
                async with hold():
                    sections.append("greedy")
                    if len(sections) == 1:
                        await turns(2)

        async def modest():
            async with hold():
                sections.append("modest")

        await gather_all(greedy(), modest())
        assert sections.index("modest") == 1
        assert len(sections) == 1001


async def test_a8_a_holder_that_waits_for_an_answer_that_never_comes():
    """A8: a deadline around the section ends it, the holder sees DeadlineExceeded, and the others go on."""
    lock = Lock()
    answer = asyncio.Event()

    async def request():
        async with deadline(20), lock:
            await answer.wait()

    async def other():
        async with lock:
            return clock.now()

    start = clock.now()
    error, at = await gather_all(request(), other())
    assert isinstance(error, DeadlineExceeded)
    assert at - start == 20
    assert not lock.locked()


async def test_a10_one_of_several_who_wait_for_the_start_is_cancelled():
    """A10: of those who wait for a shared start, any one is cancelled or times out, and the others get the object."""
    for victim in range(3):
        for how in ("cancel", "timeout", "deadline"):
            calls = []

            async def start():
                calls.append(1)
                await asyncio.sleep(0.01)
                return "sensor"

            async def user(n):
                if n != victim or how == "cancel":
                    return await lazy.get()
                if how == "timeout":
                    return await lazy.get(timeout_ms=5)
                return await wait_for_ms(lazy.get(), 5)

            lazy = Lazy(start)
            tasks = [asyncio.create_task(user(n)) for n in range(3)]
            gathered = asyncio.create_task(gather_all(*tasks))
            await asyncio.sleep(0.002)
            if how == "cancel":
                tasks[victim].cancel()
            results = await gathered
            kind = asyncio.CancelledError if how == "cancel" else DeadlineExceeded
            assert isinstance(results[victim], kind)
            del results[victim]
            assert results == ["sensor", "sensor"]
            assert len(calls) == 1


async def test_a11_gather_and_wait_for_take_everything():
    """A11: gather(), create_task() and wait_for() take get() and acquire() as often as wanted: no task is shared."""

    async def start():
        await asyncio.sleep(0.001)
        return "sensor"

    lazy, lock = Lazy(start), Lock()
    first = asyncio.create_task(lazy.get())
    results = await asyncio.gather(lazy.get(), first, asyncio.wait_for(lazy.get(), 1), lazy.get())
    assert list(results) == ["sensor"] * 4
    assert await asyncio.wait_for(asyncio.create_task(lazy.get()), 1) == "sensor"
    assert list(await asyncio.gather(lock.acquire(), lazy.get())) == [True, "sensor"]
    lock.release()


async def test_a12_cancelled_at_every_await_of_a_driver_that_catches_exceptions():
    """A12: a driver with `except Exception` around its body is cancelled at any of its awaits: the lock is released."""
    lock, table = Lock(), LockTable()
    for at in range(1, 8):
        reached = []

        async def driver():
            async with lock, table.hold_many((1, 2)):
                for step in range(5):
                    try:
                        reached.append(step)
                        await turns()
                    except Exception:
                        reached.append("swallowed")

        task = asyncio.create_task(driver())
        await turns(at)
        cancelled = task.cancel()
        result = (await gather_all(task))[0]
        assert isinstance(result, asyncio.CancelledError) if cancelled else result is None
        assert reached == list(range(min(at, 5)))
        assert not lock.locked()
        assert len(table) == 0


async def test_a13_two_writers_do_not_mix():
    """A13: what two tasks write under one key, with awaits between header and body, arrives frame by frame."""
    table = LockTable()
    line = []

    async def write(text):
        for c in text:
            line.append(c)
            await turns()

    async def display():
        for _ in range(3):
            async with table.hold("uart1"):
                await write("<HEAD")
                await write("BODY>")
            await turns()

    async def heartbeat():
        for _ in range(8):
            async with table.hold("uart1"):
                await write("()")
            await turns()

    await gather_all(display(), heartbeat())
    text = "".join(line)
    assert len(text) == 3 * 10 + 8 * 2
    assert text.replace("<HEADBODY>", "").replace("()", "") == ""


async def test_a14_acquired_under_asyncios_wait_for():
    """A14: `await asyncio.wait_for(lock.acquire(), t); lock.release()` works: the holder is who called acquire()."""
    lock = Lock()
    for held in (False, True):
        if held:

            async def holder():
                async with lock:
                    await asyncio.sleep(0.005)

            task = asyncio.create_task(holder())
            await turns()
        assert await asyncio.wait_for(lock.acquire(), 1) is True
        assert lock.locked()
        await raises_async(Reentry, lock.acquire())

        async def stranger():
            raises(NotHeld, lock.release)

        await asyncio.create_task(stranger())
        lock.release()
        assert not lock.locked()
    await task


async def test_a14_a_wait_for_that_is_too_late():
    """A14: when asyncio.wait_for() gives up, the wait inside is over, and nothing is held then or later."""
    lock = Lock()

    async def holder():
        async with lock:
            await asyncio.sleep(0.02)

    task = asyncio.create_task(holder())
    await turns()
    await raises_async(asyncio.TimeoutError, asyncio.wait_for(lock.acquire(), 0.005))
    await turns(3)
    assert lock.waiters == 0
    await task
    assert not lock.locked()


async def test_c8_read_modify_write():
    """C8: tasks that change bits of one register, with an await between reading and writing: every bit is set."""
    for use_table in (False, True):
        lock, table = Lock(), LockTable()
        register = [0]

        async def set_bit(bit):
            async with table.hold(0x20) if use_table else lock:
                value = register[0]
                await turns(2)
                register[0] = value | bit

        await gather_all(*[set_bit(1 << n) for n in range(8)])
        assert register == [0xFF]


async def test_c9_address_first_then_bus():
    """C9: two addresses and one wire, each taken address first and wire second: no overlap, and no deadlock."""
    table, wire = LockTable("i2c0"), Lock("i2c0 wire")
    on_wire = []
    done = []

    async def transfer(n):
        async with wire:
            on_wire.append(n)
            await turns()
            assert on_wire == [n]
            on_wire.pop()

    async def driver(n, address):
        for _ in range(5):
            async with table.hold(address):
                await transfer(n)
                await asyncio.sleep(0.001)  # a conversion: the key is kept and the wire is free
                await transfer(n)
        done.append(n)

    start = clock.now()
    assert await gather_all(*[driver(n, (0x48, 0x76)[n % 2]) for n in range(6)]) == [None] * 6
    assert sorted(done) == list(range(6))
    # Three drivers of one address come one after the other, the two addresses run at the same time.
    assert clock.now() - start == 15
    assert len(table) == 0
    assert not wire.locked()
