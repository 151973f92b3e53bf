"""Closing a bus in every state, using it again, and starting over with reset()."""

import asyncio

from buslock import BusClosed, I2CBus, LockTimeout, NotHeld, Reentry, TransferError, hold
from buslock_sim import I2C, Multiplexer, RegisterFile
from i2c_rig import EXPANDER, A, B, Rig, cancel, outcome, sleep, use_key, use_wire
from support import clock
from support.small import few_ports
from support.turns import raises, raises_async, turns

CLOCK = "virtual"

SHAPES = few_ports("rp2", "soft", "circuitpython")
FACTORIES = (None, "sync", "async")


def all_rigs(shapes=SHAPES, factories=FACTORIES, **arguments):
    for shape in shapes:
        for factory in factories:
            yield Rig(shape, factory=factory, **arguments)


async def test_what_the_factory_made_is_closed_once():
    """aclose() ends what the factory made, once; the next use makes it anew; a ready object is never closed."""
    for shape in SHAPES:
        for factory in FACTORIES:
            closed = []

            def close(i2c):
                closed.append(i2c)
                if hasattr(i2c, "deinit"):
                    i2c.deinit()  # CircuitPython allows one object for its pins

            rig = Rig(shape, factory=factory, close=close)
            for n in range(1, 4):
                assert await rig.bus.read_register(A, 1, 1) == b"\x01"
                await rig.bus.aclose()
                await rig.bus.aclose()
                if factory is None:
                    assert closed == []
                    assert len(rig.made) == 1
                else:
                    assert closed == rig.made
                    assert len(rig.made) == n
                rig.check()


async def test_deinit_where_there_is_one():
    """Without close= the object's deinit() ends it; an object without one is simply forgotten."""
    for shape in SHAPES:
        rig = Rig(shape, factory="sync")
        await rig.bus.read_register(A, 0, 1)
        ended = []
        if hasattr(rig.made[0], "deinit"):
            before = rig.made[0].deinit
            rig.made[0].deinit = lambda: (ended.append(1), before())
        await rig.bus.aclose()
        assert len(ended) == hasattr(rig.made[0], "deinit")
        assert await rig.bus.read_register(A, 1, 1) == b"\x01"
        assert len(rig.made) == 2
        rig.check()
    # A ready object's deinit() is not called either.
    rig = Rig("circuitpython")
    await rig.bus.aclose()
    assert rig.made[0].try_lock()
    rig.made[0].unlock()
    assert await rig.bus.read_register(A, 1, 1) == b"\x01"
    rig.check()


async def test_an_async_close():
    """close= may be a coroutine function; uses in the meantime get BusClosed, later ones a new object."""
    for shape in ("rp2", "circuitpython"):
        closed = []

        async def close(i2c):
            await sleep(5)
            i2c.deinit()
            closed.append(i2c)

        rig = Rig(shape, factory="async", close=close)
        await rig.bus.read_register(A, 0, 1)
        task = asyncio.create_task(rig.bus.aclose())
        await sleep(2)
        await raises_async(BusClosed, rig.bus.read_register(A, 0, 1))
        await task
        assert closed == rig.made
        assert await rig.bus.read_register(A, 1, 1) == b"\x01"
        rig.check()


async def test_a_bus_that_was_never_used():
    """aclose() of a bus that has made nothing yet makes nothing, and closes nothing."""
    for rig in all_rigs():
        made = len(rig.made)
        await rig.bus.aclose()
        assert len(rig.made) == made
        assert await rig.bus.read_register(A, 1, 1) == b"\x01"
        rig.check()


async def test_holders_are_waited_for():
    """aclose() waits until every hold has ended; a holder's operations work until then."""
    for rig in all_rigs():
        bus = rig.bus
        log = []

        async def holder(make):
            async with make():
                log.append("in")
                for _ in range(5):
                    assert await bus.device(A).read_register(1, 1) == b"\x01"
                    await sleep(1)
                log.append("out")

        for make in (
            lambda: bus.device(A).hold(),
            lambda: bus.device(A).hold(wire=True),
            lambda: bus.hold(A, B),
            lambda: bus.hold_all(),
        ):
            log.clear()
            task = asyncio.create_task(holder(make))
            await sleep(3)
            assert log == ["in"]
            await bus.aclose()
            log.append("closed")
            assert log == ["in", "out", "closed"]
            await task
            rig.check()


