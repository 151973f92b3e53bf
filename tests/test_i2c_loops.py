"""A bus that lives longer than a run of the loop: several runs, Ctrl-C, replaced loops, a singleton (group H)."""

import asyncio

from buslock import I2CBus, LockTimeout, NotHeld
from buslock_sim import BusioI2C, RegisterFile, Wire, check
from i2c_rig import BUSIO, CPYTHON, A, B, Loops, Rig, outcome, sleep
from support import clock
from support.small import few_ports
from support.turns import raises_async, turns

CLOCK = "virtual"

SHAPES = few_ports("rp2", "soft", "circuitpython")


def kinds(rig):
    """(name, function that makes the hold) of everything that can be held when a run ends."""
    bus = rig.bus
    yield "device", lambda **k: bus.device(A).hold(**k)
    yield "wire", lambda **k: bus.device(A).hold(wire=True, **k)
    yield "several", lambda **k: bus.hold(A, B, **k)
    yield "all", lambda **k: bus.hold_all(**k)


async def leave(function):
    """Starts a task, lets it get into its block, and ends the run with it there."""
    asyncio.create_task(function())
    await sleep(3)


def test_one_bus_for_several_runs():
    """A bus and its devices made at the top of a module serve one run after the other."""
    for shape in SHAPES:
        for factory in (None, "sync", "async"):
            rig = Rig(shape, factory=factory)
            runs = []

            async def setup(session):
                runs.append(1)

            device = rig.bus.device(A, setup=setup)

            async def run():
                results = await asyncio.gather(*[device.read_register(n, 1) for n in range(3)])
                assert results == [b"\x00", b"\x01", b"\x02"]
                async with rig.bus.hold(A, B) as regs:
                    await regs.read_register(B, 0, 1)
                rig.check()

            for _ in range(3):
                asyncio.run(run())
            assert len(rig.made) == 1
            assert runs == [1]
            rig.check()


def test_a_holder_that_goes_on_in_the_next_run():
    """H1: a task that was in its block when the run ended goes on in the next; whoever waits for it names it."""
    for shape in SHAPES:
        rig = Rig(shape)
        for name, make in kinds(rig):
            loops = Loops()
            log = []

            async def left_over():
                async with make():
                    await sleep(20)
                    log.append("left over")

            async def second():
                error = await raises_async(LockTimeout, rig.bus.read_register(A, 0, 1, timeout_ms=5))
                assert "left_over" in str(error), name
                assert await rig.bus.read_register(A, 1, 1, timeout_ms=40) == b"\x01"
                log.append("second")

            loops.run(leave(left_over))
            loops.run(second())
            assert log == ["left over", "second"], name
            rig.check()
            loops.close()


def test_ctrl_c_while_a_holder_sleeps():
    """H1: Ctrl-C ends the run in the middle of a hold; in the next run the bus is used as if nothing had been."""
    for shape in SHAPES:
        rig = Rig(shape, factory="sync")
        for name, make in kinds(rig):
            ended = []

            async def holder():
                try:
                    async with make():
                        await sleep(10)
                finally:
                    ended.append(1)

            async def interrupted():
                asyncio.create_task(holder())
                await sleep(2)
                raise KeyboardInterrupt

            async def second():
                assert await rig.bus.read_register(A, 1, 1, timeout_ms=40) == b"\x01"
                assert await rig.bus.read_register(B, 1, 1, timeout_ms=40) == b"\xfe"

            try:
                asyncio.run(interrupted())
                raise AssertionError("not interrupted")
            except KeyboardInterrupt:
                pass
            if not CPYTHON:
                asyncio.core.cur_task = None
            asyncio.run(second())
            assert ended == [1], name
            rig.check()
            if not CPYTHON:
                asyncio.new_event_loop()  # a task that ended by Ctrl-C never counts as done


def test_ctrl_c_in_the_block_itself():
    """H1: Ctrl-C that strikes the holder while it runs ends the hold on its way out, an open write and all."""
    for shape in SHAPES:
        for stop in (True, False):
            rig = Rig(shape, factory="sync")
            for name, make in kinds(rig):

                async def holder():
                    async with make() as it:
                        if not stop and shape != "circuitpython" and name in ("device", "wire"):
                            await it.write(b"\x05", stop=False)
                        raise KeyboardInterrupt

                try:
                    asyncio.run(holder())
                    raise AssertionError("not interrupted")
                except KeyboardInterrupt:
                    pass
                rig.check()
                if not CPYTHON:
                    asyncio.core.cur_task = None
                    asyncio.new_event_loop()
                assert asyncio.run(rig.bus.read_register(B, 1, 1, timeout_ms=0)) == b"\xfe"
                rig.check()


