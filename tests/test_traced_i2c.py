"""What a traced I2CBus tells: each event, in each situation, of whom and for which key."""

import asyncio

from buslock import DeadlineExceeded, I2CBus, LockTimeout, NoAck, NotHeld, QueueFull, Reentry, Trace, deadline, hold
from buslock_sim import Multiplexer
from i2c_rig import NOBODY, PORTS, A, B, Counter, cancel, outcome, rigs, sleep, use_key, use_wire
from support.turns import gather_all, raises_async, turns
from trace_rig import Dump, events, told, traced, transfer, used

CLOCK = "virtual"


async def test_operations():
    """Each operation: key, wire, transfer with its length, and back, on every kind of port."""
    for port in PORTS:
        trace, rig = traced(port=port)
        device = rig.bus.device(A)
        busio = rig.busio
        for operation, length in (
            (lambda: device.read_register(1, 3), 4 if busio else 3),
            (lambda: device.read_register_into(1, bytearray(5)), 6 if busio else 5),
            (lambda: device.write_register(1, b"ab"), 3),
            (lambda: device.read(2), 2),
            (lambda: device.readinto(bytearray(4)), 4),
            (lambda: device.write(b"\x01", b"xyz"), 4),
            (lambda: device.write(b"\x01\x02"), 2),
            (lambda: device.write_then_read(b"\x01", 3), 4 if busio else 3),
            (lambda: rig.bus.read_register(A, 1, 1), 2 if busio else 1),
        ):
            await operation()
            assert told(trace) == used(length), port
        await device.update_register(1, 0x0F, 5)
        wire = told(trace, "wire")
        # Two transfers that nobody can come between.
        assert [text.split(" ")[0] for text in wire] == ["grant", "start", "end", "release"] * 2
        await device.update_register(1, 0x0F, 5, timeout_ms=100)
        wire = told(trace, "wire")
        assert [text.split(" ")[0] for text in wire] == ["grant", "start", "end", "start", "end", "release"]
        rig.check()


async def test_a_trace_changes_no_result():
    """What operations return, and what they raise, is the same."""
    results = []
    for trace in (None, Trace()):
        found = []
        for rig in rigs(trace=trace):
            device = rig.bus.device(A, addrsize=16) if rig.port != "esp8266" else rig.bus.device(A)
            for awaitable in (
                device.read_register(1, 3),
                device.write_register(2, 7),
                device.read_register(2, 1),
                device.write_then_read(b"\x00\x01\x02\x03\x04\x05", 2),
                device.probe(),
                rig.bus.read_register(NOBODY, 1, 1),
                rig.bus.scan(),
                device.read_register(-1, 1),
                device.read(0),
                device.write(""),
            ):
                found.append(await outcome(awaitable))
            rig.check()
        results.append([repr(x) for x in found])
    assert results[0] == results[1]


async def test_an_error_is_the_result_of_its_transfer():
    """The errno of the port, and everything is given back."""
    for port in PORTS:
        trace, rig = traced(port=port)
        error = await raises_async(NoAck, rig.bus.read_register(NOBODY, 0, 1))
        assert told(trace) == used(2 if rig.busio else 1, key="i2c0/0x3c", error=error.args[0])
        rig.check()


async def test_errors_without_a_number():
    """-1 where an exception has no errno; and the exception is the peripheral's own."""
    mine = ZeroDivisionError("mine")

    class Broken:
        def readfrom_mem(self, *args):
            raise mine

    trace = Trace()
    bus = I2CBus(Broken(), name="i2c0", trace=trace)
    trace.name("main")
    assert await raises_async(ZeroDivisionError, bus.read_register(A, 1, 1)) is mine
    assert events(trace) == used(1, error=-1)