async def test_sessions_of_holders_work_while_closing():
    """The session of a hold that aclose() waits for is usable to its end, in any operation."""
    for rig in all_rigs():
        async with rig.bus.device(A).hold() as session:
            task = asyncio.create_task(rig.bus.aclose())
            await turns(3)
            assert await session.read_register(1, 1) == b"\x01"
            await session.write_register(0x80, 7)
            assert await session.update_register(0x80, 0xF0, 0x10) == 0x17
            assert await session.wait_register(0x80, 0xFF, 0x17) == 0x17
            assert await session.write_then_read(b"\x05", 1) == b"\x05"
            assert await session.probe() is True
            assert await rig.bus.device(A).read_register(2, 1) == b"\x02"
            assert not task.done()
        await task
        rig.check()


async def test_the_wait_for_holders_is_bounded():
    """aclose(timeout_ms) gives up with LockTimeout that names a holder; the bus stays open and in use."""
    for rig in all_rigs():
        bus = rig.bus

        async def display():
            async with bus.device(A).hold(wire=True) as session:
                await sleep(20)
                assert await session.read_register(1, 1) == b"\x01"

        task = asyncio.create_task(display())
        await sleep(3)
        made = len(rig.made)
        start = clock.now()
        error = await raises_async(LockTimeout, bus.aclose(timeout_ms=5))
        assert clock.now() - start == 5
        assert "display" in str(error)
        await raises_async(LockTimeout, bus.aclose(timeout_ms=0))
        assert await bus.read_register(B, 1, 1) == b"\xfe"
        assert task.done()
        assert len(rig.made) == made
        await task
        rig.check()


async def test_waiters_are_failed():
    """Whoever waits for a key, for several, for all, for the wire or for the set-up gets BusClosed at once."""
    for rig in all_rigs():
        bus = rig.bus
        await bus.read_register(A, 0, 1)
        holder = asyncio.create_task(use_wire(bus.device(A), 10))
        await turns()

        async def by_hold(make):
            async with make():
                raise AssertionError("this bus is being closed")

        waiting = [
            asyncio.create_task(outcome(awaitable))
            for awaitable in (
                bus.read_register(A, 0, 1),
                bus.read_register(B, 0, 1),
                bus.device(A).read(1),
                bus.device(A).write(1),
                bus.device(A).probe(),
                bus.device(B).probe(),
                bus.call(A, print),
                bus.scan(),
                bus.recover(),
                by_hold(bus.device(A).hold),
                by_hold(lambda: bus.device(EXPANDER).hold(wire=True)),
                by_hold(lambda: bus.hold(A, B)),
                by_hold(bus.hold_all),
            )
        ]
        await turns(4)
        start = clock.now()
        closing = asyncio.create_task(bus.aclose())
        for error in await asyncio.gather(*waiting):
            assert isinstance(error, BusClosed), error
            assert "i2c" in str(error)
        assert clock.now() - start <= 1
        assert not closing.done()
        await closing
        await holder
        rig.check()
        assert await bus.read_register(A, 1, 1) == b"\x01"
        rig.check()


async def test_each_waiter_gets_an_error_of_his_own():
    """The BusClosed of several waiters are several exceptions."""
    rig = Rig()
    holder = asyncio.create_task(use_key(rig.bus.device(A), 5))
    await turns()
    waiting = [asyncio.create_task(outcome(rig.bus.read_register(A, 0, 1))) for _ in range(3)]
    await turns()
    await rig.bus.aclose()
    errors = await asyncio.gather(*waiting)
    for n, error in enumerate(errors):
        assert isinstance(error, BusClosed)
        assert error not in errors[:n]
    await holder
    rig.check()


