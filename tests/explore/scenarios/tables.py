"""Scenarios of one LockTable."""

from ..users import LOCK, attempt, everything, key, keys, use

LIMIT = 5


def _table(world, cancels, victims=None):
    table = world.watch(world.library.LockTable("t"))
    world.cancels = cancels
    world.victims = victims
    return table, world.ledger()


async def _one(world, record, ledger, table, name, shared=False, limit=None, times=1):
    await world.stagger()
    for _ in range(times):
        await use(world, record, ledger, table.hold(name, limit, shared), key(name, shared), limit)


async def _many(world, record, ledger, table, names, limit=None):
    await world.stagger()
    # Named in different orders, and one of them twice.
    named = names if record.number % 2 else list(reversed(names))
    hold = table.hold_many(list(named) + [named[0]], limit)
    await use(world, record, ledger, hold, keys(*names), limit)


async def _all(world, record, ledger, table, limit=None):
    await world.stagger()
    await use(world, record, ledger, table.hold_all(limit), everything(), limit)


def one_key(world):
    """3 tasks x 2 operations on one key, one cancellation anywhere, one deadline anywhere."""
    table, ledger = _table(world, 1)
    world.symmetric = True
    limited = world.choose(4)
    for i in range(3):
        world.spawn(_one, ledger, table, "a", False, LIMIT if i == limited else None, 2)


def readers_and_writers(world):
    """4 tasks on one key, each shared or exclusive, in every mix; one cancellation, one deadline anywhere."""
    table, ledger = _table(world, 1)
    world.symmetric = True
    limited = world.choose(5)
    for i in range(4):
        shared = world.choose(2) == 0
        world.spawn(_one, ledger, table, "a", shared, LIMIT if i == limited else None)


def readers_and_a_writer(world):
    """Two readers and a writer on one key, in every order; one cancellation, one deadline anywhere."""
    table, ledger = _table(world, 1)
    limited = world.choose(4)
    for i in range(3):
        world.spawn(_one, ledger, table, "a", i != 1, LIMIT if i == limited else None)


async def _first(world, record, ledger, table, lock, book):
    """Reads, and then wants what the second reader has while it waits to read too."""
    await world.stagger()

    async def inside():
        await world.pause()
        await use(world, record, book, lock, LOCK)

    await use(world, record, ledger, table.hold("a", None, True), key("a", True), None, inside)


async def _second(world, record, ledger, table, lock, book):
    await world.stagger()

    async def inside():
        await use(world, record, ledger, table.hold("a", None, True), key("a", True))

    await use(world, record, book, lock, LOCK, None, inside)


def meeting(world):
    """Two readers that need each other, and a writer or hold_all between them, limited and cancelled: when that one has
    left the line, those behind it come through at once."""
    table, ledger = _table(world, 1)
    lock = world.watch(world.library.Lock("L"))
    book = world.ledger()
    limit = (None, LIMIT)[world.choose(2)]
    world.spawn(_first, ledger, table, lock, book)
    if world.choose(2):
        world.spawn(_one, ledger, table, "a", False, limit)
    else:
        world.spawn(_all, ledger, table, limit)
    world.spawn(_second, ledger, table, lock, book)


def all_against_two(world):
    """hold_all, hold_many of two keys and one of these keys; one cancellation, one deadline anywhere."""
    table, ledger = _table(world, 1)
    limits = [None] * 4
    limits[world.choose(4)] = LIMIT
    world.spawn(_many, ledger, table, ("a", "b"), limits[0])
    world.spawn(_all, ledger, table, limits[1])
    world.spawn(_one, ledger, table, "b", False, limits[2])


def many_against_all(world):
    """hold_many of two keys, hold_all, and both keys singly; one cancellation, one deadline anywhere."""
    table, ledger = _table(world, 1)
    limits = [None] * 5
    limits[world.choose(5)] = LIMIT
    world.spawn(_many, ledger, table, ("a", "b"), limits[0])
    world.spawn(_all, ledger, table, limits[1])
    world.spawn(_one, ledger, table, "a", False, limits[2])
    world.spawn(_one, ledger, table, "b", False, limits[3])


def many_against_many(world):
    """Three tasks with two of three keys each: there is no deadlock, whatever the order they are named in."""
    table, ledger = _table(world, 1)
    for names in (("a", "b"), ("b", "c"), ("a", "c")):
        world.spawn(_many, ledger, table, names)


