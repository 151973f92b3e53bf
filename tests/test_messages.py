"""The words of errors, to the letter: they are what a user has on the screen of a board. The same on every runtime."""

import asyncio

from buslock import (
    BusClosed,
    DeadlineExceeded,
    Lazy,
    Lock,
    LockTable,
    LockTimeout,
    NotHeld,
    QueueFull,
    Reentry,
    WouldDeadlock,
    deadline,
)
from support.turns import raises, raises_async, turns

CLOCK = "virtual"


async def told(expected, awaitable):
    return str(await raises_async(expected, awaitable))


async def enter(manager):
    async with manager:
        pass


async def test_deadline():
    async def late():
        async with deadline(5):
            await asyncio.sleep(1)

    task = asyncio.create_task(late())
    assert await told(DeadlineExceeded, task) == "deadline of 5 ms is over in task 'late'"
    used = deadline(5)
    async with used:
        pass
    assert await told(Reentry, enter(used)) == "a deadline is for one block: make a new one"


def test_deadline_outside_of_a_task():
    assert str(raises(RuntimeError, deadline(5).__aenter__)) == "deadline() needs a running task"


async def test_lazy_arguments():
    text = "factory and close are functions: factory() makes the object, close(object) ends it"
    assert str(raises(TypeError, Lazy, 5)) == text
    assert str(raises(TypeError, Lazy, object, 5)) == text
    assert str(raises(TypeError, Lazy, object, retry_ms=None)) == "retry_ms is an int in ms"

    def nothing():
        pass

    assert await told(TypeError, Lazy(nothing).get()) == "nothing: the factory returned None"


async def test_lazy_name():
    """A factory without a name of its own is called `lazy object`."""

    class Factory:
        def __call__(self):
            return None

    assert await told(TypeError, Lazy(Factory()).get()) == "lazy object: the factory returned None"


async def test_lazy_that_needs_itself():
    async def sensor():
        await lazy.get()

    lazy = Lazy(sensor)
    text = "task '_make' holds %s already and would wait for itself; use the hold or session that it has"
    assert await told(Reentry, lazy.get()) == "sensor: " + text % "the making of it"

    async def closing():
        await lazy.aclose()

    lazy = Lazy(closing)
    assert await told(Reentry, lazy.get()) == "closing: " + text % "the making or closing of it"


async def test_lazy_that_is_closed():
    async def slow():
        await asyncio.sleep(0.01)
        return 1

    async def close(thing):
        await asyncio.sleep(0.05)

    async def closer():
        await lazy.aclose()

    lazy = Lazy(slow, close)
    text = "slow was closed meanwhile; ask again when aclose() has returned"
    task = asyncio.create_task(lazy.get())
    await turns(2)
    await lazy.aclose()
    assert await told(BusClosed, task) == text
    await lazy.get()
    task = asyncio.create_task(closer())
    await turns()
    assert await told(BusClosed, lazy.get()) == text
    assert (
        await told(LockTimeout, lazy.aclose(timeout_ms=5)) == "closing of slow held by task 'closer' for 5 ms; "
        "gave up after 5 ms: pass a longer timeout_ms, or, if that task awaits this one, pass the session"
    )
    await task


async def test_lock():
    async def display():
        async with lock:
            await asyncio.sleep(1)

    lock = Lock("panel", max_waiters=1)
    assert str(raises(NotHeld, lock.release)) == "panel is not held: a hold ends once, and is dead after its block"
    task = asyncio.create_task(display())
    await turns()
    assert str(raises(NotHeld, lock.release)) == "panel is held by task 'display': only that task can release it"
    assert (
        await told(LockTimeout, lock.acquire(timeout_ms=0))
        == "panel held by task 'display'; no time is left to wait (timeout_ms=0 does not wait)"
    )
    assert (
        await told(LockTimeout, enter(lock.hold(timeout_ms=20))) == "panel held by task 'display' for 20 ms; "
        "gave up after 20 ms: pass a longer timeout_ms, or, if that task awaits this one, pass the session"
    )
    waiter = asyncio.create_task(lock.acquire())
    await turns(2)
    assert (
        await told(QueueFull, lock.acquire())
        == "panel held by task 'display', and 1 tasks wait already: ask again later, or raise max_waiters"
    )
    waiter.cancel()
    await asyncio.gather(task, waiter, return_exceptions=True)


async def test_holds_of_a_lock():
    text = "task '%s' holds it already and would wait for itself; use the hold or session that it has"

    async def twice(hold):
        async with hold:
            return await told(Reentry, enter(hold))

    async def lock_twice():
        async with lock:
            return await told(Reentry, enter(lock))

    for lock, name in ((Lock("panel"), "panel"), (Lock(), "lock")):
        ended = lock.hold()
        assert (
            str(raises(NotHeld, ended.release)) == name + " is not held: a hold ends once, and is dead after its block"
        )
        async with ended:
            pass
        assert await told(NotHeld, enter(ended)) == name + " is not held: a hold ends once, and is dead after its block"
        assert await asyncio.create_task(twice(lock.hold())) == name + ": " + text % "twice"
        assert await asyncio.create_task(lock_twice()) == name + ": " + text % "lock_twice"


