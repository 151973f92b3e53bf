"""Lock: exclusion, order, hand-over, holder and requester, and what is refused."""

import asyncio
import sys

from buslock import DeadlineExceeded, Lock, LockTimeout, NotHeld, QueueFull, Reentry, WouldDeadlock, deadline
from support import clock
from support.outcome import skip
from support.turns import raises, raises_async, turns

CLOCK = "virtual"


async def gather_all(*awaitables):
    """Results and exceptions."""
    return await asyncio.gather(*awaitables, return_exceptions=True)


async def use(lock, log=None, name=None, ms=0):
    async with lock:
        if log is not None:
            log.append(name)
        await asyncio.sleep(ms / 1000)


async def hold_for(lock, ms):
    async with lock:
        await asyncio.sleep(ms / 1000)


async def test_one_holder_at_a_time():
    """Two tasks are never in the block of one lock at the same time (promise 1)."""
    lock = Lock()
    inside = []

    async def user(n):
        for i in range(5):
            async with lock:
                inside.append(n)
                await turns(i % 3)
                assert inside == [n]
                inside.pop()
            await turns(n % 2)

    assert await gather_all(*[user(n) for n in range(4)]) == [None] * 4
    assert not lock.locked()
    assert lock.waiters == 0


async def test_first_come_first_served():
    """Tasks get the lock in the order in which they asked, however they asked (promise 2)."""
    lock = Lock()
    log = []

    async def acquire(n, timeout_ms):
        assert await lock.acquire(timeout_ms=timeout_ms) is True
        log.append(n)
        await turns()
        lock.release()

    await lock.acquire()
    tasks = []
    for n in range(12):
        ask = (
            lambda: use(lock, log, n),
            lambda: use(lock.hold(timeout_ms=1000), log, n),
            lambda: acquire(n, None),
            lambda: acquire(n, 1000),
        )
        tasks.append(asyncio.create_task(ask[n % 4]()))
        await turns()
    assert lock.waiters == 12
    lock.release()
    await gather_all(*tasks)
    assert log == list(range(12))


async def test_release_and_ask_again_goes_to_the_end():
    """A task that releases and asks again in the same step goes behind those who wait (promise 2)."""
    lock = Lock()
    log = []

    async def greedy():
        for i in range(3):
            async with lock:
                log.append("greedy %d" % i)
                while i == 0 and lock.waiters < 2:
                    await turns()

    await gather_all(greedy(), use(lock, log, "a"), use(lock, log, "b"))
    assert log == ["greedy 0", "a", "b", "greedy 1", "greedy 2"]


async def test_acquire_and_release():
    """acquire() returns True and makes its caller the holder, until release()."""
    lock = Lock("i2c0")
    assert not lock.locked()
    assert await lock.acquire() is True
    assert lock.locked()
    lock.release()
    assert not lock.locked()


async def test_lock_is_held_during_a_hand_over():
    """Between a release and the next holder's first step, locked() is True and try_acquire() fails."""
    lock = Lock()
    await lock.acquire()
    task = asyncio.create_task(use(lock))
    await turns()
    lock.release()
    assert lock.locked()
    assert not lock.try_acquire()
    assert lock.waiters == 0
    await raises_async(LockTimeout, lock.acquire(timeout_ms=0))
    await task
    assert not lock.locked()


async def test_try_acquire_never_waits_and_never_overtakes():
    """try_acquire() takes a free lock at once, and fails without a turn of the scheduler when it is held."""
    lock = Lock()
    ran = []

    async def other():
        ran.append(lock.try_acquire())

    task = asyncio.create_task(other())
    assert lock.try_acquire()
    assert not lock.try_acquire()
    assert ran == []
    await task
    assert ran == [False]
    lock.release()
    assert not lock.locked()


async def test_waiters_counts_those_who_wait():
    """`waiters` counts the tasks in line, without the holder, and without those who gave up or were cancelled."""
    lock = Lock()
    await lock.acquire()
    assert lock.waiters == 0
    first = asyncio.create_task(raises_async(LockTimeout, use(lock.hold(timeout_ms=5))))
    second = asyncio.create_task(use(lock))
    await turns()
    assert lock.waiters == 2
    await first
    assert lock.waiters == 1
    second.cancel()
    await raises_async(asyncio.CancelledError, second)
    assert lock.waiters == 0
    lock.release()