async def test_sessions():
    """Under a hold: the key once, the wire for each transfer; with wire=True the wire once."""
    trace, rig = traced()
    device = rig.bus.device(A)
    async with device.hold() as session:
        await session.read_register(1, 2)
        await session.write_register(1, 2)
    key = "i2c0/0x10 main"
    assert told(trace) == ["grant " + key] + transfer(2) + transfer(2) + ["release " + key]
    async with device.hold(wire=True) as session:
        await session.read_register(1, 2)
        await session.read_register(1, 2)
    assert told(trace) == ["grant " + key, "grant i2c0 wire main"] + 2 * transfer(2)[1:3] + [
        "release i2c0 wire main",
        "release " + key,
    ]
    async with device.hold():
        await device.read_register(1, 2)  # under the task's own hold
    assert told(trace) == ["grant " + key] + transfer(2) + ["release " + key]
    rig.check()


async def test_waiting():
    """wait says how many are before; the grant comes with the release, and times are those of the clock."""
    trace, rig = traced()
    device = rig.bus.device(A)

    async def holder():
        await use_key(device, 5)

    async def second():
        await use_key(device, 3)

    async def third():
        await device.read_register(1, 2)

    await gather_all(holder(), second(), third())
    key = "i2c0/0x10 "
    dump = Dump(trace)
    assert dump.short() == [
        "grant " + key + "holder",
        "wait " + key + "second 0",
        "wait " + key + "third 1",
        "release " + key + "holder",
        "grant " + key + "second",
        "release " + key + "second",
        "grant " + key + "third",
    ] + transfer(2, "third") + ["release " + key + "third"]
    if dump.header["unit"] == "us":
        at = [event[0] for event in dump.events]
        assert 4000 <= at[3] <= 6500 and at[4] - at[3] < 1000
        assert 2000 <= at[5] - at[4] <= 4500
    rig.check()


async def test_waiting_for_the_wire():
    """Another key, the same wire."""
    trace, rig = traced()

    async def display():
        await use_wire(rig.bus.device(A), 5)

    async def sensor():
        await rig.bus.read_register(B, 1, 2)

    await gather_all(display(), sensor())
    wire = "i2c0 wire "
    assert told(trace, "wire") == [
        "grant " + wire + "display",
        "wait " + wire + "sensor 0",
        "release " + wire + "display",
        "grant " + wire + "sensor",
        "start " + wire + "sensor 2",
        "end " + wire + "sensor 0",
        "release " + wire + "sensor",
    ]
    rig.check()


async def test_timeouts():
    """A wait that ends in vain; and one that may not begin."""
    trace, rig = traced()
    device = rig.bus.device(A)
    task = asyncio.create_task(use_key(device, 50))
    await turns(2)
    told(trace)
    await raises_async(LockTimeout, device.read_register(1, 2, timeout_ms=5))
    await raises_async(LockTimeout, device.read_register(1, 2, timeout_ms=0))
    key = "i2c0/0x10 main"
    assert told(trace) == ["wait " + key + " 0", "timeout " + key, "reject " + key]
    await task
    task = asyncio.create_task(use_wire(device, 50))
    await turns(2)
    told(trace)
    await raises_async(LockTimeout, rig.bus.read_register(B, 1, 2, timeout_ms=5))
    assert told(trace) == [
        "grant i2c0/0x11 main",
        "wait i2c0 wire main 0",
        "timeout i2c0 wire main",
        "release i2c0/0x11 main",
    ]
    await task
    rig.check()


async def test_a_full_line():
    """QueueFull is a reject, too."""
    trace, rig = traced(max_waiters=1)
    device = rig.bus.device(A)
    tasks = [asyncio.create_task(use_key(device, 5)) for _ in range(2)]
    await turns(2)
    told(trace)
    await raises_async(QueueFull, device.read_register(1, 2))
    assert told(trace) == ["reject i2c0/0x10 main"]
    await gather_all(*tasks)
    rig.check()


