"""What a traced bus tells of making, set-up, recovery, closing, reset, drivers' calls; and that nothing else changes."""

import asyncio

from buslock import BusStuck, I2CBus, LockTimeout, SPIBus, Trace, TransferError
from buslock_sim import I2C, SPI, Pin, RegisterFile, SpiWire, Wire
from i2c_rig import MEMORY, PORTS, A, B, Rig, outcome, sleep, use_key
from spi_rig import Echo
from support import clock
from support.small import SMALL
from support.turns import gather_all, raises_async, turns
from trace_rig import Dump, told, traced, transfer, used

CLOCK = "virtual"
LEFT_OUT = {
    "pico": {
        "deeper calls than a Pico's stack has room for, with a driver, its look-alike and a simulated bus": (
            "test_a_call",
        ),
        "more memory than a Pico has: the dump of a random program, taken to pieces beside two buses and their chips": (
            "test_holds_and_releases_pair",
        ),
    }
}

MAKING = "making of i2c0"
SET_UP = "set-up of i2c0/0x10"
# Of random programs, whose logs are kept twice.
PROGRAMS, TASKS, STEPS = (4, 4, 6) if SMALL else (12, 8, 12)


async def test_the_peripheral_is_made():
    """By a function at once, or by an async one in a task that has the name of what it does."""
    trace, rig = traced(factory="sync")
    await rig.bus.read_register(A, 1, 2)
    assert told(trace) == ["making %s main" % MAKING, "ready %s main" % MAKING] + used(2)
    rig.check()
    trace, rig = traced(factory="async")
    await rig.bus.read_register(A, 1, 2)
    assert told(trace) == ["making %s main" % MAKING, "ready %s %s" % (MAKING, MAKING)] + used(2)
    rig.check()