async def test_timeout_is_exact():
    """LockTimeout comes when timeout_ms are over, not before and not later, and nothing is held then."""
    lock = Lock()
    task = asyncio.create_task(hold_for(lock, 100))
    await turns()
    for ms in (1, 2, 20):
        start = clock.now()
        await raises_async(LockTimeout, lock.acquire(timeout_ms=ms))
        assert clock.now() - start == ms
    await task
    assert not lock.locked()


async def test_timeout_0_does_not_wait():
    """timeout_ms=0 takes a free lock, and raises at once, without a turn of the scheduler, when it is held."""
    lock = Lock()
    assert await lock.acquire(timeout_ms=0)
    ran = []

    async def other():
        ran.append(1)

    async def asker():
        ran.append(await raises_async(LockTimeout, lock.acquire(timeout_ms=0)))

    tasks = asyncio.create_task(asker()), asyncio.create_task(other())
    await gather_all(*tasks)
    assert isinstance(ran[0], LockTimeout)
    assert "timeout_ms=0" in str(ran[0])
    lock.release()


async def test_a_longest_timeout_is_accepted():
    """The longest time, 2**28-1 ms, about three days, waits that long."""
    if sys.implementation.name == "circuitpython":
        skip("the C code of its tasks takes a virtual time that is 2**28 ms ahead of the real one for one of the past")
    lock = Lock()
    longest = (1 << 28) - 1

    async def holder():
        async with lock:
            await asyncio.Event().wait()

    task = asyncio.create_task(holder())
    await turns()
    start = clock.now()
    await raises_async(LockTimeout, lock.acquire(timeout_ms=longest))
    assert clock.now() - start == longest
    task.cancel()
    await turns(2)


async def test_lock_timeout_is_an_asyncio_timeout():
    """LockTimeout is a DeadlineExceeded, and that is the TimeoutError that `except asyncio.TimeoutError` catches."""
    lock = Lock()
    lock.try_acquire()

    async def ask():
        await lock.acquire(timeout_ms=0)

    assert isinstance(await raises_async(asyncio.TimeoutError, asyncio.create_task(ask())), DeadlineExceeded)
    lock.release()


async def test_timeout_message():
    """LockTimeout names the lock, its holder and for how long that has had it, the time given, and the way out."""
    lock = Lock("i2c0")

    async def display():
        await hold_for(lock, 1000)

    task = asyncio.create_task(display())
    await turns()
    text = str(await raises_async(LockTimeout, lock.acquire(timeout_ms=20)))
    for part in ("i2c0", "'display'", "20 ms", "timeout_ms", "pass the session"):
        assert part in text, text
    task.cancel()
    await turns(2)


async def test_timeout_message_tells_the_time_since_the_last_hand_over():
    """A holder that has had the lock for less than the wait is not blamed for the whole of it."""
    lock = Lock("i2c0")

    async def first():
        await hold_for(lock, 30)

    async def second():
        await hold_for(lock, 1000)

    tasks = [asyncio.create_task(first())]
    await turns()
    tasks.append(asyncio.create_task(second()))
    await turns()
    text = str(await raises_async(LockTimeout, lock.acquire(timeout_ms=50)))
    assert "'second' for 20 ms" in text
    for task in tasks:
        task.cancel()
    await turns(2)


async def test_a_parent_that_awaits_a_child_is_named():
    """A child task that needs its parent's lock times out, and the message names the parent and says what to do."""
    lock = Lock("i2c0")

    async def child():
        await lock.acquire(timeout_ms=10)

    async def parent():
        async with lock:
            await asyncio.create_task(child())

    text = str(await raises_async(LockTimeout, asyncio.create_task(parent())))
    assert "'parent'" in text
    assert "pass the session" in text
    assert not lock.locked()


async def test_max_waiters():
    """With max_waiters=2 a third waiter gets QueueFull at once; the holder is no waiter, and room comes again."""
    lock = Lock("i2c0", max_waiters=2)

    async def display():
        await hold_for(lock, 5)

    tasks = [asyncio.create_task(display())]
    await turns()
    tasks += [asyncio.create_task(use(lock)) for _ in range(2)]
    await turns()
    start = clock.now()
    text = str(await raises_async(QueueFull, lock.acquire()))
    for part in ("i2c0", "'display'", "2 ", "max_waiters"):
        assert part in text, text
    await raises_async(QueueFull, lock.acquire(timeout_ms=1000))
    assert clock.now() == start
    assert lock.waiters == 2
    tasks[1].cancel()
    await turns()
    tasks.append(asyncio.create_task(use(lock)))
    assert [r for r in await gather_all(*tasks) if isinstance(r, QueueFull)] == []
    assert not lock.locked()