async def test_uses_while_closing_are_refused():
    """Until aclose() has returned, every new use is BusClosed, with the name of the bus."""
    for rig in all_rigs(name="sensors"):
        bus = rig.bus
        device = bus.device(B)
        channel = bus.mux(0x70).channel(0)
        holder = asyncio.create_task(use_key(bus.device(A), 10))
        await sleep(2)
        closing = asyncio.create_task(bus.aclose())
        await turns(2)

        async def by_hold(hold):
            async with hold:
                raise AssertionError("this bus is being closed")

        for make in (
            lambda: device.read_register(0, 1),
            lambda: device.read_register(0, 1, timeout_ms=5),
            lambda: device.read_register_into(0, bytearray(1)),
            lambda: device.write_register(0, 1),
            lambda: device.update_register(0, 1, 1),
            lambda: device.wait_register(0, 0, 0),
            lambda: device.read(1),
            lambda: device.readinto(bytearray(1)),
            lambda: device.write(1),
            lambda: device.write_then_read(b"\x00", 1),
            lambda: device.probe(),
            lambda: bus.read_register(A, 0, 1),
            lambda: bus.call(B, print),
            lambda: bus.scan(),
            lambda: bus.recover(),
            lambda: channel.device(0x30).read_register(0, 1),
            lambda: channel.scan(),
            lambda: by_hold(device.hold()),
            lambda: by_hold(device.hold(wire=True)),
            lambda: by_hold(bus.hold(A, B)),
            lambda: by_hold(bus.hold_all()),
        ):
            error = await raises_async(BusClosed, make())
            assert "sensors" in str(error)
        assert not closing.done()
        await closing
        await holder
        rig.check()


async def test_closing_under_the_own_hold_is_refused():
    """aclose() by a task that holds a device of the bus would wait for itself: Reentry, and the bus stays open."""
    for rig in all_rigs():
        bus = rig.bus
        for make in (bus.device(A).hold, lambda: bus.device(A).hold(wire=True), lambda: bus.hold(A, B), bus.hold_all):
            async with make():
                waiting = asyncio.create_task(bus.read_register(A, 2, 1))
                await turns()
                error = await raises_async(Reentry, bus.aclose())
                assert "i2c" in str(error)
                assert await bus.read_register(A, 1, 1) == b"\x01"
            # Nobody was disturbed by the attempt.
            assert await waiting == b"\x02"
            rig.check()


async def test_closing_twice_at_once():
    """A second aclose() waits for the first, and both return when the bus is closed; each with its own timeout."""
    for rig in all_rigs():
        bus = rig.bus
        holder = asyncio.create_task(use_key(bus.device(A), 10))
        await sleep(3)
        first = asyncio.create_task(bus.aclose())
        await turns()
        start = clock.now()
        await raises_async(LockTimeout, bus.aclose(timeout_ms=2))
        assert clock.now() - start == 2
        assert not first.done()
        await bus.aclose()
        assert first.done()
        await first
        await holder
        made = len(rig.made)
        assert await bus.read_register(A, 1, 1) == b"\x01"
        assert len(rig.made) == made + (rig.factory is not None)
        rig.check()


async def test_the_first_aclose_gives_up_and_the_second_goes_on():
    """If the first aclose() times out or is cancelled, the second closes."""
    for rig in all_rigs():
        bus = rig.bus
        for end in ("timeout", "cancel"):
            await bus.read_register(A, 0, 1)
            holder = asyncio.create_task(use_key(bus.device(A), 12))
            await turns(2)
            first = asyncio.create_task(outcome(bus.aclose(timeout_ms=3 if end == "timeout" else None)))
            await turns()
            second = asyncio.create_task(bus.aclose())
            await sleep(1)
            if end == "cancel":
                await cancel(first)
            else:
                assert isinstance(await first, LockTimeout)
            assert not second.done()
            await raises_async(BusClosed, bus.read_register(B, 0, 1))
            await second
            await holder
            made = len(rig.made)
            await bus.read_register(A, 0, 1)
            assert len(rig.made) == made + (rig.factory is not None)
            rig.check()


async def test_aclose_cancelled_at_each_point():
    """An aclose() cancelled anywhere leaves a bus that is used as before, open or closed."""
    for shape in ("rp2", "circuitpython"):
        for ms in range(0, 12, 1):
            begun = []

            async def close(i2c):
                begun.append(i2c)
                await sleep(2)
                i2c.deinit()

            rig = Rig(shape, factory="async", close=close)
            bus = rig.bus
            holder = asyncio.create_task(use_key(bus.device(A), 4))
            await sleep(2)
            closing = asyncio.create_task(bus.aclose())
            await sleep(ms)
            await cancel(closing)
            if begun and rig.wire.claimed is not None:
                # The close was interrupted before it gave the pins back.
                rig.wire.claimed.deinit()
            assert await bus.read_register(B, 1, 1) == b"\xfe"
            await holder
            rig.check()
            await bus.aclose()
            assert await bus.read_register(A, 1, 1) == b"\x01"
            rig.check()


