"""LockTable: keys, their order, shared and exclusive, hold_many, hold_all, tags, limits and statistics."""

import asyncio

from buslock import (
    DeadlineExceeded,
    I2CBus,
    Lock,
    LockTable,
    LockTimeout,
    NotHeld,
    QueueFull,
    Reentry,
    WouldDeadlock,
    deadline,
    hash_tag,
)
from support import clock
from support.turns import raises, raises_async, turns

CLOCK = "virtual"


async def gather_all(*awaitables):
    """Results and exceptions."""
    return await asyncio.gather(*awaitables, return_exceptions=True)


async def use(hold, log=None, name=None, ms=0):
    async with hold:
        if log is not None:
            log.append(name)
        await asyncio.sleep(ms / 1000)


def start(*args):
    return asyncio.create_task(use(*args))


def at_rest(table):
    return len(table) == 0 and table.stats()["entries"] == 0


async def test_keys_are_independent():
    """Holders of different keys run at the same time, holders of one key one after the other (promise 1)."""
    table = LockTable()
    inside = {}
    most = []

    async def user(key):
        for i in range(4):
            async with table.hold(key):
                assert key not in inside
                inside[key] = True
                most.append(len(inside))
                await turns(i)
                del inside[key]

    assert await gather_all(*[user(n % 3) for n in range(9)]) == [None] * 9
    assert max(most) == 3
    assert at_rest(table)


