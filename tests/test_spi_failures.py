"""CS comes home in every exit: transfers, pins and calls that fail, cancellation at every point, blocks that raise."""

import asyncio

from buslock import ERRORS, TransferError
from spi_rig import PORTS, SOME, SYNC, Echo, Rig, cancel, drive, go_on, rigs, sleep, use_key, use_wire
from support.small import sampled, samples
from support.turns import raises_async, turns

CLOCK = "virtual"

INTO = bytearray(3)


async def select_and_write(device):
    async with device.select() as spi:
        await spi.write(b"\x01\x02\x03")
        await turns()
        await spi.read(2)


async def select_in_a_session(device):
    async with device.hold() as session:
        await session.write(b"\x01")
        async with session.select() as spi:
            await spi.write_then_read(b"\x02", 2)
            await turns()
            await spi.write(b"\x03")


async def keep_the_wire(device):
    async with device.hold(wire=True) as session:
        device._cs(0)
        await session.write(b"\x01\x02\x03")
        device._cs(1)
        await turns()


def every_operation(rig, device):
    return (
        lambda: device.write(b"\x01\x02", b"\x03"),
        lambda: device.read(3),
        lambda: device.readinto(INTO),
        lambda: device.write_readinto(b"\x01\x02\x03", INTO),
        lambda: device.write_then_read(b"\x01\x02", 2),
        lambda: select_and_write(device),
        lambda: select_in_a_session(device),
        lambda: keep_the_wire(device),
        lambda: rig.bus.call(device, lambda: None),
    )


OPERATIONS = 9


async def all_is_well(rig, a, b):
    """The next operation of either device is right, and the bus is at rest after it."""
    rig.a.listen()
    assert await b.write_then_read(b"\x01", 1) == b"\xa5"
    assert rig.wire.selected() == []
    assert await a.write_then_read(b"\x02", 1) == b"\x5a"
    async with a.select() as spi:
        await spi.write(b"\x03")
    assert rig.a.listen() == [b"\x02\x00", b"\x03"]
    rig.check()


async def test_a_transfer_that_fails_at_any_byte():
    """Whichever byte of a transfer fails: a TransferError, CS idle at once, the next operation right (E9)."""
    turn = 0
    for port in PORTS:
        for n in range(OPERATIONS - 1):
            for at in (None, 0, 1, 2):
                turn += 1
                if not sampled(turn):
                    continue
                rig = Rig(port)
                a, b = rig.devices()
                rig.a.fail("error", at=at)
                # A transfer that is shorter than that does not fail.
                try:
                    await every_operation(rig, a)[n]()
                except TransferError as error:
                    assert a._label() in str(error)
                assert rig.wire.selected() == []
                rig.a.recover()
                await all_is_well(rig, a, b)


async def failing_at_every_call(port, n, after, error, warm, check, **clocks):
    """Operation n with each call of a pin or of the bus object failing in turn; `check` looks at each error.

    How many have failed, and whether there was any call.
    """
    faults = 0
    for at in samples(1):
        rig = Rig(port)
        a, b = rig.devices(**clocks)
        if warm:
            await a.write(b"\x00")
            await b.write(b"\x00")
        names = record_calls(rig.wire)
        rig.wire.fail_call(at=at, after=after, error=error)
        try:
            await every_operation(rig, a)[n]()
            failed = None
        except BaseException as caught:
            failed = caught
        rig.wire.works_again()
        if len(names) < at:
            assert failed is None
            await all_is_well(rig, a, b)
            break
        faults += 1
        check(failed, n, names[at - 1])
        if names[at - 1] == "try_lock" and after:
            rig.made[0].unlock()  # nobody can know that a lock was taken when its try_lock() has raised
        await all_is_well(rig, a, b)
    return faults, bool(names)


def record_calls(wire):
    """The names of the calls from now on, in a list that grows."""
    names = []
    called = wire.called

    def recording(what):
        names.append(what)
        return called(what)

    wire.called = recording
    return names