async def test_closing_while_the_peripheral_is_made():
    """aclose() in the middle of an async factory: its waiters get BusClosed, and the next use begins again."""
    for shape in SHAPES:
        rig = Rig(shape, factory="async")
        bus = rig.bus
        waiting = [asyncio.create_task(outcome(bus.read_register(address, 0, 1))) for address in (A, B)]
        waiting.append(asyncio.create_task(outcome(bus.scan())))
        await turns(3)
        assert rig.made == []
        await bus.aclose()
        for error in await asyncio.gather(*waiting):
            assert isinstance(error, BusClosed), error
        assert await bus.read_register(A, 1, 1) == b"\x01"
        assert len(rig.made) == 1
        rig.check()


async def test_a_close_that_fails():
    """What close= raises reaches the caller of aclose(); the object is forgotten, and the next use makes a new one."""
    for factory in ("sync", "async"):

        def close(i2c):
            raise KeyError("mine")

        rig = Rig(factory=factory, close=close)
        await rig.bus.read_register(A, 0, 1)
        await raises_async(KeyError, rig.bus.aclose())
        assert await rig.bus.read_register(A, 1, 1) == b"\x01"
        assert len(rig.made) == 2
        rig.check()


async def test_a_factory_that_fails_is_asked_again():
    """A factory's error reaches those who wait for it, and a later use asks it again; aclose() works in between."""
    for asynchronous in (False, True):
        rig = Rig(factory="sync")
        failures = [2]

        def factory():
            if failures[0]:
                failures[0] -= 1
                raise OSError(5, "no such bus")
            return rig.make()

        async def factory_async():
            await sleep(1)
            return factory()

        bus = rig.bus = I2CBus(factory_async if asynchronous else factory)
        await raises_async(OSError, bus.read_register(A, 0, 1))
        rig.check()
        await bus.aclose()
        results = await asyncio.gather(*[outcome(bus.read_register(A, 1, 1)) for _ in range(2)])
        assert isinstance(results[0], OSError)
        assert await bus.read_register(A, 1, 1) == b"\x01"
        rig.check()


async def test_power_saving_between_measurements():
    """Open, measure, close, and again, from several tasks: what aclose() is for."""
    for rig in all_rigs():
        runs = []

        async def setup(session):
            runs.append(1)

        device = rig.bus.device(A, setup=setup)
        for n in range(1, 6):
            assert await asyncio.gather(device.read_register(1, 1), rig.bus.read_register(B, 1, 1)) == [
                b"\x01",
                b"\xfe",
            ]
            await rig.bus.aclose(timeout_ms=10)
            assert len(runs) == n
        rig.check()


async def test_closing_a_bus_with_an_open_write():
    """aclose() waits for a hold with a write without STOP like for any; its STOP is made before the close."""
    for shape in ("rp2", "soft"):
        rig = Rig(shape, factory="sync")
        bus = rig.bus

        async def holder():
            async with bus.device(A).hold() as session:
                await session.write(b"\x05", stop=False)
                await sleep(5)

        task = asyncio.create_task(holder())
        await sleep(1)
        await bus.aclose()
        assert rig.wire.idle()
        await task
        assert await bus.read_register(A, 1, 1) == b"\x01"
        rig.check()


async def test_closing_a_bus_that_is_stuck():
    """A bus with a dead line can be closed, and works when it is opened again after the chip let go."""
    for shape in ("rp2", "circuitpython"):
        rig = Rig(shape, factory="sync", pins=True)
        await rig.bus.read_register(B, 0, 1)
        rig.a.hold_sda(None)
        for _ in range(2):
            await raises_async(OSError, rig.bus.read_register(B, 0, 1))
        await rig.bus.aclose()
        rig.a.power_on()
        assert await rig.bus.read_register(B, 1, 1) == b"\xfe"
        rig.check()


