"""stats(): a dict for code, a table for print(); worst values with their key, of tables, buses and lazies."""

import asyncio
import json

import buslock.buscalls as buscalls
from buslock import Lazy, LockTable, LockTimeout, hash_tag
from i2c_rig import A, B, Rig, outcome, rigs, sleep, use_key, use_wire
from support import clock
from support.turns import gather_all, raises_async, turns

CLOCK = "virtual"


async def hold(table, key, ms, timeout_ms=None):
    async with table.hold(key, timeout_ms):
        await sleep(ms)


def shown(stats):
    """{the first words of a row: the rest} of what print() shows; the first line is the title."""
    lines = str(stats).split("\n")
    assert all(line.startswith("  ") and len(line) < 90 for line in lines[1:]), lines
    return lines[0], {line[:26].strip(): line[26:].split() for line in lines[1:]}


async def test_it_is_a_dict():
    """For code: comparing, indexing, copying, json."""
    table = LockTable("sensors")
    stats = table.stats()
    assert isinstance(stats, dict)
    plain = stats.copy()
    assert stats == plain and plain == stats
    assert json.loads(json.dumps(stats)) == plain
    assert "waits" in stats and stats["waits"] == 0 and stats.get("nothing") is None
    assert set(stats) == set(stats.keys()) == set(plain)
    assert repr(stats)[0] == "{"
    await gather_all(hold(table, "k", 2), hold(table, "k", 2))
    assert stats == plain  # as it was
    assert table.stats() != plain
    for of in (Rig().bus.stats(), Lazy(dict).stats()):
        assert isinstance(of, dict) and json.loads(json.dumps(of)) == of


async def test_the_table_that_is_printed():
    """A row for each value, worst values with their key, the waits as bars."""
    table = LockTable("sensors")
    await gather_all(*[hold(table, "k", 5) for _ in range(4)])
    title, rows = shown(table.stats())
    assert title == "sensors"
    assert rows["entries"] == ["0"]
    assert rows["waits"] == ["3"]
    assert rows["longest_queue"] == ["3", "sensors/k"]
    assert rows["longest_wait_ms"][1] == rows["longest_hold_ms"][1] == "sensors/k"
    bars = [key for key in rows if key.startswith("waited")]
    assert len(bars) == 2  # 5 ms; 10 and 15 ms
    assert rows["waited 4 to 7 ms"] == ["1", "#" * 15]
    assert rows["waited 8 to 15 ms"] == ["2", "#" * 30]
    title, rows = shown(LockTable().stats())
    assert title == "table" and rows["longest_queue"] == ["0"]
    assert not [key for key in rows if key.startswith("waited")]


async def test_worst_waits_and_holds():
    """The longest wait, whatever its end, and the longest hold that somebody waited for, with their keys."""
    table = LockTable()
    await gather_all(hold(table, "a", 30), hold(table, "b", 10))
    stats = table.stats()
    assert stats["longest_wait_ms"] == stats["longest_hold_ms"] == 0  # nobody waited, so nobody took the time
    assert stats["longest_wait_key"] is stats["longest_hold_key"] is None
    # From the arrival of the first who waited; then from the hand-over, exactly.
    await gather_all(hold(table, "a", 10), hold(table, "a", 25), hold(table, "a", 1))
    stats = table.stats()
    assert 34 <= stats["longest_wait_ms"] <= 37
    assert 24 <= stats["longest_hold_ms"] <= 27
    assert stats["longest_wait_key"] == stats["longest_hold_key"] == "a"
    task = asyncio.create_task(hold(table, "b", 100))
    await turns(2)
    await raises_async(LockTimeout, hold(table, "b", 0, 60))
    stats = table.stats()
    assert 59 <= stats["longest_wait_ms"] <= 62 and stats["longest_wait_key"] == "b"
    assert 59 <= stats["longest_hold_ms"] <= 62 and stats["longest_hold_key"] == "b"
    await task
    # A key that was free in between begins anew.
    await sleep(500)
    await gather_all(hold(table, "b", 10), hold(table, "b", 1))
    assert table.stats()["longest_hold_ms"] <= 62


async def test_shared_holds_and_hold_all():
    """Nothing is counted for a key that hold_all waits for; readers are one hold."""
    table = LockTable(tag=hash_tag)

    async def read(ms):
        async with table.hold("k", shared=True):
            await sleep(ms)

    await gather_all(read(5), read(20), hold(table, "k", 1))
    assert 19 <= table.stats()["longest_hold_ms"] <= 22

    async def everything():
        async with table.hold_all():
            await sleep(40)

    await gather_all(hold(table, "k", 30), everything(), hold(table, "k", 1))
    stats = table.stats()
    assert 69 <= stats["longest_wait_ms"] <= 73 and stats["longest_wait_key"] == "k"
    assert stats["longest_hold_ms"] <= 22
    assert len(table) == 0