async def test_no_waiters_allowed():
    """With max_waiters=0 nobody waits: a free lock is taken, a held one raises QueueFull."""
    lock = Lock(max_waiters=0)
    async with lock:

        async def other():
            await raises_async(QueueFull, lock.acquire())

        await asyncio.create_task(other())
    await use(lock)


async def test_reentry():
    """A task that holds the lock and asks for it again gets Reentry at once, in every form, and keeps it."""
    lock = Lock("i2c0")
    async with lock:
        for ask in (use(lock), use(lock.hold()), use(lock.hold(timeout_ms=10)), lock.acquire(), lock.acquire(10)):
            text = str(await raises_async(Reentry, ask))
            assert "i2c0" in text
        assert not lock.try_acquire()
        assert lock.locked()
    assert not lock.locked()
    async with lock.hold():
        await raises_async(Reentry, use(lock))
        assert lock.locked()
    assert not lock.locked()


async def test_reentry_names_the_task():
    """The message of Reentry names the task that holds the lock already."""
    lock = Lock("i2c0")

    async def display():
        async with lock:
            await lock.acquire()

    text = str(await raises_async(Reentry, asyncio.create_task(display())))
    assert "'display'" in text


async def test_release_of_a_free_lock():
    """release() of a lock that nobody holds raises NotHeld that names it."""
    lock = Lock("i2c0")
    assert "i2c0" in str(raises(NotHeld, lock.release))
    async with lock:
        pass
    raises(NotHeld, lock.release)


async def test_release_by_somebody_else():
    """release() by another task raises NotHeld that names the holder, who keeps the lock."""
    lock = Lock("i2c0")

    async def display():
        await hold_for(lock, 5)

    task = asyncio.create_task(display())
    await turns()
    text = str(raises(NotHeld, lock.release))
    assert "i2c0" in text
    assert "'display'" in text
    assert lock.locked()
    waiter = asyncio.create_task(use(lock))
    await turns()
    raises(NotHeld, lock.release)
    assert lock.waiters == 1
    await gather_all(task, waiter)
    assert not lock.locked()


async def test_holder_that_ended_is_named_and_may_be_released():
    """A lock whose holder ended without releasing it stays held, says so, and may be released by anyone."""
    lock = Lock("i2c0")

    async def careless():
        await lock.acquire()

    await asyncio.create_task(careless())
    assert lock.locked()
    assert not lock.try_acquire()
    text = str(await raises_async(LockTimeout, lock.acquire(timeout_ms=5)))
    assert "'careless'" in text
    assert "ended" in text
    waiter = asyncio.create_task(use(lock))
    await turns()
    assert lock.waiters == 1
    lock.release()
    await waiter
    assert not lock.locked()


async def test_acquire_belongs_to_the_task_that_called_it():
    """The holder is the task that called acquire(), also when another one runs the coroutine."""
    lock = Lock()

    async def runner(coro):
        await coro

    await asyncio.create_task(runner(lock.acquire()))
    assert lock.locked()
    await raises_async(Reentry, lock.acquire())
    lock.release()
    # The same after a wait.
    holder = asyncio.create_task(hold_for(lock, 5))
    await turns()
    await asyncio.create_task(lock.acquire())
    assert holder.done()
    lock.release()
    assert not lock.locked()


async def test_what_a_block_gets():
    """`async with lock as x` gets None, whether it had to wait or not; that of a hold gets the hold."""
    lock = Lock()

    async def use():
        async with lock as got:
            assert got is None
            await turns(2)
        hold = lock.hold()
        async with hold as got:
            assert got is hold and hold.held and hold.shared is False
            await turns(2)

    await asyncio.gather(use(), use(), use())
    assert not lock.locked()