async def test_closing_waits_for_a_recovery():
    """aclose() in the middle of a recovery, by hand or automatic, waits for its end and closes what it has made."""
    for shape in ("rp2", "circuitpython"):
        for automatic in (False, True):
            for ms in range(6):
                closed = []

                async def close(i2c):
                    await sleep(2)
                    i2c.deinit()
                    closed.append(i2c)

                rig = Rig(shape, factory="async", pins=True, close=close)
                await rig.bus.read_register(B, 0, 1)
                if automatic:
                    rig.a.hold_sda(5)
                    await raises_async(OSError, rig.bus.read_register(A, 0, 1))
                    recovery = rig.bus.read_register(B, 1, 1)
                else:
                    recovery = rig.bus.recover()
                task = asyncio.create_task(outcome(recovery))
                await sleep(ms)
                await rig.bus.aclose()
                # All that was made is closed, and nobody makes anything after it.
                assert closed == rig.made
                result = await task
                assert result is None or result == b"\xfe" or isinstance(result, BusClosed), result
                assert closed == rig.made
                assert await rig.bus.read_register(A, 1, 1) == b"\x01"
                rig.check()


async def test_a_close_meets_what_cleans_first():
    """probe() and scan() that are still cleaning the bus when it is closed get BusClosed, and do not open it again."""
    for shape in ("rp2", "circuitpython"):
        for what in ("probe", "scan", "scan of a channel", "probe behind a channel"):
            rig = Rig(shape, factory="async", pins=True)
            rig.wire.attach(0x70, Multiplexer()).channel(1).attach(0x30, RegisterFile(b"abc"))
            channel = rig.bus.mux(0x70).channel(1)
            use = {
                "probe": rig.bus.device(A).probe,
                "scan": rig.bus.scan,
                "scan of a channel": channel.scan,
                "probe behind a channel": channel.device(0x30).probe,
            }[what]
            await rig.bus.read_register(A, 0, 1)
            rig.a.hold_sda(3)
            await outcome(rig.bus.read_register(A, 0, 1))
            user = asyncio.create_task(outcome(use()))
            await turns(2)
            assert len(rig.made) == 1, "it is not cleaning"
            await rig.bus.aclose()
            assert isinstance(await user, BusClosed), (shape, what, await user)
            assert await use() is not None
            rig.check()


async def test_an_object_that_somebody_else_closed():
    """A busio object that other code has deinitialised: its error reaches the caller, nothing is held (H6)."""
    rig = Rig("circuitpython", factory="sync")
    bus = rig.bus
    device = bus.device(A, retries=2)
    await device.read_register(0, 1)
    rig.made[0].deinit()
    for make in (
        lambda: bus.read_register(B, 0, 1),
        lambda: device.read_register(0, 1),
        lambda: device.write_register(0, 1, repeatable=True),
        lambda: device.probe(),
        lambda: bus.scan(),
    ):
        error = await raises_async(ValueError, make())
        assert "deinitialized" in str(error)
        rig.check()
    # Whoever closes it by the bus, or recovers it, has a new one.
    await bus.aclose()
    assert await bus.read_register(A, 1, 1) == b"\x01"
    rig.made[1].deinit()
    await bus.recover()
    assert await bus.read_register(A, 1, 1) == b"\x01"
    assert len(rig.made) == 3
    rig.check()


# reset()


async def everything(bus):
    async with bus.hold_all():
        pass


async def test_reset_discards_holders_and_waiters():
    """reset() frees everything: the holders' sessions are dead, the waiters get BusClosed, the next user works."""
    for rig in all_rigs():
        bus = rig.bus
        log = []

        async def holder():
            async with bus.device(A).hold() as session:
                log.append("in")
                await sleep(5)
                await raises_async(NotHeld, session.read_register(0, 1))
                await raises_async(NotHeld, session.probe())
            log.append("out")

        task = asyncio.create_task(holder())
        await sleep(3)
        waiting = asyncio.create_task(outcome(bus.read_register(A, 0, 1)))
        every = asyncio.create_task(outcome(everything(bus)))
        await turns(2)
        bus.reset()
        assert len(bus._table) == 0
        assert await bus.read_register(A, 1, 1, timeout_ms=0) == b"\x01"
        for error in (await waiting, await every):
            assert isinstance(error, BusClosed)
            assert "reset" in str(error)
        assert bus.stats()["stale_holders"] == 1
        # The new holder is not disturbed by the end of the old hold.
        async with bus.device(A).hold():
            await task
            assert log == ["in", "out"]
            await raises_async(LockTimeout, asyncio.create_task(bus.read_register(A, 0, 1, timeout_ms=0)))
        rig.check()