async def test_first_come_first_served_per_key():
    """Tasks that hold nothing get each key in the order in which they asked for it (promise 2)."""
    table = LockTable()
    logs = {"a": [], "b": []}
    async with table.hold_many(("a", "b")):
        tasks = []
        for n in range(10):
            key = "ab"[n % 2]
            tasks.append(start(table.hold(key, timeout_ms=(None, 1000)[n // 2 % 2]), logs[key], n))
            await turns()
    await gather_all(*tasks)
    assert logs == {"a": [0, 2, 4, 6, 8], "b": [1, 3, 5, 7, 9]}
    assert at_rest(table)


async def test_keys_of_any_hashable_kind():
    """A key is an int, a string, or anything hashable, and None is a key like any other."""
    table = LockTable()
    keys = (0, -1, 1 << 70, "", "a", (1, "b"), None, b"x", ("a", None))
    for key in keys:
        async with table.hold(key) as hold:
            assert hold.keys == (key,)
            assert key in table
            others = [k for k in keys if k != key and k in table]
            assert others == []
    assert at_rest(table)

    # None, asked for by a task that holds another key.
    async def holder():
        async with table.hold(None):
            await turns(3)

    task = asyncio.create_task(holder())
    async with table.hold("a"):
        await turns()
        async with table.hold(None):
            assert task.done()
    assert at_rest(table)


async def test_unhashable_keys():
    """An unhashable key raises TypeError in the task that asks for it, and nothing is taken."""
    table = LockTable()
    for bad in ([], {}, [1]):
        await raises_async(TypeError, use(table.hold(bad)))
        raises(TypeError, lambda: table.try_hold(bad))
        raises(TypeError, lambda: table.hold_many([1, bad]))
    assert at_rest(table)
    # Under hold_all too, where it would wait before anybody looks it up.
    async with table.hold_all():
        task = asyncio.create_task(raises_async(TypeError, use(table.hold([]))))
        await turns(2)
        assert task.done()
    await task
    assert at_rest(table)


async def test_bad_times():
    """Wrong types and impossible times raise at the latest at the first await, and nothing is taken."""
    table = LockTable()
    for bad in (-1, 1 << 28, 1 << 40):
        raises(ValueError, lambda: table.hold("k", timeout_ms=bad))
        raises(ValueError, lambda: table.hold_many(["k"], timeout_ms=bad))
        raises(ValueError, lambda: table.hold_all(timeout_ms=bad))
        raises(ValueError, lambda: LockTable(max_waiters=bad))
    for bad in ("5", 1.0, True, b"5", [], object()):
        raises(TypeError, lambda: table.hold("k", timeout_ms=bad))
        raises(TypeError, lambda: table.hold_many(["k"], timeout_ms=bad))
        raises(TypeError, lambda: table.hold_all(timeout_ms=bad))
        raises((TypeError, ValueError), lambda: LockTable(max_waiters=bad))
    for bad in (1, "tag", []):
        raises(TypeError, lambda: LockTable(tag=bad))
    assert at_rest(table)
    await use(table.hold("k"))
    await use(table.hold_all())


async def test_table_is_empty_after_timeouts_and_cancellations():
    """At rest there is no entry left, whatever became of those who held and waited (promise 12)."""
    table = LockTable()
    holders = [start(table.hold(key), None, None, 20) for key in range(5)]
    await turns()
    waiters = [asyncio.create_task(raises_async(LockTimeout, use(table.hold(k, timeout_ms=k + 1)))) for k in range(5)]
    cancelled = [start(table.hold(k)) for k in range(5)]
    await turns()
    assert len(table) == 5
    assert [table.waiters(k) for k in range(5)] == [2] * 5
    await gather_all(*waiters)
    for task in cancelled:
        task.cancel()
    await turns()
    assert [table.waiters(k) for k in range(5)] == [0] * 5
    holders[0].cancel()
    await gather_all(*(holders + cancelled))
    assert at_rest(table)
    assert [k in table for k in range(5)] == [False] * 5


async def test_length_and_membership():
    """len() counts keys that are held or waited for, `in` finds them, waiters() counts who waits for one."""
    table = LockTable()
    assert len(table) == 0
    async with table.hold("a"), table.hold("b"):
        assert len(table) == 2
        assert "a" in table
        assert "c" not in table
        assert table.waiters("a") == 0
        task = start(table.hold("a"))
        await turns()
        assert len(table) == 2
        assert table.waiters("a") == 1
        assert table.waiters("b") == 0
        assert table.waiters("c") == 0
    await task
    assert at_rest(table)


async def test_membership_under_hold_all():
    """A key that somebody waits for behind a hold_all counts as waited for, and hold_all itself counts as one."""
    table = LockTable()
    async with table.hold_all():
        assert len(table) == 1
        assert "a" not in table
        task = start(table.hold("a"))
        await turns()
        assert "a" in table
        assert table.waiters("a") == 1
        assert len(table) == 2
    await task
    assert at_rest(table)


async def test_readers_run_together():
    """Shared holds of one key are in force at the same time, an exclusive one is alone."""
    table = LockTable()
    log = []

    async def reader(n):
        async with table.hold("k", shared=True) as hold:
            assert hold.shared
            log.append("+%d" % n)
            await turns(2)
            log.append("-%d" % n)

    tasks = [asyncio.create_task(reader(n)) for n in range(3)]
    await turns()
    writer = start(table.hold("k"), log, "w")
    await gather_all(writer, *tasks)
    assert log == ["+0", "+1", "+2", "-0", "-1", "-2", "w"]
    assert at_rest(table)


async def test_reader_behind_a_waiting_writer_waits():
    """Shared and exclusive holds come in arrival order: a reader does not pass a writer that waits."""
    table = LockTable()
    log = []

    async def reader(name):
        async with table.hold("k", shared=True):
            log.append("+" + name)
            await turns(3)
            log.append("-" + name)

    tasks = []
    for name in ("a", "W", "b", "c", "V", "d"):
        tasks.append(start(table.hold("k"), log, name) if name.isupper() else asyncio.create_task(reader(name)))
        await turns()
    await gather_all(*tasks)
    assert log == ["+a", "-a", "W", "+b", "+c", "-b", "-c", "V", "+d", "-d"]
    assert at_rest(table)


async def test_a_writer_that_leaves_lets_the_readers_go():
    """When a waiting writer times out or is cancelled, the readers behind it go on at once."""
    table = LockTable()
    for how in ("timeout", "cancel"):
        log = []
        async with table.hold("k", shared=True):
            writer = asyncio.create_task(gather_all(use(table.hold("k", timeout_ms=5), log, "writer")))
            await turns()
            readers = [start(table.hold("k", shared=True), log, n) for n in range(2)]
            await turns(2)
            assert log == []
            assert table.waiters("k") == 3
            if how == "cancel":
                writer.cancel()
                await turns(3)
            else:
                await asyncio.sleep(0.005)
                await turns(3)
            assert log == [0, 1]
        await gather_all(writer, *readers)
        assert at_rest(table)


async def test_the_last_reader_lets_the_writer_in():
    """A writer waits for all readers, not only for the first."""
    table = LockTable()
    log = []
    readers = [start(table.hold("k", shared=True), log, n, n * 5) for n in range(1, 4)]
    await turns()
    begin = clock.now()
    async with table.hold("k"):
        assert clock.now() - begin == 15
    await gather_all(*readers)
    assert at_rest(table)


async def test_shared_twice_and_shared_to_exclusive():
    """A task that holds a key and asks for it again, shared or not, gets Reentry, and keeps what it has."""
    table = LockTable("sensors")
    for first in (False, True):
        async with table.hold("k", shared=first) as hold:
            for second in (False, True):
                text = str(await raises_async(Reentry, use(table.hold("k", shared=second))))
                assert "sensors/k" in text
                assert table.try_hold("k", shared=second) is None
                await raises_async(Reentry, use(table.hold_many(("j", "k"), shared=second)))
                assert "j" not in table
            assert hold.held
            assert len(table) == 1
        assert at_rest(table)


async def test_reentry_names_the_task():
    """The message of Reentry names the key and the task that holds it already."""
    table = LockTable("sensors")

    async def display():
        async with table.hold("k"):
            await use(table.hold("k"))

    text = str(await raises_async(Reentry, display()))
    assert "sensors/k" in text

    async def outer():
        await display()

    text = str(await raises_async(Reentry, asyncio.create_task(outer())))
    assert "'outer'" in text


async def test_hold_many_takes_one_order():
    """hold_many() takes its keys in the order of (type name, key), whatever order they are given in."""
    table = LockTable()
    async with table.hold_many(("b", 7, "a", -1)) as hold:
        assert hold.keys == (-1, 7, "a", "b")
        assert len(table) == 4

    # The first key of the order is taken, and the second waited for.
    async with table.hold("b"):
        task = start(table.hold_many(["c", "b", "a"]))
        await turns()
        assert table.waiters("b") == 1
        assert "a" in table
        assert "c" not in table
    await task
    assert at_rest(table)


async def test_hold_many_folds_duplicates():
    """A key that is named twice counts once."""
    table = LockTable()
    async with table.hold_many(["a", "b", "a", "a"]) as hold:
        assert hold.keys == ("a", "b")
        assert len(table) == 2
    assert at_rest(table)


async def test_hold_many_takes_any_collection():
    """Lists, tuples, sets and iterators of keys are good; a string, nothing at all, or no collection is refused."""
    table = LockTable()
    for keys in (["a"], ("a",), {"a"}, iter(["a"]), (k for k in "a")):
        async with table.hold_many(keys) as hold:
            assert hold.keys == ("a",)
    for bad in ("ab", "", 5, None):
        raises(TypeError, lambda: table.hold_many(bad))
    for bad in ([], (), set(), iter(())):
        raises(ValueError, lambda: table.hold_many(bad))
    # Keys that have no order among themselves.
    raises(TypeError, lambda: table.hold_many([(1, 2), (1, "2")]))
    assert at_rest(table)


async def test_hold_many_gives_all_back():
    """If one of the keys cannot be had, by timeout, full queue or cancellation, those taken before are given back."""
    table = LockTable(max_waiters=1)
    holder = start(table.hold("b"), None, None, 50)
    await turns()
    begin = clock.now()
    await raises_async(LockTimeout, use(table.hold_many(["a", "b", "c"], timeout_ms=10)))
    assert clock.now() - begin == 10
    assert [k in table for k in "abc"] == [False, True, False]
    task = start(table.hold_many(["a", "b"]))
    await turns()
    assert "a" in table
    await raises_async(QueueFull, use(table.hold_many(["0", "b"])))
    assert "0" not in table
    task.cancel()
    await raises_async(asyncio.CancelledError, task)
    assert "a" not in table
    await raises_async(DeadlineExceeded, limited(5, table.hold_many(["a", "b"])))
    assert "a" not in table
    await holder
    assert at_rest(table)


async def limited(ms, hold):
    async with deadline(ms), hold:
        pass


async def test_hold_many_has_one_time_for_all():
    """timeout_ms of hold_many() is the time for all keys together."""
    table = LockTable()
    tasks = [start(table.hold(k), None, None, ms) for k, ms in (("a", 20), ("b", 35), ("c", 100))]
    await turns()
    begin = clock.now()
    text = str(await raises_async(LockTimeout, use(table.hold_many(["c", "b", "a"], timeout_ms=50))))
    assert clock.now() - begin == 50
    assert "/c" in text
    await gather_all(*tasks)
    assert at_rest(table)


async def test_hold_many_never_deadlocks():
    """Tasks that take overlapping sets of keys with hold_many(), in any order of naming, all get through."""
    table = LockTable()
    sets = (("a", "b"), ("b", "a"), ("b", "c", "a"), ("c", "a"), ("c", "b"))
    done = []

    async def user(n):
        for i in range(5):
            async with table.hold_many(sets[(n + i) % 5]):
                await turns(i % 2)
        done.append(n)

    assert await gather_all(*[user(n) for n in range(10)]) == [None] * 10
    assert len(done) == 10
    assert at_rest(table)


async def test_no_memory_for_a_hand_over_at_the_gate():
    """Whoever cannot get a line of its key when hold_all ends is told so; the release raises nothing, and others go on."""
    table = LockTable()
    make = table._entry
    log = []

    def no_entry(key):
        if key == "b":
            raise MemoryError("full")
        return make(key)

    everything = table.hold_all()
    await everything.__aenter__()
    ended = asyncio.create_task(gather_all(*[use(table.hold(key), log, key) for key in ("a", "b", "c")]))
    await turns(3)
    assert log == [] and table.waiters("b") == 1
    table._entry = no_entry
    everything.release()
    await turns(8)
    assert ended.done(), "somebody waits for ever"
    a, b, c = await ended
    assert (a, c) == (None, None) and log == ["a", "c"]
    assert isinstance(b, MemoryError) and b.args == ("no memory for the hand-over at the end of hold_all()",)
    table._entry = make
    await use(table.hold("b"), log, "b")
    assert log == ["a", "c", "b"]
    at_rest(table)


async def test_hold_all_is_alone():
    """hold_all() waits for every holder, and while it is in force nobody else has a key."""
    table = LockTable()
    log = []
    holders = [start(table.hold(k), log, k, 5 * (k + 1)) for k in range(3)]
    await turns()
    begin = clock.now()
    async with table.hold_all() as hold:
        assert clock.now() - begin == 15
        assert hold.held
        others = [start(table.hold(k), log, "late") for k in (0, 9)]
        await turns(3)
        assert log == [0, 1, 2]
        assert table.try_hold(5) is None
        log.append("all")
    await gather_all(*(holders + others))
    assert log == [0, 1, 2, "all", "late", "late"]
    assert at_rest(table)


async def test_later_arrivals_queue_behind_hold_all():
    """A task that holds nothing and asks for a free key waits behind a hold_all that waits; order is kept."""
    table = LockTable()
    log = []
    holder = start(table.hold("x"), log, "x", 5)
    await turns()
    tasks = [start(table.hold_all(), log, "all 1")]
    await turns()
    tasks.append(start(table.hold("free"), log, "free"))
    await turns()
    tasks.append(start(table.hold("free"), log, "free too"))
    await turns()
    tasks.append(start(table.hold_all(), log, "all 2"))
    await turns()
    tasks.append(start(table.hold("x"), log, "x again"))
    await turns(2)
    assert log == ["x"]
    await gather_all(holder, *tasks)
    assert log == ["x", "all 1", "free", "free too", "all 2", "x again"]
    assert at_rest(table)


async def test_a_key_holder_passes_a_waiting_hold_all():
    """A task that holds a key gets a further one although a hold_all waits: else the two would wait for each other."""
    table = LockTable()
    async with table.hold("a"):
        task = start(table.hold_all())
        await turns()
        async with table.hold("b"):
            assert not task.done()
            hold = table.try_hold("c")
            assert hold is not None
            hold.release()
        async with table.hold_many(("d", "e")):
            pass
    await task
    assert at_rest(table)


async def test_a_hold_all_that_leaves_lets_the_others_go():
    """When a waiting hold_all times out or is cancelled, those behind it go on at once."""
    table = LockTable()
    for how in ("timeout", "cancel"):
        log = []
        async with table.hold("x"):
            all_of_it = asyncio.create_task(gather_all(use(table.hold_all(timeout_ms=5), log, "all")))
            await turns(2)
            tasks = [start(table.hold(k), log, k) for k in ("a", "b")]
            await turns(2)
            assert log == []
            if how == "cancel":
                all_of_it.cancel()
            else:
                await asyncio.sleep(0.005)
            await turns(3)
            assert log == ["a", "b"]
        await gather_all(all_of_it, *tasks)
        assert at_rest(table)
        await use(table.hold("x", timeout_ms=0))


async def test_waiters_behind_hold_all_that_leave():
    """A task that waits for a key behind hold_all and times out or is cancelled owns nothing, then or later."""
    table = LockTable("t")
    async with table.hold_all():
        task = start(table.hold("a"))
        other = asyncio.create_task(raises_async(LockTimeout, use(table.hold("b", timeout_ms=5))))
        await turns()
        task.cancel()
        text = str(await other)
        assert "t/b" in text
        await raises_async(asyncio.CancelledError, task)
        assert "a" not in table
        assert "b" not in table
    assert at_rest(table)


async def test_hold_all_and_own_keys():
    """hold_all() under an own key, and any key under an own hold_all(), raise Reentry; what is held stays."""
    table = LockTable("sensors")
    async with table.hold("a") as hold:
        assert "sensors" in str(await raises_async(Reentry, use(table.hold_all())))
        assert hold.held
        await use(table.hold("b", timeout_ms=0))
    async with table.hold_all() as hold:
        for ask in (table.hold("a"), table.hold("a", shared=True), table.hold_many(["a", "b"]), table.hold_all()):
            await raises_async(Reentry, use(ask))
        assert table.try_hold("a") is None
        assert hold.held
    assert at_rest(table)


async def test_hold_all_times_out():
    """hold_all(timeout_ms=) raises LockTimeout that names the table and the holder, and leaves nothing behind."""
    table = LockTable("sensors")

    async def display():
        await use(table.hold("a"), None, None, 50)

    task = asyncio.create_task(display())
    await turns()
    begin = clock.now()
    text = str(await raises_async(LockTimeout, use(table.hold_all(timeout_ms=10))))
    assert clock.now() - begin == 10
    for part in ("sensors", "'display'", "10 ms"):
        assert part in text, text
    await raises_async(LockTimeout, use(table.hold_all(timeout_ms=0)))
    await use(table.hold("b", timeout_ms=0))
    await task
    assert at_rest(table)


async def test_a_tag_leaves_the_rest_of_a_hold_alone():
    """With tag= a hold is exclusive unless it is shared, and has its time."""
    table = LockTable(tag=hash_tag)
    async with table.hold("{a}1") as hold:
        assert hold.shared is False
        begin = clock.now()
        for arguments in ((5,), (5, True)):
            await raises_async(LockTimeout, asyncio.create_task(enter_and_leave(table.hold("{a}2", *arguments))))
        assert clock.now() - begin == 10
    async with table.hold("{a}1", shared=True) as hold:
        assert hold.shared is True
        await asyncio.create_task(enter_and_leave(table.hold("{a}2", shared=True)))
        await raises_async(LockTimeout, asyncio.create_task(enter_and_leave(table.hold("{a}2", 5))))


async def test_unhashable_keys_behind_hold_all():
    """TypeError here and now, not in the task that ends hold_all."""
    table = LockTable()
    async with table.hold_all():
        await raises_async(TypeError, asyncio.create_task(enter_and_leave(table.hold([]))))
    assert len(table) == 0


async def test_the_hold_that_a_task_has_of_a_key():
    """What an operation of a bus asks first: of that key and of that task, shared or not, or all of the table."""
    table = LockTable()
    me = asyncio.current_task()

    async def reader():
        async with table.hold("a", shared=True) as mine:
            assert table._hold_of(asyncio.current_task(), "a") is mine
            await turns(3)

    assert table._hold_of(me, "a") is None
    async with table.hold("a") as hold, table.hold(None):
        assert table._hold_of(me, "a") is hold
        assert table._hold_of(me, "b") is None
        assert table._hold_of(object(), "a") is None
    async with table.hold("a", shared=True) as hold:
        task = asyncio.create_task(reader())
        await turns()
        assert table._hold_of(me, "a") is hold
        assert table._hold_of(object(), "a") is None
        await task
    async with table.hold_all() as hold:
        assert table._hold_of(me, "a") is hold
        assert table._hold_of(object(), "a") is None


async def test_hold_many_whose_time_is_over_does_not_wait_for_the_next_key():
    """Granted in time, but the task ran late: the key after that is not waited for, not for a millisecond."""
    table = LockTable()

    async def keeper():
        async with table.hold("a"):
            await asyncio.sleep(0.002)
        clock.advance(10)  # blocks everybody, with the key handed over

    async with table.hold("b"):
        task = asyncio.create_task(keeper())
        await turns()
        begin = clock.now()
        await raises_async(LockTimeout, asyncio.create_task(enter_and_leave(table.hold_many(("a", "b"), 5))))
        assert clock.now() - begin == 12
        await task


async def test_statistics_of_a_lock_without_a_table():
    """The wire of a bus counts its waits too."""
    bus = I2CBus(lambda: None)
    lock = bus._wire
    async with lock:
        task = asyncio.create_task(enter_and_leave(lock))
        await turns()
    await task
    stats = bus.stats()
    assert (stats["wire_waits"], stats["wire_longest_queue"]) == (1, 1)


async def test_max_waiters_of_hold_all():
    """max_waiters bounds the line of hold_all too, with those behind it."""
    table = LockTable(max_waiters=2)
    async with table.hold("a"):
        waiting = [asyncio.create_task(enter_and_leave(hold)) for hold in (table.hold_all(), table.hold("b"))]
        await turns(2)
        results = await asyncio.gather(
            *[enter_and_leave(hold) for hold in (table.hold_all(), table.hold("c"))], return_exceptions=True
        )
        # This task holds a key, so its children are strangers: all of them stand behind hold_all.
        assert [type(result) for result in results] == [QueueFull, QueueFull]
    await asyncio.gather(*waiting)
    assert len(table) == 0


async def enter_and_leave(hold):
    async with hold:
        pass


async def test_hold_all_that_is_cancelled_in_its_hand_over():
    """It holds nothing then, and says so; nor does a key's hold."""
    for make in (lambda table: table.hold_all(), lambda table: table.hold("a")):
        table = LockTable()
        first = table.try_hold("a")
        hold = make(table)
        task = asyncio.create_task(enter_and_leave(hold))
        await turns(2)
        first.release()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert task.done()
        assert not hold.held
        assert len(table) == 0
        raises(NotHeld, hold.release)


async def test_deadlock_of_hold_all_with_one_of_several_holders():
    """hold_all that would wait for a task that waits for its caller's lock: WouldDeadlock, whoever else holds a key."""
    for before in (False, True, None):
        table, lock = LockTable(), Lock("lock")
        log = []

        async def holder():
            async with table.hold("k"):
                await turns(2)
                async with lock:
                    log.append("both")

        async def stranger():
            async with table.hold("other"):
                await turns(20)

        async with lock:
            if before:
                other = asyncio.create_task(stranger())
            task = asyncio.create_task(holder())
            await turns(6)
            if before is False:
                other = asyncio.create_task(stranger())
                await turns(2)
            await raises_async(WouldDeadlock, enter_and_leave(table.hold_all()))
        await task
        if before is not None:  # else it was the only holder
            await other
        assert log == ["both"]
        assert len(table) == 0


async def test_keys_that_were_waited_for_come_before_hold_all():
    """Those who waited for a key when hold_all() was called get it first."""
    table = LockTable()
    log = []
    tasks = [start(table.hold("a"), log, n, 1) for n in range(3)]
    await turns()
    tasks.append(start(table.hold_all(), log, "all"))
    await gather_all(*tasks)
    assert log == [0, 1, 2, "all"]


async def test_timeout_message():
    """LockTimeout names the table, the key, the holder, the time, and the way out."""
    table = LockTable("i2c0")

    async def display():
        await use(table.hold(0x3C), None, None, 50)

    task = asyncio.create_task(display())
    await turns()
    text = str(await raises_async(LockTimeout, use(table.hold(0x3C, timeout_ms=10))))
    for part in ("i2c0", "60", "'display'", "10 ms", "timeout_ms", "pass the session"):
        assert part in text, text
    text = str(await raises_async(LockTimeout, use(table.hold_many([1, 0x3C], timeout_ms=10))))
    for part in ("i2c0/60", "'display'", "10 ms"):
        assert part in text, text
    await task


async def test_timeout_message_of_readers():
    """A writer that times out is told every reader."""
    table = LockTable("t")

    async def one():
        await use(table.hold("k", shared=True), None, None, 50)

    async def two():
        await use(table.hold("k", shared=True), None, None, 50)

    tasks = asyncio.create_task(one()), asyncio.create_task(two())
    await turns()
    text = str(await raises_async(LockTimeout, use(table.hold("k", timeout_ms=10))))
    assert "'one'" in text
    assert "'two'" in text
    await gather_all(*tasks)


async def test_max_waiters_is_per_key():
    """A full line of one key does not concern another."""
    table = LockTable(max_waiters=1)
    tasks = [start(table.hold(k), None, None, 1) for k in "aabb"]
    await turns()
    assert (table.waiters("a"), table.waiters("b")) == (1, 1)
    await raises_async(QueueFull, use(table.hold("a")))
    assert await gather_all(*tasks) == [None] * 4
    assert at_rest(table)


async def test_try_hold():
    """try_hold() returns a hold in force or None, never waits, and never overtakes one that waits."""
    table = LockTable()
    hold = table.try_hold("a")
    assert hold.held
    assert hold.keys == ("a",)
    assert table.try_hold("a") is None
    other = table.try_hold("b")
    other.release()

    async def stranger():
        assert table.try_hold("a") is None
        assert table.try_hold("a", shared=True) is None
        raises(NotHeld, hold.release)

    await asyncio.create_task(stranger())
    task = start(table.hold("a"))
    await turns()
    hold.release()
    assert table.try_hold("a") is None
    raises(NotHeld, hold.release)
    await task
    assert at_rest(table)


async def test_try_hold_shared():
    """try_hold(shared=True) joins other readers, but not when a writer waits."""
    table = LockTable()
    task = start(table.hold("a", shared=True), None, None, 5)
    await turns()
    hold = table.try_hold("a", shared=True)
    assert hold.shared
    assert table.try_hold("a") is None
    hold.release()
    writer = start(table.hold("a"))
    await turns()
    assert table.try_hold("a", shared=True) is None
    await gather_all(task, writer)
    assert at_rest(table)


async def test_try_hold_behind_a_waiting_hold_all():
    """try_hold() of a task that holds nothing fails while a hold_all waits, also for a free key."""
    table = LockTable()
    holder = start(table.hold("x"), None, None, 5)
    await turns()
    task = start(table.hold_all())
    await turns()
    assert table.try_hold("free") is None
    await gather_all(holder, task)
    assert at_rest(table)


def test_hash_tag():
    """The tag is what is between the first { and the first } after it, when not empty; else the whole key."""
    for key, tag in (
        ("{a}b", "a"),
        ("x{a}y{b}", "a"),
        ("{}a", "{}a"),
        ("{}{a}", "{}{a}"),
        ("a}b{c}", "c"),
        ("{a", "{a"),
        ("a}", "a}"),
        ("{{a}}", "{a"),
        ("plain", "plain"),
        ("", ""),
        (7, 7),
        (("{a}",), ("{a}",)),
        (b"{a}", b"{a}"),
    ):
        assert hash_tag(key) == tag


async def test_keys_with_one_tag_lock_together():
    """With tag=hash_tag, keys with the same {tag} are one key, also in hold_many(), `in`, waiters() and try_hold()."""
    table = LockTable(tag=hash_tag)
    async with table.hold("{imu}accel") as hold:
        assert hold.keys == ("imu",)
        assert "gyro{imu}" in table
        assert table.try_hold("{imu}gyro") is None
        await raises_async(Reentry, use(table.hold("{imu}gyro")))
        async with table.hold("{gps}"):
            assert len(table) == 2
        task = start(table.hold_many(["{imu}a", "b{imu}", "other"]))
        await turns()
        assert table.waiters("{imu}") == 1
    await task
    assert at_rest(table)


async def test_a_tag_of_ones_own():
    """`tag` may be any function of the key, and is asked once per key."""
    table = LockTable(tag=lambda key: key // 10)
    async with table.hold_many([123, 125, 250]) as hold:
        assert hold.keys == (12, 25)
        assert 129 in table
        assert 10 not in table
    assert at_rest(table)


async def test_deadlock_over_keys():
    """Two tasks that take two keys one by one, in opposite orders: the second gets WouldDeadlock, spelt out."""
    table = LockTable("t")

    async def first():
        async with table.hold("a"):
            await turns()
            async with table.hold("b"):
                return "done"

    async def second():
        async with table.hold("b"):
            await turns()
            async with table.hold("a"):
                return "done"

    done, error = await gather_all(first(), second())
    assert done == "done"
    assert isinstance(error, WouldDeadlock)
    text = str(error)
    places = [text.find(part) for part in ("'second'", "t/a", "'first'", "t/b")]
    assert -1 not in places
    assert places == sorted(places)
    assert text.rfind("'second'") > places[-1]
    assert at_rest(table)


async def test_deadlock_over_a_lock_and_a_table():
    """A cycle that goes over a Lock and a key is found too, from either side, and with readers in it."""
    for shared in (False, True):
        table = LockTable("t")
        lock = Lock("wire")

        async def first():
            async with lock:
                await turns()
                async with table.hold("k"):
                    return "done"

        async def second():
            async with table.hold("k", shared=shared):
                await turns()
                async with lock:
                    return "done"

        for order in ((first, second), (second, first)):
            done, error = await gather_all(order[0](), order[1]())
            assert done == "done"
            assert isinstance(error, WouldDeadlock)
            for part in ("wire", "t/k", "'first'", "'second'"):
                assert part in str(error), str(error)
            assert at_rest(table)
            assert not lock.locked()


async def test_deadlock_over_hold_all():
    """A task that holds a lock and waits for hold_all(), and a key's holder that wants the lock, are a cycle."""
    table = LockTable("t")
    lock = Lock("wire")

    async def everything():
        async with lock:
            await turns()
            async with table.hold_all():
                return "done"

    async def one():
        async with table.hold("k"):
            await turns(2)
            async with lock:
                return "done"

    done, error = await gather_all(everything(), one())
    assert done == "done"
    assert isinstance(error, WouldDeadlock)
    for part in ("wire", "'everything'", "'one'"):
        assert part in str(error), str(error)
    assert at_rest(table)
    assert not lock.locked()


async def test_no_deadlock_with_a_task_that_was_granted():
    """A task that was handed a key and has not run yet waits for nothing: asking for what it holds is no cycle."""
    table = LockTable()
    lock = Lock()

    async def both():
        async with lock, table.hold("r", shared=True):
            pass

    async with table.hold("r", shared=True):
        writer = start(table.hold("r"))
        await turns()
        task = asyncio.create_task(both())
        await turns(2)
        assert table.waiters("r") == 2
        writer.cancel()
        while table.waiters("r"):
            await turns()
        assert not task.done()
        await use(lock)
    await gather_all(writer, task)
    assert at_rest(table)


async def test_no_deadlock_through_a_key_that_is_only_waited_for_in_order():
    """Readers and writers that wait for one key in line, without holding another, are never taken for a cycle."""
    table = LockTable()
    tasks = [start(table.hold("k", shared=n % 3 > 0), None, None, 1) for n in range(9)]
    assert await gather_all(*tasks) == [None] * 9
    assert at_rest(table)


async def test_statistics():
    """stats() counts waits, timeouts, cancellations and rejections, and knows the longest line and its key."""
    table = LockTable(max_waiters=3)
    fresh = table.stats()
    for name in ("entries", "peak_entries", "waits", "timeouts", "cancellations", "rejections", "stale_holders"):
        assert fresh[name] == 0, name
    assert fresh["longest_queue"] == 0
    assert fresh["longest_queue_key"] is None
    assert sum(fresh["wait_ms"]) == 0
    await use(table.hold("free"))
    assert table.stats()["waits"] == 0

    async with table.hold("a"), table.hold("b"):
        tasks = [start(table.hold("a")) for _ in range(3)] + [start(table.hold("b"))]
        await turns()
        await gather_all(use(table.hold("a")), use(table.hold("b", timeout_ms=5)), use(table.hold("b", timeout_ms=0)))
        tasks[0].cancel()
        await turns()
        stats = table.stats()
        assert stats["entries"] == 2
    await gather_all(*tasks)
    assert stats["rejections"] == 1
    assert stats["timeouts"] == 2
    assert stats["cancellations"] == 1
    assert stats["waits"] == 5
    assert stats["longest_queue"] == 3
    assert stats["longest_queue_key"] == "a"
    stats = table.stats()
    assert stats["entries"] == 0
    assert stats["peak_entries"] == 2
    assert sum(stats["wait_ms"]) == 3


async def test_histogram_of_waiting_times():
    """wait_ms counts waits in powers of two of a millisecond: below 1, below 2, below 4, and so on, the last open."""
    table = LockTable()
    waited = (0, 1, 2, 3, 4, 7, 8, 1000, 16383, 16384, 10000000)
    for ms in waited:
        holder = start(table.hold("k"), None, None, ms)
        await turns()
        await use(table.hold("k"))
        await holder
    counts = table.stats()["wait_ms"]
    assert counts[:5] == [1, 1, 2, 2, 1]
    assert counts[10] == 1
    assert counts[14:] == [1, 2]
    assert sum(counts) == len(waited)


async def test_statistics_keep_no_row_for_a_key():
    """The statistics of many keys are as many numbers as those of one (promise 12)."""
    table = LockTable()

    async def contend(key):
        tasks = [start(table.hold(key)), start(table.hold(key))]
        await gather_all(*tasks)

    def size(stats):
        return sum([len(v) if isinstance(v, list) else 1 for v in stats.values()])

    await contend("k")
    before = size(table.stats())
    for key in range(50):
        await contend(key)
    assert size(table.stats()) == before
    assert table.stats()["waits"] == 51
    assert at_rest(table)


async def test_entries_are_reused():
    """Contention on ever new keys keeps no more than a few entries for later."""
    table = LockTable()
    for key in range(100):
        await gather_all(use(table.hold(key)), use(table.hold(key)))
    assert len(table._pool) == 1
    tasks = [start(table.hold(key // 2)) for key in range(100)]
    await turns()
    assert len(table) == 50
    await gather_all(*tasks)
    assert len(table._pool) < 20
    assert at_rest(table)