async def test_reentry_of_an_acquire_that_another_task_awaits():
    """Who holds it cannot wait for it in a child, nor await what another task has called: both would wait for ever."""
    lock = Lock()
    async with lock:
        child = asyncio.create_task(lock.acquire())  # called here, run there
        await raises_async(Reentry, child)
    called = lock.acquire()

    async def holder():
        async with lock:
            await raises_async(Reentry, called)

    await asyncio.create_task(holder())
    assert not lock.locked()
    assert lock.waiters == 0


async def test_acquire_takes_nothing_before_it_is_awaited():
    """The coroutine of acquire() does nothing until it runs."""
    lock = Lock()
    coro = lock.acquire()
    assert not lock.locked()
    await coro
    assert lock.locked()
    lock.release()


async def test_early_release_inside_the_block():
    """A lock released inside its block is free from then on, and the end of the block is silent."""
    lock = Lock()
    async with lock:
        lock.release()
        assert not lock.locked()
        raises(NotHeld, lock.release)
    assert not lock.locked()


async def test_early_release_leaves_the_next_holder_alone():
    """The end of a block whose lock was released early, and is another task's by now, leaves it to that task."""
    lock = Lock()
    for ask in (lambda: lock, lock.hold):
        log = []
        async with ask():
            task = asyncio.create_task(use(ask(), log, "next", 5))
            await turns()
            lock.release()
            await turns(2)
            assert log == ["next"]
        assert lock.locked()
        raises(NotHeld, lock.release)
        await task
        assert not lock.locked()


async def test_released_when_the_block_raises():
    """An exception in the block goes through, and the lock is free."""
    lock = Lock()
    for ask in (lambda: lock, lock.hold):

        async def fail():
            async with ask():
                raise OSError(5, "no answer")

        error = await raises_async(OSError, fail())
        assert error.args == (5, "no answer")
        assert not lock.locked()


async def test_deadlock_of_two():
    """Of two tasks that want each other's locks, the second to ask gets WouldDeadlock with the cycle spelt out."""
    a, b = Lock("alpha"), Lock("beta")

    async def first():
        async with a:
            await turns()
            async with b:
                return "done"

    async def second():
        async with b:
            await turns()
            async with a:
                return "done"

    done, error = await gather_all(first(), second())
    assert done == "done"
    assert isinstance(error, WouldDeadlock)
    text = str(error)
    # second asks for alpha, held by first, which waits for beta, held by second
    places = [text.find(part) for part in ("'second'", "alpha", "'first'", "beta")]
    assert -1 not in places
    assert places == sorted(places)
    assert text.rfind("'second'") > places[-1]
    assert not a.locked()
    assert not b.locked()


async def test_deadlock_of_three():
    """A cycle over three tasks is found, and named link by link."""
    locks = [Lock("alpha"), Lock("beta"), Lock("gamma")]

    def user(n):
        async def one():
            async with locks[n]:
                await turns(n + 1)
                async with locks[(n + 1) % 3]:
                    return n

        async def two():
            async with locks[n]:
                await turns(n + 1)
                async with locks[(n + 1) % 3]:
                    return n

        async def three():
            async with locks[n]:
                await turns(n + 1)
                async with locks[(n + 1) % 3]:
                    return n

        return (one, two, three)[n]()

    results = await gather_all(user(0), user(1), user(2))
    assert results[:2] == [0, 1]
    assert isinstance(results[2], WouldDeadlock)
    text = str(results[2])
    places = [text.find(part) for part in ("'three'", "alpha", "'one'", "beta", "'two'", "gamma")]
    assert -1 not in places
    assert places == sorted(places)
    assert text.rfind("'three'") > places[-1]
    assert [lock.locked() for lock in locks] == [False] * 3


async def test_waiting_in_a_chain_is_no_deadlock():
    """A long chain of tasks that wait for each other, without a cycle, is waited for, however long it is."""
    locks = [Lock("l%d" % i) for i in range(150)]
    log = []

    async def link(i):
        async with locks[i]:
            if i:
                async with locks[i - 1]:
                    log.append(i)
            else:
                await asyncio.sleep(0.01)

    tasks = [asyncio.create_task(link(i)) for i in range(len(locks))]
    results = await gather_all(*tasks)
    assert [r for r in results if r is not None] == []
    assert log == list(range(1, len(locks)))