async def test_the_making_fails():
    """failed, and making again at the next use; a cancelled making has failed, too."""
    trace = Trace()
    trace.name("main")
    bus = I2CBus(lambda: 1 // 0, name="i2c0", trace=trace)
    for _ in range(2):
        await raises_async(ZeroDivisionError, bus.read_register(A, 1, 2))
        assert told(trace) == ["making %s main" % MAKING, "failed %s main" % MAKING]

    async def slow():
        await sleep(1000)

    bus = I2CBus(slow, name="i2c0", trace=trace)
    task = asyncio.create_task(outcome(bus.read_register(A, 1, 2)))
    await turns(3)
    await bus.aclose()
    await task
    found = told(trace, "lazy")
    assert [text.split(" ")[0] for text in found] == ["making", "failed"]


async def test_set_up():
    """Its task has its name; key and transfers are its own. Under a hold it runs in the holder's task."""
    for own in (False, True):
        trace, rig = traced()

        async def setup(session):
            await session.write_register(1, 2)

        device = rig.bus.device(A, setup=setup)
        if own:
            async with rig.bus.hold_all() as regs:
                await regs.read_register(A, 1, 2)
        else:
            await device.read_register(1, 2)
        task = "main" if own else SET_UP
        expected = ["making %s %s" % (SET_UP, task)] + transfer(2, task) + ["ready %s %s" % (SET_UP, task)]
        if own:
            expected = ["grant all of i2c0 main"] + expected + transfer(2) + ["release all of i2c0 main"]
        else:
            expected = ["grant i2c0/0x10 " + task] + expected + ["release i2c0/0x10 " + task] + used(2)
        assert told(trace) == expected
        rig.check()


async def test_a_set_up_that_fails():
    trace, rig = traced()

    async def setup(session):
        raise OSError(77, "mine")

    device = rig.bus.device(A, setup=setup)
    error = await raises_async(OSError, device.read_register(1, 2))
    assert error.args == (77, "mine")
    assert told(trace, "lazy") == ["making %s %s" % (SET_UP, SET_UP), "failed %s %s 77" % (SET_UP, SET_UP)]
    rig.check()


async def test_recovery():
    """recover() and a recovery before the next transfer: between the two the peripheral is made anew."""
    for port, factory in (("rp2", "sync"), ("numbered", None)):
        trace, rig = traced(port=port, factory=factory, pins=True)
        await rig.bus.read_register(B, 1, 2)
        told(trace)
        anew = ["making %s main" % MAKING, "ready %s main" % MAKING] if factory else []
        anew = ["recover i2c0 main"] + anew + ["recovered i2c0 main 0"]
        await rig.bus.recover()
        assert told(trace) == ["grant i2c0 wire main"] + anew + ["release i2c0 wire main"]
        rig.a.hold_sda(3)
        await raises_async(TransferError, rig.bus.read_register(A, 1, 2))
        rig.a.hold_sda(3)
        told(trace)
        await rig.bus.read_register(A, 1, 2)
        assert told(trace, "bus", "lazy") == anew
        await rig.bus.read_register(A, 1, 2)
        assert told(trace) == used(2)  # the peripheral that was made anew is traced, too
        rig.check()


async def test_a_recovery_that_fails():
    """Its errno."""
    trace, rig = traced(factory="sync", pins=True)
    await rig.bus.read_register(B, 1, 2)
    rig.a.hold_sda(1 << 20)
    told(trace)
    await raises_async(BusStuck, rig.bus.recover())
    assert told(trace, "bus") == ["recover i2c0 main", "recovered i2c0 main 5"]
    rig.a.recover()
    await rig.bus.recover()
    assert told(trace, "bus") == ["recover i2c0 main", "recovered i2c0 main 0"]
    rig.check()


async def test_closing():
    """It waits for the holders; those who wait for the bus are let go."""
    for factory in (None, "sync"):
        trace, rig = traced(factory=factory)
        device = rig.bus.device(A)
        await device.read_register(1, 2)

        async def holder(device=device):
            await use_key(device, 5)

        async def waiter(device=device):
            await outcome(device.read_register(1, 2))

        tasks = [asyncio.create_task(holder()), asyncio.create_task(waiter())]
        await turns(2)
        told(trace)
        await rig.bus.aclose()
        await gather_all(*tasks)
        everything = "all of i2c0 main"
        assert told(trace) == [
            "close i2c0 main",
            "wait %s 0" % everything,
            "cancel i2c0/0x10 waiter",
            "release i2c0/0x10 holder",
            "grant " + everything,
            "grant i2c0 wire main",
            "release i2c0 wire main",
            "release " + everything,
            "closed i2c0 main",
        ]
        await device.read_register(1, 2)
        assert told(trace)[-6:] == used(2)
        rig.check()


async def test_a_close_in_vain():
    trace, rig = traced()
    task = asyncio.create_task(use_key(rig.bus.device(A), 20))
    await turns(2)
    await raises_async(LockTimeout, rig.bus.aclose(timeout_ms=3))
    assert told(trace, "bus") == ["close i2c0 main", "closed i2c0 main -1"]
    await task
    rig.check()


async def test_reset():
    """Holds end with reset(), whatever becomes of them later; after it everything is traced as before."""
    trace, rig = traced()
    device = rig.bus.device(A)

    async def holder():
        async with device.hold(wire=True):
            await sleep(5)

    async def waiter():
        await outcome(device.read_register(1, 2))

    tasks = [asyncio.create_task(holder()), asyncio.create_task(waiter())]
    await turns(2)
    told(trace)
    rig.bus.reset()
    assert told(trace) == ["release i2c0/0x10 holder", "release i2c0 wire holder"]
    await device.read_register(1, 2)
    await gather_all(*tasks)
    found = told(trace)
    assert found.index("cancel i2c0/0x10 waiter") >= 0
    found.remove("cancel i2c0/0x10 waiter")
    assert found == ["grant i2c0 wire main", "release i2c0 wire main"] + used(2)  # it is cleaned first
    before = rig.bus._table.hold(A), rig.bus._table.hold_all()
    rig.bus.reset()
    for hold in before:
        async with hold:
            pass
    assert told(trace) == []  # that table is nobody's any more
    await device.read_register(1, 2)
    told(trace)
    async with rig.bus.hold_all():
        rig.bus.reset()
    assert told(trace) == ["grant all of i2c0 main", "release all of i2c0 main"]
    rig.check()


async def test_reset_while_closing():
    """The wire that the close has had ends with the reset, and not once more when the close is over."""

    async def close(i2c):
        await sleep(10)

    trace, rig = traced(factory="sync", close=close)
    await rig.bus.read_register(A, 1, 2)
    told(trace)
    task = asyncio.create_task(rig.bus.aclose())
    await sleep(5)
    assert told(trace, "wire") == ["grant i2c0 wire aclose"]
    rig.bus.reset()
    assert told(trace) == ["release all of i2c0 aclose", "release i2c0 wire aclose"]
    await task
    assert told(trace) == ["closed i2c0 aclose"]
    rig.check()


async def test_a_call():
    """call(): key and wire, the driver's transfers by its look-alike, and how long it has blocked."""
    for port in PORTS:
        trace, rig = traced(port=port)
        i2c = rig.bus.as_machine()

        def driver(i2c=i2c):
            clock.advance(7)
            i2c.writeto(A, b"\x05")
            return i2c.readfrom(A, 2)

        assert await rig.bus.call(A, driver) == b"\x05\x06"
        found = Dump(trace)
        blocks = [event for event in found.events if event[1] == "block"]
        assert len(blocks) == 1 and (found.header["unit"] == "ms" or 7 <= blocks[0][4] < 9)
        found = told(trace)
        block = [text for text in found if text.startswith("block")][0]
        assert block.startswith("block i2c0/0x10 main ")
        wire = transfer(1)[1:3] + transfer(2)[1:3]
        assert found == ["grant i2c0/0x10 main", "grant i2c0 wire main"] + wire + [
            block,
            "release i2c0 wire main",
            "release i2c0/0x10 main",
        ]
        rig.check()


async def test_a_call_that_raises():
    trace, rig = traced()
    await raises_async(ZeroDivisionError, rig.bus.call(A, lambda: 1 // 0))
    found = told(trace)
    assert found[2].startswith("block i2c0/0x10 main ") and len(found) == 5
    rig.check()


async def test_a_look_alike_without_a_hold():
    """A single call takes nothing, and is told as if it had, like an operation that nobody hinders."""
    trace, rig = traced()
    assert rig.bus.as_machine().readfrom_mem(A, 5, 2) == b"\x05\x06"
    rig.bus.as_machine().writeto_mem(A, 5, b"\x05")
    assert told(trace) == used(2) + used(1)
    # Register addresses of 16 bits go to the peripheral as they are.
    buf = bytearray(2)
    rig.bus.as_machine().writeto_mem(MEMORY, 0x0101, b"\x07\x08", addrsize=16)
    await sleep(10)
    rig.bus.as_machine().readfrom_mem_into(MEMORY, 0x0101, buf, addrsize=16)
    assert buf == b"\x07\x08"
    assert told(trace) == used(2, key="i2c0/0x50") * 2
    async with rig.bus.device(A).hold():
        rig.bus.as_machine().readfrom_mem(A, 5, 2)
    assert told(trace) == ["grant i2c0/0x10 main"] + transfer(2) + ["release i2c0/0x10 main"]
    rig.check()
    # What is wrong with an argument is said by the peripheral, not by the trace.
    plain = Rig()
    for arguments in ((A, None), (A, "x"), (A, -1), (A, 1.5)):
        errors = []
        for bus in (plain.bus, rig.bus):
            try:
                bus.as_machine().readfrom(*arguments)
                errors.append(None)
            except Exception as error:
                errors.append(repr(error))
        assert errors[0] == errors[1]
    rig.wire.transcript.clear()


async def test_try_lock():
    """busio's lock as a look-alike has it is the wire."""
    trace, rig = traced(port="circuitpython")
    i2c = rig.bus.as_busio()
    assert i2c.try_lock()
    i2c.writeto(A, b"\x05")
    i2c.unlock()
    assert told(trace) == transfer(1)
    async with rig.bus.device(A).hold(wire=True):
        assert i2c.try_lock()  # it has the wire already
        i2c.unlock()
        assert not rig.bus._wire.try_acquire()
    assert told(trace, "wire") == ["grant i2c0 wire main", "release i2c0 wire main"]
    rig.check()


async def test_the_ports_own_lock():
    """While code outside has it there is no transfer, and so none that fails."""
    trace, rig = traced(port="circuitpython")
    raw = rig.made[-1]
    assert raw.try_lock()
    task = asyncio.create_task(rig.bus.read_register(A, 1, 2))
    await sleep(5)
    raw.unlock()
    await task
    found = told(trace, "wire")
    assert [text.split(" ")[0] for text in found] == ["grant", "start", "end", "release"]
    rig.check()


async def test_two_buses():
    """One trace, two buses: the order of what happens on both, and each key knows its bus."""
    trace, rig = traced()
    other = Rig(trace=trace, name="i2c1")
    await rig.bus.read_register(A, 1, 2)
    await other.bus.read_register(A, 1, 2)
    dump = Dump(trace)
    assert dump.short() == used(2) + [text.replace("i2c0", "i2c1") for text in used(2)]
    assert sorted(dump.buses.values()) == ["", "i2c0", "i2c1"]
    rig.check()
    other.check()


async def test_buses_of_one_name():
    trace, rig = traced()
    other = Rig(trace=trace, name="i2c0")
    await rig.bus.read_register(A, 1, 2)
    await other.bus.read_register(A, 1, 2)
    dump = Dump(trace)
    assert len(dump.buses) == 3 and len(dump.keys) == 4
    assert dump.short() == used(2) + used(2)


class Lots:
    """The same numbers for the same seed, on every runtime."""

    def __init__(self, seed):
        self.state = seed + 1

    def below(self, n):
        self.state = self.state * 1103515245 + 12345 & 0x7FFFFFFF
        return (self.state >> 8) % n


async def play(seed, trace):
    """Some tasks, each with its own operations; what has happened, in order, with results, errors and times."""
    log = []
    wire = Wire()
    wire.attach(A, RegisterFile(bytes(range(256))))
    wire.attach(B, RegisterFile(bytes(range(256))))
    spi_wire = SpiWire()
    spi_wire.attach("a", Echo(1))
    i2c = I2CBus(lambda: I2C(wire, "rp2"), name="i2c0", max_waiters=TASKS - 3, trace=trace)
    spi = SPIBus(SPI(spi_wire, "rp2"), name="spi0", trace=trace)

    async def setup(session):
        await session.write_register(1, 2)
        await sleep(2)

    a, b, c = i2c.device(A, setup=setup), i2c.device(B), spi.device(Pin(spi_wire.line("a")))
    clock.busy_us(1000 - clock.now_us() % 1000)  # sleeps end on whole milliseconds
    start = clock.now_us()

    async def user(number):
        lots = Lots(seed * 100 + number)
        for step in range(STEPS):
            what = lots.below(12)
            device = (a, b)[lots.below(2)]
            ms = (None, 0, 3, 10)[lots.below(4)]
            clock.busy_us(10 * number + 10)  # no two timers at the same time: CPython's are floats
            try:
                if what < 3:
                    result = await device.read_register(step, 1 + lots.below(3), timeout_ms=ms)
                elif what == 3:
                    result = await device.update_register(step, 15, 1, timeout_ms=ms)
                elif what == 4:
                    async with device.hold(timeout_ms=ms, wire=bool(lots.below(2))) as session:
                        await sleep(lots.below(4))
                        result = await session.read_register(1, 1)
                elif what == 5:
                    async with i2c.hold_all(timeout_ms=ms):
                        await sleep(lots.below(3))
                    result = "all"
                elif what == 6:
                    async with i2c.hold(a, b, timeout_ms=ms) as regs:
                        result = await regs.read_register(A, 1, 1)
                elif what == 7:
                    result = await i2c.call(device, lambda: "called", timeout_ms=ms)
                elif what == 8:
                    task = asyncio.create_task(outcome(device.read_register(2, 1)))
                    await turns(1 + lots.below(3))
                    task.cancel()
                    try:
                        result = await task
                    except asyncio.CancelledError:
                        result = "cancelled"
                elif what == 9:
                    result = await i2c.read_register(0x55, 0, 1)
                elif what == 10:
                    async with c.select(timeout_ms=ms) as selected:
                        await sleep(lots.below(3))
                        result = await selected.write_then_read(b"x", 1)
                else:
                    result = await c.write(b"abc", timeout_ms=ms)
            except Exception as error:
                result = error
            log.append((clock.now_us() - start, number, step, repr(result)))
            clock.busy_us(10 * number + 10)
            await sleep(lots.below(3))

    await gather_all(*[user(number) for number in range(TASKS)])
    await i2c.aclose()
    await spi.aclose()
    steps = wire.transcript.steps() + spi_wire.transcript.steps()
    wire.transcript.clear()
    spi_wire.transcript.clear()
    return log, steps


async def test_the_schedule_is_the_same():
    """With a trace or without: what happens, in which order, when, with which result, and what is on the wires."""
    kept = TASKS * STEPS // 2
    for seed in range(PROGRAMS):
        plain = await play(seed, None)
        trace = Trace(kept)
        with_trace = await play(seed, trace)
        for (us, *one), (other_us, *other) in zip(plain[0], with_trace[0]):
            assert one == other, seed
            assert -20 <= us - other_us <= 20, seed
        assert plain[1] == with_trace[1]
        assert len(plain[0]) == TASKS * STEPS and len(trace) == kept


async def test_holds_and_releases_pair():
    """Over a random program: each grant has its release, each wait its end, whatever happens."""
    for seed in range(PROGRAMS):
        trace = Trace(20000)
        await play(seed, trace)
        dump = Dump(trace)
        assert dump.header["lost"] == "0"
        held = {}
        waiting = set()
        begun = set()
        for _, name, key, task, _ in dump.events:
            who = (key, task)
            if name == "grant":
                assert not held.get(key), (seed, who)  # nothing here is shared
                held[key] = task
                waiting.discard(who)
            elif name == "release":
                assert held.pop(key) == task
            elif name == "wait":
                assert who not in waiting
                waiting.add(who)
            elif name == "timeout":
                waiting.remove(who)
            elif name == "cancel":
                waiting.discard(who)
            elif name == "start":
                assert not begun
                begun.add(who)
            elif name == "end":
                begun.remove(who)
        assert not held and not waiting and not begun