async def test_cancels():
    """In line, and after the hand-over: what was granted is released before the wait is over."""
    trace, rig = traced()
    device = rig.bus.device(A)
    key = "i2c0/0x10 "

    async def waiter():
        await device.read_register(1, 2)

    async with device.hold():
        task = asyncio.create_task(waiter())
        await turns(2)
        await cancel(task)
        assert told(trace) == ["grant " + key + "main", "wait " + key + "waiter 0", "cancel " + key + "waiter"]
        task = asyncio.create_task(waiter())
        await turns(2)
    await cancel(task)  # it was handed over already
    assert told(trace) == [
        "wait " + key + "waiter 0",
        "release " + key + "main",
        "grant " + key + "waiter",
        "release " + key + "waiter",
        "cancel " + key + "waiter",
    ]
    task = asyncio.create_task(use_key(device, 50))
    await turns(2)
    told(trace)

    async def late():
        async with deadline(5):
            await device.read_register(1, 2)

    await raises_async(DeadlineExceeded, late())
    assert told(trace) == ["wait " + key + "main 0", "cancel " + key + "main"]
    await task
    rig.check()


async def test_hold_all():
    """It waits for every holder; later arrivals wait for their own key behind it."""
    trace, rig = traced()
    device = rig.bus.device(A)
    everything = "all of i2c0 "

    async def holder():
        await use_key(device, 5)

    async def all_of_it():
        async with rig.bus.hold_all() as regs:
            await regs.read_register(B, 1, 2)

    async def later():
        await rig.bus.read_register(B, 1, 2)

    await gather_all(holder(), all_of_it(), later())
    assert told(trace, "key", "all") == [
        "grant i2c0/0x10 holder",
        "wait " + everything + "all_of_it 0",
        "wait i2c0/0x11 later 1",
        "release i2c0/0x10 holder",
        "grant " + everything + "all_of_it",
        "release " + everything + "all_of_it",
        "grant i2c0/0x11 later",
        "release i2c0/0x11 later",
    ]
    async with rig.bus.hold_all():
        pass
    assert told(trace) == ["grant " + everything + "main", "release " + everything + "main"]
    task = asyncio.create_task(holder())
    await turns(2)
    told(trace)
    await raises_async(LockTimeout, enter(rig.bus.hold_all(timeout_ms=0)))
    await raises_async(LockTimeout, enter(rig.bus.hold_all(timeout_ms=2)))
    assert told(trace) == [
        "reject " + everything + "main",
        "wait " + everything + "main 0",
        "timeout " + everything + "main",
    ]
    await task
    rig.check()


async def enter(hold):
    async with hold:
        pass


async def test_several_devices():
    """hold() of several: each key by itself, in the order in which they are taken; released together."""
    trace, rig = traced()
    async with rig.bus.hold(B, A) as regs:
        await regs.read_register(B, 1, 2)
    a, b = "i2c0/0x10 main", "i2c0/0x11 main"
    assert told(trace) == ["grant " + a, "grant " + b] + transfer(2) + ["release " + b, "release " + a]

    async def holder():
        await use_key(rig.bus.device(B), 5)

    task = asyncio.create_task(holder())
    await turns(2)
    told(trace)
    async with hold(rig.bus.device(A), rig.bus.device(B)):
        pass
    holder_b = "i2c0/0x11 holder"
    assert told(trace) == [
        "grant " + a,
        "wait " + b + " 0",
        "release " + holder_b,
        "grant " + b,
        "release " + b,
        "release " + a,
    ]
    await task
    rig.check()