async def test_the_wire():
    """Waits for the wire, and the device with whose hold it was taken."""
    for rig in rigs(("rp2", "circuitpython")):
        a, b = rig.bus.device(A), rig.bus.device(B)
        task = asyncio.create_task(use_wire(a, 30))
        await turns(2)
        await raises_async(LockTimeout, b.read_register(1, 1, timeout_ms=10))
        await b.read_register(1, 1)
        await task
        stats = rig.bus.stats()
        assert stats["waits"] == 0
        assert stats["wire_waits"] == 2 and stats["wire_timeouts"] == 1 and stats["wire_longest_queue"] == 1
        assert 17 <= stats["wire_longest_wait_ms"] <= 22
        assert stats["wire_longest_wait_key"] == A
        title, rows = shown(stats)
        assert title == "i2c"
        assert rows["wire_longest_wait_ms"][1] == "i2c/0x10"
        rig.bus.reset()
        assert rig.bus.stats()["wire_waits"] == 2
        await b.read_register(1, 1)
        rig.check()


async def test_the_wire_of_the_whole_bus():
    """A driver's try_lock() under hold_all has the wire for no device in particular."""
    for rig in rigs(("rp2",)):
        async with rig.bus.hold_all():
            assert rig.bus.as_busio().try_lock()
            task = asyncio.create_task(rig.bus.scan())
            await turns(2)
            clock.advance(20)
        assert A in await task
        stats = rig.bus.stats()
        assert stats["wire_longest_wait_ms"] >= 20
        assert stats["wire_longest_wait_key"] is None
        rig.check()


async def test_the_wire_behind_no_hold():
    """What has the wire by itself, as a recovery or an exchange, has no device's key."""
    for rig in rigs(("rp2",)):
        b = rig.bus.device(B)
        await b.read_register(1, 1)
        task = asyncio.create_task(b.read_register(1, 1, timeout_ms=50))
        await rig.bus._wire.acquire()
        await turns(2)
        clock.advance(20)
        rig.bus._wire.release()
        await task
        stats = rig.bus.stats()
        assert stats["wire_longest_wait_ms"] >= 20
        assert stats["wire_longest_wait_key"] is None
        rig.check()


async def test_calls():
    """The longest call of each device, by its address; and of them all."""
    real = buscalls.ticks_us, buscalls.ticks_diff_us
    buscalls.ticks_us, buscalls.ticks_diff_us = clock.now_us, lambda end, start: end - start
    try:
        for rig in rigs(("rp2",)):
            assert rig.bus.stats()["longest_calls_ms"] == {}
            for addr, ms in ((A, 12), (B, 25), (A, 3)):
                await rig.bus.call(addr, clock.advance, ms)
            stats = rig.bus.stats()
            assert stats["longest_calls_ms"] == {"i2c/0x10": 12, "i2c/0x11": 25}
            assert stats["longest_call_ms"] == 25 and stats["longest_call_key"] == "i2c/0x11"
            assert str(stats).count("longest_calls_ms") == 2
            rig.check()
    finally:
        buscalls.ticks_us, buscalls.ticks_diff_us = real


async def test_buses_and_what_they_count():
    """Every counter that is named is there from the start, and printed."""
    rig = Rig()
    stats = rig.bus.stats()
    names = "entries waits timeouts cancellations rejections nacks retries recoveries longest_queue longest_hold_ms "
    names += "longest_wait_ms longest_calls_ms wait_ms wire_waits wire_timeouts"
    for name in names.split(" "):
        assert not stats[name] or not any(stats[name]), name
    await outcome(rig.bus.read_register(0x55, 1, 1))
    assert shown(rig.bus.stats())[1]["nacks"] == ["1"]
    await gather_all(use_key(rig.bus.device(A), 2), use_key(rig.bus.device(A), 2))
    assert shown(rig.bus.stats())[1]["longest_queue"] == ["1", "i2c/0x10"]
    rig.check()


async def test_lazies():
    """State, calls, failures and the time of the last; a time that is not there yet is a dash."""

    async def make():
        await sleep(7)
        return 5

    lazy = Lazy(make)
    assert shown(lazy.stats())[1]["last_ms"] == ["-"]
    await lazy.get()
    title, rows = shown(lazy.stats())
    assert title == "make"
    assert rows == {"state": ["ready"], "calls": ["1"], "failures": ["0"], "last_ms": [str(lazy.stats()["last_ms"])]}
    assert 6 <= lazy.stats()["last_ms"] <= 9


async def test_of_two_lines_of_one_length_the_first_is_named():
    table = LockTable()

    async def user(key):
        async with table.hold(key):
            await turns(3)

    for key in ("a", "b"):
        for task in [asyncio.create_task(user(key)) for _ in range(3)]:
            await task
    stats = table.stats()
    assert (stats["longest_queue"], stats["longest_queue_key"]) == (2, "a")