async def test_no_deadlock_with_a_task_that_was_cancelled():
    """Cancelling the task that waits breaks the cycle: its lock may be asked for in the same step."""
    a, b = Lock("alpha"), Lock("beta")

    async def child(timeout_ms):
        async with b, a.hold(timeout_ms=timeout_ms):
            pass

    for timeout_ms in (None, 1000):
        async with a:
            task = asyncio.create_task(child(timeout_ms))
            await turns(2)
            assert a.waiters == 1
            task.cancel()
            async with b:
                assert a.waiters == 0
        await raises_async(asyncio.CancelledError, task)


async def test_no_helper_task_for_a_wait():
    """Waiting for a lock, with a deadline too, makes no task (promise 5)."""
    lock = Lock()
    await lock.acquire()
    made = []
    module = asyncio if sys.implementation.name == "cpython" else asyncio.core
    create_task = asyncio.create_task

    def counted(coro, **kwargs):
        made.append(coro)
        return create_task(coro, **kwargs)

    late = raises_async(LockTimeout, use(lock.hold(5)))
    tasks = [asyncio.create_task(coro) for coro in (use(lock), use(lock.hold(50)), late)]
    before = len(asyncio.all_tasks()) if sys.implementation.name == "cpython" else None
    module.create_task = asyncio.create_task = counted
    try:
        await turns(2)
        assert lock.waiters == 3
        if before is not None:
            assert len(asyncio.all_tasks()) == before
        await asyncio.sleep(0.01)
    finally:
        module.create_task = asyncio.create_task = create_task
    assert made == []
    lock.release()
    await gather_all(*tasks)
    assert not lock.locked()


async def test_a_spurious_wake_up_is_no_grant():
    """A waiter that is woken without being granted the lock goes on waiting, for what is left of its time."""
    lock = Lock()

    async def ask(ms):
        try:
            await lock.acquire(timeout_ms=ms)
        except LockTimeout:
            return clock.now()
        lock.release()
        return None

    for ms in (None, 50):
        await lock.acquire()
        start = clock.now()
        task = asyncio.create_task(ask(ms))
        await turns()
        for _ in range(3):
            await asyncio.sleep(0.01)
            wake_for_nothing(task)
            await turns(2)
            assert not task.done()
            assert lock.waiters == 1
        if ms:
            assert await task == start + ms
            lock.release()
        else:
            lock.release()
            await task
    assert not lock.locked()


def wake_for_nothing(task):
    if sys.implementation.name == "cpython":
        task._fut_waiter.set_result(None)
    else:
        queue = asyncio.core._task_queue
        if task.data is None:
            queue.remove(task)
        queue.push(task)


async def test_bad_arguments():
    """Wrong types and impossible numbers raise TypeError or ValueError, and nothing is taken."""
    for bad in (-1, 1 << 28, 1 << 40):
        raises(ValueError, lambda: Lock(max_waiters=bad))
    for bad in ("2", 1.5, True, [], object()):
        raises((TypeError, ValueError), lambda: Lock(max_waiters=bad))
    lock = Lock()
    for held in (False, True):
        if held:
            task = asyncio.create_task(hold_for(lock, 5))
            await turns()
        for bad in (-1, 1 << 28, 1 << 40, -(1 << 40)):
            await raises_async(ValueError, lock.acquire(timeout_ms=bad))
            raises(ValueError, lambda: lock.hold(timeout_ms=bad))
        for bad in ("5", 1.0, True, False, b"5", [], object()):
            await raises_async(TypeError, lock.acquire(timeout_ms=bad))
            raises(TypeError, lambda: lock.hold(timeout_ms=bad))
        assert lock.locked() is held
        assert lock.waiters == 0
    await task
    assert not lock.locked()


async def test_unnamed_lock_in_messages():
    """A lock without a name is called "lock"."""
    assert "lock" in str(raises(NotHeld, Lock().release))


async def test_block_of_a_deadline_frees_the_lock():
    """A deadline that ends a block frees the lock that was held in it, and one that ends a wait takes nothing."""
    lock = Lock()

    async def work():
        async with deadline(5), lock:
            await asyncio.Event().wait()

    start = clock.now()
    await raises_async(DeadlineExceeded, work())
    assert clock.now() - start == 5
    assert not lock.locked()
    task = asyncio.create_task(hold_for(lock, 20))
    await turns()
    await raises_async(DeadlineExceeded, work())
    assert lock.waiters == 0
    await task
    assert not lock.locked()