async def test_every_call_that_fails():
    """Each call of a pin or of the bus object fails once, before or after it has done its work: the error is one of
    ours, and the next operation of either device is right."""

    def check(failed, n, name):
        # What is raised is ours, unless it is the block itself that has moved CS; and a lock cannot fail in earnest.
        ours = OSError if n == OPERATIONS - 2 or name in ("try_lock", "unlock") else ERRORS
        assert failed is None or isinstance(failed, ours), repr(failed)

    faults = 0
    for port in PORTS:
        for n in range(OPERATIONS):
            for after in (False, True):
                for warm in (False, True):
                    failed, called = await failing_at_every_call(port, n, after, None, warm, check)
                    assert called or n == 8
                    faults += failed
    for port in SOME:
        for n in range(OPERATIONS):
            for after in (False, True):  # the clocks around a section, too
                clocks = {"pre_clocks": 8, "post_clocks": 8}
                failed, _ = await failing_at_every_call(port, n, after, None, True, check, **clocks)
                faults += failed
    print("faults: %d of SPI's calls, OSError" % faults)


async def test_every_call_that_raises_something_else():
    """The same with what is no OSError, and with Ctrl-C: it goes to the caller as it is."""
    faults = 0
    for error in (RuntimeError, KeyboardInterrupt):

        def check(failed, n, name):
            assert failed is None or isinstance(failed, error), repr(failed)

        for port in SOME:
            for n in range(OPERATIONS):
                for after in (False, True):
                    failed, _ = await failing_at_every_call(port, n, after, error, True, check)
                    faults += failed
    print("faults: %d of SPI's calls, other errors" % faults)


async def test_a_chip_select_that_cannot_be_driven_idle():
    """If CS cannot be driven idle the bus is dirty: it is driven again before the next transfer, or nothing moves."""
    for port in PORTS:
        for operate in (lambda: a.write(b"\x01"), lambda: select_and_write(a), lambda: select_in_a_session(a)):
            rig = Rig(port)
            a, b = rig.devices()
            await a.write(b"\x00")
            await b.write(b"\x00")
            # From its second call on the pin does not do what it is told.
            rig.wire.fail_call(at=2, what="a", times=None)
            error = await raises_async(TransferError, operate())
            assert a._label() in str(error)
            assert rig.wire.selected() == ["a"]
            rig.b.listen()
            for use in (lambda: b.write(b"\x01"), lambda: select_and_write(b), lambda: keep_the_wire(b)):
                await raises_async(TransferError, use())
                assert rig.wire.selected() == ["a"]
                assert rig.b.listen() == []  # nothing was sent with two chip selects active
            rig.wire.works_again()
            rig.steps()
            await b.write(b"\x02")
            assert rig.steps()[0] == ("deselect", "a")
            await all_is_well(rig, a, b)


async def test_a_chip_select_left_active_that_cannot_be_driven():
    """A driver leaves CS active, and the pin does not move: nothing is sent to anybody until it does."""

    async def forgetful():
        async with a.hold(wire=True):
            drive(pin, 0)

    for port in PORTS:
        rig = Rig(port)
        pin = rig.cs("a")
        a, b = rig.bus.device(pin), rig.bus.device(rig.cs("b"))
        for run in (lambda: forgetful(), lambda: rig.bus.call(a, drive, pin, 0)):
            await a.write(b"\x00")
            await b.write(b"\x00")
            rig.b.listen()
            rig.wire.fail_call(at=2, what="a", times=None)
            await run()
            assert rig.wire.selected() == ["a"]
            await raises_async(TransferError, b.write(b"\x01"))
            assert rig.b.listen() == []
            rig.wire.works_again()
            await all_is_well(rig, a, b)
            rig.wire.fail_call(at=2, what="a", error=KeyboardInterrupt)
            await raises_async(KeyboardInterrupt, run())
            await all_is_well(rig, a, b)


async def test_an_error_before_that_of_a_chip_select():
    """What ends a selection goes to the caller before what its chip select says; it is driven before the next use."""

    async def block():
        async with a.select():
            rig.wire.fail_call(what="a")
            raise KeyError("x")

    for port in PORTS:
        rig = Rig(port)
        a, b = rig.devices()
        await raises_async(KeyError, block())
        assert rig.wire.selected() == ["a"]
        await all_is_well(rig, a, b)
        # Of one transfer, both are TransferErrors.
        rig.a.fail("error")
        rig.wire.fail_call(at=2, what="a")
        error = await raises_async(TransferError, a.write(b"\x01"))
        assert ("transfer failed" if rig.awaits else "chip select") in str(error)
        rig.a.recover()
        await all_is_well(rig, a, b)