def test_the_recipe_for_the_repl():
    """H1: after Ctrl-C at the REPL bus.reset() frees the bus at once, although the old task may still go on."""
    for shape in SHAPES:
        rig = Rig(shape)
        for name, make in kinds(rig):
            loops = Loops()
            log = []

            async def left_over():
                async with make() as it:
                    await sleep(10)
                    if name in ("device", "wire"):
                        await raises_async(NotHeld, it.read_register(0, 1))
                    else:
                        await raises_async(NotHeld, it.read_register(A, 0, 1))
                log.append("ended")

            async def second():
                assert await rig.bus.read_register(A, 1, 1, timeout_ms=0) == b"\x01"
                async with make(timeout_ms=0):
                    await sleep(15)
                    # The old task's end has not taken the new one's hold along.
                    assert log == ["ended"]
                    await raises_async(LockTimeout, asyncio.create_task(rig.bus.read_register(A, 0, 1, timeout_ms=0)))

            loops.run(leave(left_over))
            rig.bus.reset()
            loops.run(second())
            rig.check()
            loops.close()


def test_a_stranded_holder_is_discarded():
    """H2: a holder that new_event_loop() has stranded never comes back: the next user gets the device at once."""
    for shape in SHAPES:
        for pins in (False, True):
            rig = Rig(shape, factory="sync", pins=pins)
            for name, make in kinds(rig):
                for wanted in (A, B):
                    loops = Loops()
                    sessions = []
                    stale = rig.bus.stats()["stale_holders"]

                    async def stranded():
                        async with make() as session:
                            sessions.append(session)
                            await sleep(20)

                    async def second():
                        start = clock.now()
                        assert await rig.bus.read_register(wanted, 1, 1) in (b"\x01", b"\xfe")
                        assert clock.now() - start <= 2
                        async with make(timeout_ms=0):
                            pass
                        assert rig.bus.stats()["stale_holders"] > stale or name == "device" and wanted == B

                    async def third():
                        # What the stranded task was given is dead, whoever holds the device now.
                        operation = sessions[0].read_register
                        if name in ("device", "wire"):
                            await raises_async(NotHeld, operation(0, 1))
                        else:
                            await raises_async(NotHeld, operation(A, 0, 1))

                    loops.run(leave(stranded))
                    loops.new()
                    loops.run(second())
                    loops.run(third())
                    rig.check()
                    loops.close()


def test_a_stranded_open_write():
    """H2: a write without STOP whose holder was stranded is ended before the next user's START."""
    for shape in ("rp2", "stm32", "soft"):
        for pins in (False, True):
            for how in ("new loop", "reset"):
                rig = Rig(shape, factory="sync", pins=pins)
                # The simulator would take whoever makes the STOP for an intruder: to it the tasks are one user here.
                rig.wire.user = lambda: None
                loops = Loops()

                async def stranded():
                    async with rig.bus.device(A).hold() as session:
                        await session.write(b"\x05", stop=False)
                        await sleep(20)

                async def second():
                    assert await rig.bus.read_register(B, 1, 1) == b"\xfe"

                loops.run(leave(stranded))
                assert not rig.wire.idle()
                rig.steps()
                if how == "reset":
                    rig.bus.reset()
                else:
                    loops.new()
                loops.run(second())
                steps = rig.steps()
                assert ("START", B) in steps, how
                assert steps.index(("START", B)) > min(n for n, step in enumerate(steps) if step[0] == "STOP")
                loops.close()
                rig.check()


def test_stranded_waiters():
    """H2: the line of a loop that was replaced is gone with it; nobody in the new one waits behind it."""
    for shape in SHAPES:
        rig = Rig(shape)
        bus = rig.bus
        loops = Loops()

        async def stranded(make):
            async with make():
                await sleep(20)

        async def first():
            asyncio.create_task(stranded(lambda: bus.device(A).hold(wire=True)))
            await turns(2)
            for _, make in kinds(rig):
                for timeout_ms in (None, 30):
                    asyncio.create_task(stranded(lambda: make(timeout_ms=timeout_ms)))
                    await turns(2)
            asyncio.create_task(outcome(bus.scan()))
            asyncio.create_task(outcome(bus.read_register(B, 0, 1)))
            await turns(3)

        async def second():
            assert await bus.read_register(A, 1, 1, timeout_ms=0) == b"\x01"
            assert await bus.read_register(B, 1, 1, timeout_ms=0) == b"\xfe"
            assert A in await bus.scan(timeout_ms=0)
            for _, make in kinds(rig):
                async with make(timeout_ms=0):
                    pass
            await sleep(40)
            rig.check()

        loops.run(first())
        loops.new()
        loops.run(second())
        loops.close()
        rig.check()


