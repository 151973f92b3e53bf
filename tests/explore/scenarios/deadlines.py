"""Scenarios of deadline() and wait_for_ms(), alone and around a Lock."""

from ..users import LOCK, use_lock


async def _within(world, record, ms, body):
    """`await body()` under a deadline. True if it was done in time."""
    start = world.now()
    scope = world.library.deadline(ms)
    record.scopes.append(scope)
    try:
        async with scope:
            await body()
        return True
    except world.errors.DeadlineExceeded:
        world.here("over")
        if world.passed(start) < ms:
            world.complain("time: task %d heard of a deadline before its time", record.number)
        world.did(record, "over")
        return False
    finally:
        record.scopes.remove(scope)


async def _keeper(world, record, ledger, lock, ms):
    await world.stagger()

    async def inside():
        await world.sleep(ms)

    await use_lock(world, record, ledger, lock, None, inside)


def _lock(world, cancels):
    lock = world.watch(world.library.Lock("L"))
    world.cancels = cancels
    return lock, world.ledger()


async def _nested(world, record, ledger, lock, outer, inner):
    await world.stagger()

    async def attempt():
        await use_lock(world, record, ledger, lock)

    async def both():
        await _within(world, record, inner, attempt)
        await world.pause("between")

    await _within(world, record, outer, both)
    await world.pause("behind")


def nested(world, cancels=1):
    """A deadline in a deadline around a lock, the inner one shorter, the same or longer; one cancellation."""
    lock, ledger = _lock(world, cancels)
    inner = (3, 5, 8)[world.choose(3)]
    world.spawn(_keeper, ledger, lock, 6)
    world.spawn(_nested, ledger, lock, 5, inner)


def nested_twice_cancelled(world):
    """The same with two cancellations."""
    nested(world, 2)


def tie(world):
    """A lock's own limit and a deadline around it, at the same time or nearly; and one more in line."""
    lock, ledger = _lock(world, 1)
    outer = (4, 5, 6)[world.choose(3)]
    world.spawn(_keeper, ledger, lock, 5)
    world.spawn(_limited, ledger, lock, outer, 5)
    world.spawn(_keeper, ledger, lock, 1)


async def _limited(world, record, ledger, lock, outer, limit):
    await world.stagger()

    async def attempt():
        await use_lock(world, record, ledger, lock, limit)

    await _within(world, record, outer, attempt)


def three_in_line(world):
    """3 tasks that wait for one lock, each under a deadline; one cancellation."""
    lock, ledger = _lock(world, 1)
    world.spawn(_keeper, ledger, lock, 3)
    for ms in (3, 3, 5):
        world.spawn(_limited, ledger, lock, ms, None)


async def _waits_for(world, record, ledger, lock, ms):
    await world.stagger()
    errors = world.errors
    ledger.ask(record, LOCK, ms)
    try:
        await world.library.wait_for_ms(lock.acquire(), ms)
    except errors.DeadlineExceeded:
        ledger.refused(record, LOCK, "late")
        world.did(record, "late")
        return
    except world.library.CancelledError:
        ledger.refused(record, LOCK, "cancelled")
        raise
    ledger.enter(record, LOCK)
    try:
        await world.pause()
    finally:
        ledger.leave(record, LOCK)
        lock.release()
    world.did(record, "held")


def wait_for(world):
    """wait_for_ms(lock.acquire(), ms), which leaks with the built-in lock; one cancellation."""
    lock, ledger = _lock(world, 1)
    world.spawn(_keeper, ledger, lock, 5)
    for ms in (5, 4):
        world.spawn(_waits_for, ledger, lock, ms)


async def _inside_lock(world, record, ledger, lock, limit, work):
    await world.stagger()

    async def slow():
        await world.sleep(work)

    async def inside():
        await _within(world, record, limit, slow)

    await use_lock(world, record, ledger, lock, None, inside)


def inside_a_lock(world):
    """A deadline inside a lock, which another task waits for; two cancellations."""
    lock, ledger = _lock(world, 2)
    world.spawn(_inside_lock, ledger, lock, 5, (4, 5, 6)[world.choose(3)])
    world.spawn(_inside_lock, ledger, lock, 5, 2)


async def _tidy(world, record, ms, work):
    """Has something to await when it is interrupted."""
    await world.stagger()

    async def body():
        try:
            await world.sleep(work)
        except world.library.CancelledError:
            # What it ends with when a deadline interrupts this too is not the same everywhere: see deadline().
            world.got_cancel(record)
            await world.pause("tidy")
            raise

    await _within(world, record, ms, body)
    await world.pause("behind")


def tidying(world):
    """Code that awaits in its `finally`, interrupted by a deadline, a cancellation or both."""
    world.cancels = 2
    world.spawn(_tidy, 5, (4, 5, 6)[world.choose(3)])


async def _impatient(world, record, ledger, lock):
    await world.stagger()

    async def wait():
        await world.pause()
        world.complain("time: task %d got past a wait under a deadline of 0", record.number)

    async def attempt():
        await use_lock(world, record, ledger, lock, None, wait)

    await _within(world, record, 0, attempt)
    await world.pause("behind")


def zero(world):
    """deadline(0) around a lock that is free or not: the block ends at its first wait; one cancellation."""
    lock, ledger = _lock(world, 1)
    world.spawn(_keeper, ledger, lock, 1)
    world.spawn(_impatient, ledger, lock)


async def _child(world, record, ledger, lock):
    await use_lock(world, record, ledger, lock)


async def _parent(world, record, ledger, lock):
    await world.stagger()

    async def body():
        child = world.spawn(_child, ledger, lock)
        child.lenient = True  # this task's deadline comes down on it
        record.scopes.append(child.task)
        try:
            await child.task
        finally:
            record.scopes.remove(child.task)

    await _within(world, record, 5, body)
    await world.pause("behind")


def over_a_child(world):
    """A deadline around a child task that waits for a lock; one cancellation of the parent or the holder."""
    lock, ledger = _lock(world, 1)
    world.victims = (0, 1)
    world.spawn(_keeper, ledger, lock, 5)
    world.spawn(_parent, ledger, lock)