async def test_readers():
    """Shared holds overlap: several grants, and each its release."""
    trace, rig = traced()

    async def reader():
        txn = rig.bus.transaction()
        txn.read_register(A, 1, 2)
        await txn.execute()
        async with rig.bus.hold(A) as regs:
            await regs.read_register(A, 1, 2)

    await gather_all(reader(), reader())
    found = told(trace, "key")
    assert len([text for text in found if text.startswith("grant")]) == 4
    assert len([text for text in found if text.startswith("release")]) == 4
    shared = rig.bus._table.hold("x", shared=True), rig.bus._table.hold("x", shared=True)

    async def read(hold):
        async with hold:
            await sleep(2)

    rig.bus._show = lambda key: key
    await gather_all(read(shared[0]), read(shared[1]))
    assert [text.split(" ")[0] for text in told(trace, "key")] == ["grant", "grant", "release", "release"]
    rig.check()


async def test_a_hold_that_is_entered_again():
    """It is refused, and no event."""
    trace, rig = traced()
    hold = rig.bus._table.hold(A)
    async with hold:
        await raises_async(Reentry, enter(hold))
        hold.release()
    await raises_async(NotHeld, enter(hold))
    assert told(trace) == ["grant i2c0/0x10 main", "release i2c0/0x10 main"]
    rig.check()


async def test_a_hold_that_is_released_early():
    """Released by hand, by another task when the holder has ended, or twice: one release."""
    trace, rig = traced()
    device = rig.bus.device(A)
    a = device.hold()
    async with a:
        a.release()
        assert told(trace) == ["grant i2c0/0x10 main", "release i2c0/0x10 main"]
    assert told(trace) == []

    async def leave():
        hold = device.hold()
        await hold.__aenter__()
        return hold

    left = await asyncio.create_task(leave())
    left.release()
    assert told(trace) == ["grant i2c0/0x10 leave", "release i2c0/0x10 leave"]
    rig.check()


async def test_probe_and_scan():
    trace, rig = traced()
    assert await rig.bus.device(A).probe()
    assert told(trace) == used(0)
    assert not await rig.bus.device(NOBODY).probe()
    assert told(trace) == used(0, key="i2c0/0x3c", error=19)  # as the simulated rp2 says
    await rig.bus.scan()
    assert told(trace) == transfer(0)
    rig.check()


async def test_retries():
    """Each try is a transfer, the wire is free in between."""
    trace, rig = traced()
    device = rig.bus.device(A, retries=2)
    rig.a.fail_nth("nack", 0)
    await device.read_register(1, 2)
    found = told(trace, "wire")
    assert found[:2] == transfer(2)[:2] and found[4:] == transfer(2)
    assert found[2] == "end i2c0 wire main 5" and found[3] == "release i2c0 wire main"
    rig.check()


async def test_a_write_without_stop():
    """It keeps the wire until the transfer with the STOP."""
    trace, rig = traced()
    async with rig.bus.device(A).hold() as session:
        await session.write(b"\x05", stop=False)
        await session.read(2)
    wire = "i2c0 wire main"
    assert told(trace, "wire") == [
        "grant " + wire,
        "start %s 1" % wire,
        "end %s 0" % wire,
        "start %s 2" % wire,
        "end %s 0" % wire,
        "release " + wire,
    ]
    rig.check()


async def test_multiplexer():
    """Keys behind a multiplexer show the way; its control byte is a transfer."""
    trace, rig = traced()
    mux = rig.wire.attach(0x70, Multiplexer())
    mux.channel(2).attach(0x33, Counter(bytes(range(256))))
    channel = rig.bus.mux(0x70).channel(2)
    await rig.bus.read_register(A, 1, 1)  # on CPython the first one takes the long way, as it may come from any thread
    told(trace)
    assert await channel.device(0x33).read_register(1, 2) == b"\x01\x02"
    key = "i2c0/0x70.2/0x33"
    assert told(trace) == transfer(1) + used(2, key=key)
    await channel.device(0x33).read_register(1, 2, timeout_ms=100)
    assert told(trace) == used(2, key=key)
    async with channel.hold(0x33) as regs:
        await regs.read_register(0x33, 1, 2)
    assert told(trace) == ["grant %s main" % key] + transfer(2) + ["release %s main" % key]
    rig.check()