def two_alls(world):
    """hold_all twice, and one key in two tasks, one of them shared; one cancellation, one deadline anywhere."""
    table, ledger = _table(world, 1)
    limits = [None] * 5
    limits[world.choose(5)] = LIMIT
    world.spawn(_all, ledger, table, limits[0])
    world.spawn(_one, ledger, table, "a", False, limits[1])
    world.spawn(_all, ledger, table, limits[2])
    world.spawn(_one, ledger, table, "a", True, limits[3])


async def _passer(world, record, ledger, table, limit):
    """Holds a key and asks for another."""
    await world.stagger()

    async def inside():
        await world.pause()
        await use(world, record, ledger, table.hold("b", limit), key("b"), limit)

    await use(world, record, ledger, table.hold("a"), key("a"), None, inside)


def passing(world):
    """A task that holds a key passes a waiting hold_all; those that hold nothing do not."""
    table, ledger = _table(world, 1)
    limits = [None] * 4
    limits[world.choose(4)] = LIMIT
    world.spawn(_passer, ledger, table, limits[0])
    world.spawn(_all, ledger, table, limits[1])
    world.spawn(_one, ledger, table, "b", False, limits[2])


def crossing(world):
    """Two tasks that take two keys in opposite orders, and hold_all: the one that would deadlock is refused."""
    table, ledger = _table(world, 1)
    for first, second in (("a", "b"), ("b", "a")):
        world.spawn(_pair, ledger, table, first, second)
    world.spawn(_all, ledger, table)


async def _pair(world, record, ledger, table, first, second):
    await world.stagger()

    async def inside():
        await world.pause()
        await use(world, record, ledger, table.hold(second), key(second))

    await use(world, record, ledger, table.hold(first), key(first), None, inside)


async def _grabber(world, record, ledger, table, shared):
    await world.stagger()
    for _ in range(2):
        claim = key("a", shared)
        hold = attempt(world, record, ledger, lambda: table.try_hold("a", shared), claim)
        if hold:
            record.scopes.append(hold)
            await world.pause()
            ledger.leave(record, claim)
            hold.release()
            record.scopes.remove(hold)
            world.did(record, "grabbed")


def grabbers(world):
    """try_hold, exclusive and shared, against a writer, a reader and hold_all."""
    table, ledger = _table(world, 1, (0, 1, 2))
    world.spawn(_one, ledger, table, "a")
    world.spawn(_one, ledger, table, "a", True)
    world.spawn(_all, ledger, table)
    world.spawn(_grabber, ledger, table, False)
    world.spawn(_grabber, ledger, table, True)


async def _bounded(world, record, ledger, table):
    await world.stagger()
    hold = table.hold_all() if record.number == 0 else table.hold("a")
    claim = everything() if record.number == 0 else key("a")
    try:
        await use(world, record, ledger, hold, claim)
    except world.errors.QueueFull:
        ledger.refused(record, claim, "full")
        world.did(record, "full")


def bounded(world):
    """hold_all and three of one key, of which one may wait in each line."""
    table = world.watch(world.library.LockTable("t", max_waiters=1))
    ledger = world.ledger()
    world.cancels = 1
    for _ in range(4):
        world.spawn(_bounded, ledger, table)


def at_once(world):
    """Tasks that do not wait (timeout_ms=0) for hold_all, one key and two, and one that holds a key."""
    table, ledger = _table(world, 1)
    world.spawn(_one, ledger, table, "a")
    world.spawn(_all, ledger, table, 0)
    world.spawn(_many, ledger, table, ("a", "b"), 0)
    world.spawn(_one, ledger, table, "a", True, 0)


async def _operation(world, record, table, wire, books, name, limit):
    """What a bus does: the device's key first, then the wire."""
    await world.stagger()
    keys_book, wire_book = books

    async def inside():
        for _ in range(2):
            await use(world, record, wire_book, wire.hold(limit), key("wire"), limit)

    await use(world, record, keys_book, table.hold(name), key(name), None, inside)


def key_and_wire(world):
    """Two devices and a shared wire, the wire taken twice under each key; one cancellation, one deadline anywhere."""
    table, ledger = _table(world, 1)
    wire = world.watch(world.library.Lock("wire"))
    books = (ledger, world.ledger())
    limits = [None] * 4
    limits[world.choose(4)] = LIMIT
    for i, name in enumerate(("a", "b", "a")):
        world.spawn(_operation, table, wire, books, name, limits[i])