async def test_holds_of_a_table():
    table = LockTable("tools")
    again = "%s: task 'user' holds %s already and would wait for itself; use the hold or session that it has"

    async def user(first, second, expected):
        async with first:
            assert await told(Reentry, enter(second)) == again % expected

    for first, second, expected in (
        (table.hold("a"), table.hold("a"), ("tools/a", "tools/a")),
        (table.hold("a"), table.hold_all(), ("all of tools", "tools/a")),
        (table.hold_all(), table.hold("a"), ("tools/a", "all of tools")),
        (table.hold_all(), table.hold_all(), ("all of tools", "all of tools")),
        (table.hold_many(("b", "a")), table.hold("b", shared=True), ("tools/b", "tools/b")),
    ):
        await asyncio.create_task(user(first, second, expected))

    for hold, label in (
        (table.hold("a"), "tools/a"),
        (table.hold_all(), "all of tools"),
        (table.hold_many(("b", "a")), "tools/a, tools/b"),
    ):
        assert (
            str(raises(NotHeld, hold.release)) == label + " is not held: a hold ends once, and is dead after its block"
        )

        async def twice(hold=hold):
            async with hold:
                return await told(Reentry, enter(hold))

        assert (
            await asyncio.create_task(twice()) == label + ": task 'twice' holds it already and would wait for itself; "
            "use the hold or session that it has"
        )
        assert await told(NotHeld, enter(hold)) == label + " is not held: a hold ends once, and is dead after its block"


async def test_waiting_for_a_table():
    table = LockTable("tools", max_waiters=1)

    async def keeper():
        async with table.hold("a", shared=True):
            await asyncio.sleep(1)

    async def reader():
        async with table.hold("a", shared=True):
            await asyncio.sleep(1)

    task = asyncio.gather(asyncio.create_task(keeper()), asyncio.create_task(reader()))
    await turns()
    end = "gave up after 5 ms: pass a longer timeout_ms, or, if that task awaits this one, pass the session"
    held = " held by task 'keeper' and task 'reader' for 5 ms; "
    assert await told(LockTimeout, enter(table.hold("a", 5))) == "tools/a" + held + end
    assert await told(LockTimeout, enter(table.hold_all(5))) == "all of tools" + held + end
    assert await told(LockTimeout, enter(table.hold_many("a b".split(), 5))) == "tools/a" + held + end
    await task


async def test_at_the_gate_of_hold_all():
    """What was asked for is named, not what is waited for; and a bus shows its keys in its own way."""

    class Bus:
        def _show(self, key):
            return "0x%02x" % key

    async def keeper():
        async with table.hold(0x48):
            await asyncio.sleep(1)

    table = LockTable("i2c")
    table.bus = Bus()
    task = asyncio.create_task(keeper())
    await turns()
    everything = asyncio.create_task(enter(table.hold_all()))
    await turns(2)
    text = "%s held by task 'keeper'; no time is left to wait (timeout_ms=0 does not wait)"
    assert await told(LockTimeout, enter(table.hold(0x49, 0))) == text % "i2c/0x49"
    assert await told(LockTimeout, enter(table.hold_all(0))) == text % "all of i2c"
    assert await told(LockTimeout, enter(table.hold(0x48, 5))) == (
        "i2c/0x48 held by task 'keeper' for 5 ms; "
        "gave up after 5 ms: pass a longer timeout_ms, or, if that task awaits this one, pass the session"
    )
    await asyncio.gather(task, everything)


def test_arguments_of_a_table():
    assert str(raises(TypeError, LockTable, tag=5)) == "tag is a function of the key, such as hash_tag"
    table = LockTable()
    assert table.name == "table"
    assert str(raises(TypeError, table.hold_many, "ab")) == "keys is a collection of keys, not the string 'ab'"
    assert str(raises(ValueError, table.hold_many, ())) == "no keys at all: hold_many() needs at least one"
    text = "None or an int is wanted (ms, or a number of waiters), not "
    assert str(raises(TypeError, table.hold, 1, 1.5)) == text + "1.5"
    assert str(raises(TypeError, LockTable, None, "x")) == text + "'x'"
    assert str(raises(ValueError, table.hold, 1, -1)) == "0 to 2**28-1 is wanted (ms, or a number of waiters), not -1"
    assert str(raises(ValueError, table.hold_all, 1 << 28)) == (
        "0 to 2**28-1 is wanted (ms, or a number of waiters), not 268435456"
    )


def test_names_that_there_are_not():
    table = LockTable()
    for thing in (Lock(), Lock().hold(), table.hold("a"), table.hold_many("ab".split()), table.hold_all()):
        assert str(raises(AttributeError, getattr, thing, "nonsense")) == "nonsense"


async def test_deadlock():
    a, b = Lock("a"), Lock("b")

    async def one():
        async with a:
            await turns(2)
            async with b:
                pass

    async def two():
        async with b:
            await turns(2)
            async with a:
                pass

    results = await asyncio.gather(one(), two(), return_exceptions=True)
    assert results[0] is None
    assert isinstance(results[1], WouldDeadlock)
    names = [str(results[1]).split("'")[i] for i in (1, 3, 5)]
    assert str(results[1]) == (
        "task '%s' asks for a, held by task '%s', which waits for b, held by task '%s': "
        "take them in one order, or all at once" % tuple(names)
    )