async def test_a_block_that_raises():
    """What the block of a selection raises goes through, and CS is idle before anybody else runs (E9)."""
    for rig in rigs():
        a, b = rig.devices()

        async def raising(error):
            async with a.select() as spi:
                await spi.write(b"\x01")
                raise error

        async def raising_in_a_session(error):
            async with a.hold() as session:
                async with session.select() as spi:
                    await spi.write(b"\x01")
                    raise error

        for error in (KeyError("x"), OSError(5, "x"), KeyboardInterrupt()):
            for run in (raising, raising_in_a_session):
                waiting = asyncio.create_task(b.read(1))
                assert await raises_async(type(error), run(error)) is error
                assert rig.wire.selected() == []
                assert await waiting == b"\xa5"
        await all_is_well(rig, a, b)


async def test_cancelled_at_every_step():
    """An operation cancelled at any step leaves CS idle at once, nothing held, and the next one right (E9)."""
    for port in PORTS:
        for n in range(OPERATIONS):
            for obstacle in (nothing, lambda rig, a, b: use_key(a, 1), lambda rig, a, b: use_wire(b, 1)):
                for step in samples():
                    rig = Rig(port)
                    a, b = rig.devices()
                    before = asyncio.create_task(obstacle(rig, a, b))
                    await turns(3)
                    task = asyncio.create_task(every_operation(rig, a)[n]())
                    await go_on(step)
                    done = task.done()
                    await cancel(task)
                    assert rig.wire.selected() == []
                    await before
                    await all_is_well(rig, a, b)
                    if done:
                        break
                assert step > 0


async def nothing(rig, a, b):
    pass


async def test_cancelled_in_the_first_use():
    """The first user of a bus that is made on first use, cancelled at any step, disturbs nobody."""
    for port in SOME:
        for step in samples():
            rig = Rig(port, factory="async")
            a, b = rig.devices()
            task = asyncio.create_task(a.read(1))
            other = asyncio.create_task(b.read(1))
            await go_on(step)
            done = task.done()
            await cancel(task)
            assert await other == b"\xa5"
            assert len(rig.made) == 1
            await all_is_well(rig, a, b)
            if done:
                break
        assert step > 3


async def test_cancelled_in_a_selection_while_others_wait():
    """When the task that has a device selected is cancelled, CS is idle before the next in line runs."""
    for rig in rigs():
        a, b = rig.devices()

        async def user():
            async with a.select() as spi:
                await spi.write(b"\x01")
                await sleep(1000)

        async def next_one():
            async with b.select() as spi:
                assert rig.wire.selected() == ["b"]
                assert await spi.read(1) == b"\xa5"

        task = asyncio.create_task(user())
        await turns(3)
        await sleep(1)
        others = [asyncio.create_task(next_one()) for _ in range(3)]
        await turns(3)
        task.cancel()
        await asyncio.gather(*others)
        await raises_async(asyncio.CancelledError, task)
        await all_is_well(rig, a, b)


async def test_a_timeout_of_wait_for_in_a_selection():
    """A time-out of asyncio around a block that has a device selected ends like a cancellation."""
    for rig in rigs(SOME):
        a, b = rig.devices()

        async def user():
            async with a.select() as spi:
                await spi.write(b"\x01")
                await sleep(1000)

        await raises_async(asyncio.TimeoutError, asyncio.wait_for(user(), 0.005))
        assert rig.wire.selected() == []
        await all_is_well(rig, a, b)


async def test_chip_selects_after_a_restart():
    """A chip select that an earlier program left active, a soft reset ago, is idle before the first transfer (E13)."""
    for port in SYNC:
        rig = Rig(port)
        line = rig.wire.line("b")
        line.pull = 0  # as if the pin were still an output, and low
        assert rig.wire.selected() == ["b"]
        a, b = rig.devices()
        assert await a.read(1) == b"\x5a"
        assert rig.b.listen() == []
        await all_is_well(rig, a, b)


async def test_errors_are_counted_and_end_nothing():
    """A chip that fails for a while, and works again: every error reaches its caller, the others' answers are right."""
    for port in PORTS:
        rig = Rig(port, chips=(Echo(0x5A), Echo(0xA5)))
        a, b = rig.devices()
        rig.a.fail("error", times=None, chance=0.3)
        errors = [0]

        async def user():
            for i in range(20):
                try:
                    assert await a.write_then_read(bytes([i]), 1) == b"\x5a"
                except TransferError:
                    errors[0] += 1
                await turns(i % 3)

        async def other():
            for i in range(20):
                assert await b.read(1) == b"\xa5"
                await turns(i % 2)

        await asyncio.gather(user(), other(), user())
        assert 3 < errors[0] < 37
        assert rig.bus.stats()["errors"] == errors[0]
        rig.a.recover()
        await all_is_well(rig, a, b)