async def test_reset_with_the_wire_held():
    """A holder of the wire, or of an open write, is discarded as well; the bus is cleaned before the next."""
    for shape, how in (("rp2", "wire"), ("soft", "wire"), ("circuitpython", "wire"), ("rp2", "open"), ("soft", "open")):
        for pins in (False, True):
            rig = Rig(shape, factory="sync", pins=pins)
            bus = rig.bus
            if how == "open":
                # The simulator would take whoever makes the STOP for an intruder: to it all tasks are one user here.
                rig.wire.user = lambda: None

            async def holder():
                async with bus.device(A).hold(wire=how == "wire") as session:
                    if how == "open":
                        await session.write(b"\x05", stop=False)
                    await sleep(5)

            task = asyncio.create_task(holder())
            await turns(2)
            rig.steps()
            bus.reset()
            assert await bus.read_register(B, 1, 1, timeout_ms=0) == b"\xfe"
            assert ("START", B) in rig.steps()
            await task
            rig.check()


async def test_reset_makes_set_ups_due():
    """After reset() nobody knows in what state the chips are: their set-ups are run again, behind channels too."""
    for rig in all_rigs():
        rig.wire.attach(0x70, Multiplexer()).channel(0).attach(0x30, RegisterFile())
        runs = []

        async def setup(session):
            runs.append(session)

        devices = rig.bus.device(A, setup=setup), rig.bus.mux(0x70).channel(0).device(0x30, setup=setup)
        for n in range(1, 4):
            for device in devices:
                await device.read_register(0, 1)
                await device.read_register(0, 1)
            assert len(runs) == 2 * n
            rig.bus.reset()
        rig.check()


async def test_reset_during_a_set_up():
    """A set-up that runs when reset() is called has lost its hold: it fails, and the next use runs it again."""
    for rig in all_rigs():
        begun = []

        async def setup(session):
            begun.append(1)
            await session.write_register(0x20, 1)
            await sleep(4)
            await session.write_register(0x21, 2)

        device = rig.bus.device(A, setup=setup)
        waiting = asyncio.create_task(outcome(device.read_register(0, 1)))
        await sleep(3)
        rig.bus.reset()
        assert await device.read_register(0x20, 2) == b"\x01\x02"
        assert len(begun) >= 2
        await waiting
        await sleep(2)
        rig.check()


async def test_reset_while_closing():
    """reset() ends the wait of an aclose() that a stuck holder keeps waiting."""
    for rig in all_rigs():
        bus = rig.bus
        holder = asyncio.create_task(use_key(bus.device(A), 30))
        await sleep(3)
        closing = asyncio.create_task(outcome(bus.aclose()))
        second = asyncio.create_task(outcome(bus.aclose()))
        await turns(2)
        bus.reset()
        await closing
        await second
        assert not holder.done()
        assert await bus.read_register(A, 1, 1) == b"\x01"
        await cancel(holder)
        rig.check()


async def test_reset_in_the_step_of_a_hand_over():
    """Who was handed the key, the wire or all of it just before the reset has nothing: it waits again, or BusClosed."""
    for shape in ("rp2", "soft"):
        for n in range(10):
            for wire, late in ((False, 2), (True, 2), (True, 6)):
                rig = Rig(shape, factory="sync", pins=True)
                bus = rig.bus
                inside = []

                async def holder(address, wire, inside=inside, bus=bus):
                    async with bus.device(address).hold(wire=wire):
                        assert not inside
                        inside.append(address)
                        await sleep(2)
                        inside.remove(address)

                async def open_write(bus=bus):
                    async with bus.device(B).hold() as session:
                        await session.write(b"\x05", stop=False)
                        await session.read(1)

                async def resetting(wire=wire, inside=inside, bus=bus):
                    async with bus.device(A).hold(wire=wire) as session:
                        await sleep(4)
                        rig.a.fail_nth("timeout", 0)
                        await raises_async(TransferError, session.read(1))  # dirty, so who comes now cleans first
                        await sleep(4)
                    bus.reset()
                    async with bus.device(A).hold() as session:
                        inside.append(A)
                        await session.write(b"\x05", stop=False)  # whatever begins now is met by the simulator
                        await sleep(3)
                        assert await session.read(1) == b"\x05"
                        await sleep(3)
                        assert await session.read(1) == b"\x06"
                        inside.remove(A)

                operate = (
                    lambda: holder(A, False),
                    lambda: holder(A, True),
                    lambda: holder(B, True),
                    lambda: open_write(),
                    lambda: bus.read_register(A, 1, 1),
                    lambda: bus.read_register(B, 1, 1),
                    lambda: bus.device(B).probe(),
                    lambda: bus.scan(),
                    lambda: bus.recover(),
                    lambda: bus.aclose(),
                )[n]
                await bus.read_register(A, 1, 1)
                resetter = asyncio.create_task(resetting())
                await sleep(late)
                waiting = asyncio.create_task(outcome(operate()))
                await resetter
                found = await waiting
                assert not isinstance(found, Exception) or isinstance(found, BusClosed), (n, found)
                if wire and n in (3, 5, 6, 7, 8):  # the wire is all that these were waiting for
                    assert "reset" in str(found), (n, found)
                assert await bus.read_register(A, 1, 1) == b"\x01"
                rig.check()