def test_a_stranded_set_up():
    """H2: a set-up or an async factory that was under way when the loop was replaced is begun anew."""
    for shape in SHAPES:
        for ms in (0, 2, 4):
            rig = Rig(shape, factory="async")
            begun = []
            loops = Loops()

            async def setup(session):
                begun.append(1)
                await session.write_register(0x20, 7)
                await sleep(5)

            device = rig.bus.device(A, setup=setup)

            async def first():
                asyncio.create_task(outcome(device.read_register(0, 1)))
                await turns(3)
                await sleep(ms)

            async def second():
                assert (
                    await asyncio.gather(device.read_register(0x20, 1), device.read_register(0x20, 1)) == [b"\x07"] * 2
                )

            loops.run(first())
            assert len(begun) == (1 if ms >= 2 else 0)
            loops.new()
            loops.run(second())
            assert len(begun) == (2 if ms >= 2 else 1)
            rig.check()
            loops.close()


def test_a_stranded_aclose():
    """H2: an aclose() that waited for a holder when the loop was replaced is over; the bus is used and closed again."""
    for shape in SHAPES:
        rig = Rig(shape, factory="sync")
        loops = Loops()

        async def holder():
            async with rig.bus.device(A).hold():
                await sleep(20)

        async def first():
            asyncio.create_task(holder())
            await turns(2)
            asyncio.create_task(outcome(rig.bus.aclose()))
            await turns(3)

        async def second():
            assert await rig.bus.read_register(A, 1, 1) == b"\x01"
            await rig.bus.aclose()
            assert await rig.bus.read_register(A, 1, 1) == b"\x01"

        loops.run(first())
        loops.new()
        loops.run(second())
        rig.check()
        loops.close()


def test_a_stranded_recovery():
    """H2: a recovery that was under way when the loop was replaced is left to the next user, who succeeds."""
    for shape in ("rp2", "circuitpython"):
        for ms in (0, 1, 2, 3):

            async def close(i2c):
                await sleep(2)
                i2c.deinit()

            rig = Rig(shape, factory="async", pins=True, close=close)
            loops = Loops()

            async def first():
                await rig.bus.read_register(B, 0, 1)
                asyncio.create_task(outcome(rig.bus.recover()))
                await turns(3)
                await sleep(ms)

            async def second():
                assert await rig.bus.read_register(B, 1, 1) == b"\xfe"
                assert await rig.bus.read_register(A, 1, 1) == b"\x01"

            loops.run(first())
            if rig.busio and rig.wire.claimed is not None:
                rig.wire.claimed.deinit()  # the close that was cut off had not got so far
            loops.new()
            loops.run(second())
            rig.check()
            loops.close()


def test_a_loop_that_is_replaced_again_and_again():
    """H2: ten loops, each of which strands a holder of the wire and several waiters; each next one works at once."""
    rig = Rig("rp2", factory="sync", pins=True)
    loops = Loops()

    async def strand():
        async with rig.bus.device(A).hold(wire=True):
            await sleep(20)

    async def run():
        assert await rig.bus.read_register(A, 1, 1) == b"\x01"
        asyncio.create_task(strand())
        await turns(2)
        for address in (A, B, A):
            asyncio.create_task(outcome(rig.bus.read_register(address, 0, 1)))
        await turns(3)

    for _ in range(10):
        loops.run(run())
        loops.new()
    assert rig.bus.stats()["stale_holders"] >= 9

    async def last():
        assert await rig.bus.read_register(B, 1, 1) == b"\xfe"

    loops.run(last())
    rig.check()
    loops.close()


def test_a_singleton_that_survived_a_reload():
    """B5: board.I2C() keeps its native lock over a reload of the program: waited for, named, taken over by reset()."""
    for shape in BUSIO:
        wire = Wire()
        wire.attach(A, RegisterFile(b"\x42"))
        singleton = BusioI2C(wire, port=shape)

        async def first_program():
            bus = I2CBus(lambda: singleton)
            await bus.read_register(A, 0, 1)
            assert singleton.try_lock()  # a driver of this program that was interrupted
            await sleep(1)

        async def second_program():
            bus = I2CBus(lambda: singleton)
            error = await raises_async(LockTimeout, bus.read_register(A, 0, 1, timeout_ms=5))
            assert "reset()" in str(error)
            bus.reset()
            assert await bus.read_register(A, 0, 1, timeout_ms=5) == b"\x42"
            assert len(bus._table) == 0

        async def third_program():
            bus = I2CBus(lambda: singleton)
            bus.reset()  # before anything else, as the first line of a program does
            assert await bus.read_register(A, 0, 1, timeout_ms=0) == b"\x42"
            assert len(bus._table) == 0

        asyncio.run(first_program())
        asyncio.run(second_program())
        assert singleton.try_lock()
        asyncio.run(third_program())
        check()


async def test_a_bus_made_inside_a_running_loop():
    """H4: making buses, devices and holds calls no function of the loop: it works in a coroutine and outside of one."""
    rig = Rig("rp2", factory="async", pins=True)
    hold = rig.bus.device(A).hold()
    operation = rig.bus.read_register(A, 1, 1)
    async with hold as session:
        assert await session.read_register(1, 1) == b"\x01"
    assert await operation == b"\x01"
    rig.check()
