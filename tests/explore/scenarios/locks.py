"""Scenarios of one Lock."""

from ..users import LOCK, acquire, attempt, use_lock

LIMIT = 5


async def _user(world, record, ledger, lock, limits, way):
    await world.stagger()
    for limit in limits:
        if way == "acquire":
            await acquire(world, record, ledger, lock, limit)
        else:
            await use_lock(world, record, ledger, lock, limit)


def _users(world, tasks, operations, cancels, way="hold"):
    lock = world.watch(world.library.Lock("L"))
    ledger = world.ledger()
    world.cancels = cancels
    world.symmetric = True
    limited = world.choose(tasks * operations + 1)  # which operation has the deadline
    for i in range(tasks):
        limits = [LIMIT if i * operations + j == limited else None for j in range(operations)]
        world.spawn(_user, ledger, lock, limits, way)


def three_by_two(world):
    """3 tasks x 2 operations, one cancellation anywhere, one deadline anywhere."""
    _users(world, 3, 2, 1)


def three_by_two_acquire(world):
    """The same with acquire() and release()."""
    _users(world, 3, 2, 1, "acquire")


def three_by_one(world):
    """3 tasks x 1 operation, two cancellations anywhere, one deadline anywhere."""
    _users(world, 3, 1, 2)


def four_by_one(world):
    """4 tasks x 1 operation, one cancellation anywhere, one deadline anywhere."""
    _users(world, 4, 1, 1)


def four_by_two(world):
    """4 tasks x 2 operations, one cancellation anywhere, one deadline anywhere."""
    _users(world, 4, 2, 1)


def five_by_one(world):
    """5 tasks x 1 operation, two cancellations anywhere, one deadline anywhere."""
    _users(world, 5, 1, 2)


def all_limited(world):
    """4 tasks x 1 operation, each with a deadline of its own, two of them the same; one cancellation anywhere."""
    lock = world.watch(world.library.Lock("L"))
    ledger = world.ledger()
    world.cancels = 1
    for limit in (3, 5, 5, 8):
        world.spawn(_user, ledger, lock, [limit], "hold")


async def _grabber(world, record, ledger, lock):
    await world.stagger()
    for _ in range(2):
        if attempt(world, record, ledger, lock.try_acquire, LOCK):
            await world.pause()
            ledger.leave(record, LOCK)
            lock.release()
            world.did(record, "grabbed")


def grabbers(world):
    """Two tasks that wait, and two that try without waiting, one of them until it succeeds or not, twice."""
    lock = world.watch(world.library.Lock("L"))
    ledger = world.ledger()
    world.cancels = 1
    world.victims = (0, 1)
    for _ in range(2):
        world.spawn(_user, ledger, lock, [None], "hold")
    for _ in range(2):
        world.spawn(_grabber, ledger, lock)


async def _bounded(world, record, ledger, lock):
    await world.stagger()
    try:
        await use_lock(world, record, ledger, lock)
    except world.errors.QueueFull:
        ledger.refused(record, LOCK, "full")
        if lock.waiters < 1:
            world.complain("limit: task %d was refused with nobody in line", record.number)
        world.did(record, "full")


def bounded(world):
    """4 tasks, of which one may wait; one cancellation."""
    lock = world.watch(world.library.Lock("L", max_waiters=1))
    ledger = world.ledger()
    world.cancels = 1
    world.symmetric = True
    for _ in range(4):
        world.spawn(_bounded, ledger, lock)


async def _leaver(world, record, ledger, lock):
    await world.stagger()
    ledger.ask(record, LOCK)
    async with lock:
        ledger.enter(record, LOCK)
        await world.pause()
        ledger.leave(record, LOCK)
        lock.release()
        # Another task's by now, perhaps, and that must not be touched at the end of the block.
        world.here("left early")
        await world.library.rt.sleep_ms(0)
    world.did(record, "left early")


def early(world):
    """A task that releases the lock in the middle of its block, and two that wait."""
    lock = world.watch(world.library.Lock("L"))
    ledger = world.ledger()
    world.cancels = 1
    world.victims = (1, 2)
    world.spawn(_leaver, ledger, lock)
    for _ in range(2):
        world.spawn(_user, ledger, lock, [None], "hold")


async def _nested(world, record, ledgers, locks, order):
    await world.stagger()

    async def inside():
        await use_lock(world, record, ledgers[order[1]], locks[order[1]])

    await use_lock(world, record, ledgers[order[0]], locks[order[0]], None, inside)


def crosswise(world):
    """Two tasks that take two locks in opposite orders, and a third: the one that would deadlock is refused."""
    locks = [world.watch(world.library.Lock(name)) for name in ("K", "L")]
    ledgers = [world.ledger() for _ in locks]
    world.cancels = 1
    for order in ((0, 1), (1, 0), (0, 1)):
        world.spawn(_nested, ledgers, locks, order)