async def test_reset_between_two_tries():
    """An operation that was to be tried again has no wire after the reset, and does not take the old one's."""
    for shape in ("rp2", "soft"):
        rig = Rig(shape)
        bus = rig.bus
        device = bus.device(B, retries=3)
        await device.read_register(1, 1)
        rig.b.fail_nth("nack", 0)
        waiting = asyncio.create_task(outcome(device.read_register(1, 1)))
        await turns(2)
        bus.reset()
        async with bus.device(A).hold() as session:
            await session.write(b"\x05", stop=False)
            await sleep(3)
            assert isinstance(await waiting, BusClosed)
            assert await session.read(1) == b"\x05"
        assert await device.read_register(1, 1) == b"\xfe"
        rig.check()


def test_reset_outside_of_a_loop():
    """reset() needs no loop: at the REPL, before the first run, between runs, twice."""
    for rig in all_rigs():
        rig.bus.reset()
        assert asyncio.run(rig.bus.read_register(A, 1, 1)) == b"\x01"
        rig.bus.reset()
        rig.bus.reset()
        assert asyncio.run(rig.bus.read_register(A, 2, 1)) == b"\x02"
        rig.check()


async def test_reset_keeps_the_statistics():
    """Counters survive a reset, and it is counted itself, one for each holder it has discarded."""
    rig = Rig()
    bus = rig.bus
    tasks = [asyncio.create_task(use_key(bus.device(address), 5)) for address in (A, B)]
    await turns()
    waiting = asyncio.create_task(outcome(bus.read_register(A, 0, 1)))
    await turns()
    bus.reset()
    stats = bus.stats()
    assert stats["stale_holders"] == 2
    assert stats["waits"] == 1
    await asyncio.gather(waiting, *tasks)
    rig.check()


def test_a_closed_bus_is_garbage():
    """A bus that nobody refers to needs no closing: it has no task and no global entry that keeps it alive."""
    import gc

    rig = Rig()
    asyncio.run(rig.bus.read_register(A, 0, 1))
    raises(TypeError, I2CBus, 5)
    rig.check()
    del rig
    gc.collect()
    from buslock.waitqueue import _waiting

    assert len(_waiting) == 0
    assert I2C is not None


async def test_a_hold_over_two_buses_does_not_open_a_closed_one():
    """Who waits for a set-up before a hold over two buses gets BusClosed when the other bus is closed meanwhile."""
    one, two = Rig("rp2", factory="sync"), Rig("rp2", factory="sync")

    async def setup(session):
        await turns(6)

    first = one.bus.device(A, setup=setup)
    second = two.bus.device(B)
    await second.read_register(0, 1)

    async def both():
        async with hold(second, first):
            return "held"

    task = asyncio.create_task(outcome(both()))
    await turns(3)
    await two.bus.aclose()
    assert isinstance(await task, BusClosed)
    assert len(two.made) == 1
    one.check()
    two.check()


async def test_pins_in_use_say_the_way_out():
    """H5: a factory that finds its pins taken by a display raises an error that names the bus and how to free them."""

    def factory():
        raise ValueError("GPIO5 in use")

    bus = I2CBus(factory, name="i2c0")
    for _ in range(2):
        error = await raises_async(ValueError, bus.read_register(A, 0, 1))
        assert "i2c0" in str(error) and "GPIO5 in use" in str(error) and "release_displays()" in str(error)

    def broken():
        raise ValueError("bad frequency")

    error = await raises_async(ValueError, I2CBus(broken, name="i2c0").read_register(A, 0, 1))
    assert str(error) == "bad frequency"
