"""A device's set-up: run once, before the first use, by whoever comes first; and again when what it did may be lost."""

import asyncio

from buslock import BusClosed, LockTimeout, NoAck, Reentry, TransferError, WouldDeadlock, hold
from buslock_sim import Multiplexer, RegisterFile
from i2c_rig import EXPANDER, A, B, Rig, cancel, outcome, rigs, sleep, use_key
from support import clock
from support.small import SMALL, few_ports
from support.turns import raises_async, turns

CLOCK = "virtual"

SHAPES = few_ports("rp2", "soft", "circuitpython")


class Sensor:
    """A device whose set-up takes `ms` and counts its runs; it is only usable when the set-up has been run."""

    def __init__(self, rig, ms=2, address=A, owner=None, **declared):
        self.runs = 0
        self.begun = 0
        self.ms = ms
        self.error = None
        self.chip = rig.a if address == A else rig.b
        self.device = (owner or rig.bus).device(address, setup=self.setup, **declared)

    async def setup(self, session):
        self.begun += 1
        await session.write_register(0x20, 0x11)
        await sleep(self.ms)
        if self.error is not None:
            raise self.error
        await session.write_register(0x21, 0x22)
        self.runs += 1

    async def read(self, **arguments):
        """A read that must find the sensor set up."""
        got = await self.device.read_register(0x20, 2, **arguments)
        assert got == b"\x11\x22"
        return got

    def lose(self):
        """The chip loses its settings, as by a brown-out."""
        self.chip[0x20] = self.chip[0x21] = 0


async def test_once_for_all_first_callers():
    """A hundred first callers of every kind share one run of the set-up, and all find it done."""
    for rig in rigs(SHAPES):
        sensor = Sensor(rig)
        device = sensor.device

        async def by_hold():
            async with device.hold() as session:
                assert await session.read_register(0x20, 2) == b"\x11\x22"

        async def by_wire():
            async with device.hold(wire=True) as session:
                assert await session.read_register(0x20, 2) == b"\x11\x22"

        async def by_several():
            async with rig.bus.hold(B, A) as regs:
                assert await regs.read_register(A, 0x20, 2) == b"\x11\x22"

        async def by_call():
            assert await rig.bus.call(A, lambda: (rig.a[0x20], rig.a[0x21])) == (0x11, 0x22)

        async def by_update():
            assert await device.update_register(0x21, 0, 0) == 0x22

        async def by_poll():
            assert await device.wait_register(0x21, 0xFF, 0x22) == 0x22

        async def by_short_form():
            assert await rig.bus.read_register(A, 0x20, 2) == b"\x11\x22"

        kinds = (sensor.read, by_hold, by_wire, by_several, by_call, by_update, by_poll, by_short_form)
        await asyncio.gather(*[kinds[n % len(kinds)]() for n in range(16 if SMALL else 100)])
        assert sensor.begun == sensor.runs == 1
        rig.check()


async def test_others_go_on_during_the_set_up():
    """Between the transfers of a set-up the bus belongs to the others."""
    for rig in rigs(SHAPES):
        sensor = Sensor(rig, ms=20)
        reads = []

        async def other():
            while sensor.runs == 0:
                start = clock.now()
                await rig.bus.read_register(B, 0, 1)
                reads.append(clock.now() - start)
                await sleep(1)

        await asyncio.gather(sensor.read(), other())
        assert len(reads) >= 15
        assert max(reads) <= 1
        rig.check()


async def test_cancelling_any_first_caller():
    """Whichever first caller is cancelled, and whenever, the others get their result from the same run."""
    for shape in ("rp2", "circuitpython"):
        for victim in range(4):
            for at in range(6):
                rig = Rig(shape)
                sensor = Sensor(rig)
                tasks = [asyncio.create_task(sensor.read()) for _ in range(4)]
                await turns(at % 3)
                if at >= 3:
                    await sleep(1)
                tasks[victim].cancel()
                results = await asyncio.gather(*tasks, return_exceptions=True)
                for n, result in enumerate(results):
                    if n == victim:
                        assert isinstance(result, asyncio.CancelledError)
                    else:
                        assert result == b"\x11\x22"
                # Cancelled before its first step the first caller has started none; the next one has.
                assert sensor.begun == sensor.runs == 1
                rig.check()


async def test_all_callers_cancelled():
    """With all callers gone the set-up goes on, and a later caller finds it done."""
    for rig in rigs(SHAPES):
        sensor = Sensor(rig)
        tasks = [asyncio.create_task(sensor.read()) for _ in range(3)]
        await turns(3)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await sleep(5)
        assert sensor.runs == 1
        await sensor.read()
        assert sensor.begun == 1
        rig.check()


async def test_a_caller_may_time_out():
    """The set-up's time counts as waiting: the caller gets LockTimeout that names it, the set-up goes on."""
    for rig in rigs(SHAPES):
        sensor = Sensor(rig, ms=10)
        start = clock.now()
        error = await raises_async(LockTimeout, sensor.read(timeout_ms=4))
        assert clock.now() - start == 4
        assert "set-up" in str(error) and "i2c/0x10" in str(error)
        for make in (sensor.device.hold, lambda timeout_ms: rig.bus.hold(A, B, timeout_ms=timeout_ms)):

            async def use():
                async with make(timeout_ms=1):
                    pass

            await raises_async(LockTimeout, use())
        await raises_async(LockTimeout, sensor.read(timeout_ms=0))
        assert await sensor.read(timeout_ms=20)
        assert sensor.begun == sensor.runs == 1
        rig.check()


async def test_the_callers_order_is_kept():
    """Those who waited for the set-up get the device in the order in which they came."""
    for rig in rigs(SHAPES):
        sensor = Sensor(rig)
        log = []

        async def user(n):
            async with sensor.device.hold() as session:
                log.append(n)
                await session.read_register(0x20, 1)
                await turns()

        tasks = []
        for n in range(6):
            tasks.append(asyncio.create_task(user(n)))
            await turns()
        await asyncio.gather(*tasks)
        assert log == list(range(6))
        rig.check()


async def test_a_failure_goes_to_all_who_wait():
    """A set-up that fails: everybody who waits gets an exception of his own, like the one it raised."""
    for rig in rigs(SHAPES):
        sensor = Sensor(rig)
        sensor.error = KeyError("wrong chip")
        results = await asyncio.gather(*[sensor.read() for _ in range(4)], return_exceptions=True)
        for n, error in enumerate(results):
            assert isinstance(error, KeyError)
            assert error.args == ("wrong chip",)
            assert error not in results[:n]
        assert sensor.begun == 1
        rig.check()


async def test_a_failure_is_retried_by_a_later_caller():
    """The next caller runs the set-up again; nobody uses the device before one has succeeded."""
    for rig in rigs(SHAPES):
        sensor = Sensor(rig)
        for n, error in enumerate((ValueError("first"), OSError(5, "second"), RuntimeError("third"))):
            sensor.error = error
            got = await raises_async(type(error), sensor.read())
            assert got.args == error.args
            assert sensor.begun == n + 1
        sensor.error = None
        await asyncio.gather(sensor.read(), sensor.read())
        assert sensor.begun == 4
        assert sensor.runs == 1
        rig.check()


async def test_a_transfer_that_fails_in_the_set_up():
    """A NACK or time-out of the set-up's own transfers reaches the callers as such, and the next caller tries again."""
    for rig in rigs(SHAPES):
        sensor = Sensor(rig)
        for kind, expected in (("nack", NoAck), ("timeout", TransferError)):
            for nth in range(2):
                rig.a.fail_nth(kind, nth)
                for error in await asyncio.gather(sensor.read(), sensor.read(), return_exceptions=True):
                    assert isinstance(error, expected), error
                    assert "i2c/0x10" in error.args[1]
                rig.check()
        rig.a.recover()
        await sensor.read()
        assert sensor.runs == 1
        assert sensor.begun == 5
        rig.check()


async def test_retries_count_in_the_set_up():
    """With retries a set-up's repeatable transfers are tried again like any."""
    for rig in rigs(SHAPES):
        begun = []

        async def setup(session):
            begun.append(1)
            await session.write_register(0x20, 0x11, repeatable=True)
            assert await session.read_register(1, 1) == b"\x01"

        device = rig.bus.device(A, setup=setup, retries=2)
        rig.a.fail("nack", times=2)
        assert await device.read_register(0x20, 1) == b"\x11"
        assert begun == [1]
        rig.check()


async def test_a_set_up_may_use_plain_operations():
    """A set-up may use the device itself, the short forms and other devices instead of its session."""
    for shape in SHAPES:
        for chunk in (None, 4):
            rig = Rig(shape)
            runs = []

            async def setup(session):
                runs.append(1)
                await device.write_register(0x20, b"\x11\x22\x33\x44\x55\x66")
                assert await rig.bus.read_register(A, 0x20, 6) == b"\x11\x22\x33\x44\x55\x66"
                assert await device.probe() is True
                assert await rig.bus.read_register(B, 0, 1) == b"\xff"
                assert await rig.bus.call(A, lambda: 5) == 5
                assert await device.wait_register(0x20, 0xFF, 0x11) == 0x11
                assert await device.update_register(0x20, 0x0F, 0x02) == 0x12

            device = rig.bus.device(A, setup=setup, chunk=chunk)
            await asyncio.gather(device.read_register(0, 1), device.read_register(1, 1))
            assert runs == [1]
            rig.check()


async def test_a_set_up_that_asks_for_its_own_device_is_refused():
    """A hold of its own device inside a set-up is Reentry, which goes to the callers; it does not hang."""
    for rig in rigs(SHAPES):

        async def setup(session):
            async with device.hold():
                pass

        device = rig.bus.device(A, setup=setup)
        await raises_async(Reentry, device.read_register(0, 1))
        rig.check()


async def test_set_ups_that_need_each_other():
    """Two set-ups that each read the other device are told so (WouldDeadlock); nobody waits for ever (promise 8)."""
    for rig in rigs(SHAPES):

        async def setup_a(session):
            await b.read_register(0, 1)

        async def setup_b(session):
            await a.read_register(0, 1)

        a = rig.bus.device(A, setup=setup_a)
        b = rig.bus.device(B, setup=setup_b)
        results = await asyncio.gather(a.read_register(0, 1), b.read_register(0, 1), return_exceptions=True)
        for error in results:
            assert isinstance(error, WouldDeadlock), error
        rig.check()


async def test_a_set_up_that_uses_another_device_with_a_set_up():
    """A set-up that needs another device waits for that one's set-up first."""
    for rig in rigs(SHAPES):
        log = []

        async def setup_a(session):
            await b.read_register(0, 1)
            log.append("a")

        async def setup_b(session):
            await sleep(1)
            log.append("b")

        a = rig.bus.device(A, setup=setup_a)
        b = rig.bus.device(B, setup=setup_b)
        await asyncio.gather(a.read_register(0, 1), b.read_register(0, 1), a.read_register(1, 1))
        assert log == ["b", "a"]
        rig.check()


async def test_what_is_no_coroutine_function():
    """A set-up that is a plain function is a TypeError for its callers, and nothing is held."""
    for rig in rigs(SHAPES):
        device = rig.bus.device(A, setup=lambda session: None)
        await raises_async(TypeError, device.read_register(0, 1))
        rig.check()
        await raises_async(TypeError, device.read_register(0, 1))
        rig.check()


# Inline, under a hold that the task has already


async def test_inline_under_hold_all():
    """Whoever holds the whole bus runs a due set-up in place, by session and by plain operation."""
    for shape in SHAPES:
        for way in range(4):
            rig = Rig(shape)
            sensor = Sensor(rig)
            async with rig.bus.hold_all() as regs:
                if way == 0:
                    await sensor.read()
                elif way == 1:
                    assert await regs.read_register(A, 0x20, 2) == b"\x11\x22"
                elif way == 2:
                    assert await rig.bus.read_register(A, 0x20, 2) == b"\x11\x22"
                else:
                    assert await rig.bus.call(A, lambda: rig.a[0x21]) == 0x22
                assert sensor.runs == 1
                await sensor.read()
            await sensor.read()
            assert sensor.begun == sensor.runs == 1
            rig.check()


async def test_inline_for_several_tasks():
    """Tasks that share the session of a hold_all find a due set-up run once, and none of them uses the device before."""
    for rig in rigs(SHAPES):
        sensor = Sensor(rig, ms=4)
        async with rig.bus.hold_all() as regs:

            async def child(n):
                await sleep(n)
                assert await regs.read_register(A, 0x20, 2) == b"\x11\x22"

            await asyncio.gather(child(0), child(0), child(1), child(3))
            await sensor.read()
            assert sensor.runs == 1
        rig.check()


async def test_an_inline_set_up_that_shares_its_session():
    """A set-up that is run inline may hand its session to tasks of its own, as one that is not may."""
    for shape in SHAPES:
        for inline in (False, True):
            rig = Rig(shape)

            async def setup(session):
                await asyncio.gather(session.write_register(0x20, 0x11), session.write_register(0x21, 0x22))
                await asyncio.create_task(session.write_register(0x22, 0x33))

            device = rig.bus.device(A, setup=setup)
            if inline:
                async with rig.bus.hold_all() as regs:
                    assert await regs.read_register(A, 0x20, 3) == b"\x11\x22\x33"
            assert await device.read_register(0x20, 3) == b"\x11\x22\x33"
            rig.check()


async def test_a_queued_set_up_finds_it_done():
    """A set-up that waits for the key while another runs it inline under hold_all does not run it a second time."""
    for rig in rigs(SHAPES):
        sensor = Sensor(rig)

        async def everything():
            async with rig.bus.hold_all():
                await turns(4)  # the callers' set-up stands in line now
                await sensor.read()

        task = asyncio.create_task(everything())
        await turns()
        await asyncio.gather(task, sensor.read(), sensor.read())
        assert sensor.begun == sensor.runs == 1
        rig.check()


async def test_inline_under_the_own_hold():
    """After a recovery inside a hold, its next operation runs the set-up in place, under that hold."""
    for shape in SHAPES:
        for wire in (False, True):
            for plain in (False, True):
                rig = Rig(shape)
                sensor = Sensor(rig)
                async with sensor.device.hold(wire=wire) as session:
                    runs = sensor.runs
                    sensor.lose()
                    await rig.bus.recover()
                    if plain:
                        await sensor.read()
                    else:
                        assert await session.read_register(0x20, 2) == b"\x11\x22"
                    assert sensor.runs == runs + 1
                    await sensor.read()
                    assert sensor.runs == runs + 1
                await sensor.read()
                assert sensor.runs == 2
                rig.check()


async def test_an_inline_set_up_that_fails():
    """An inline set-up's error goes to the operation that needed it; the hold stays, and the next one tries again."""
    for rig in rigs(SHAPES):
        sensor = Sensor(rig)
        async with rig.bus.hold_all() as regs:
            for error in (KeyError("mine"), OSError(5, "no")):
                sensor.error = error
                await raises_async(type(error), sensor.read())
                await raises_async(type(error), regs.read_register(A, 0, 1))
            sensor.error = None
            await sensor.read()
            assert await regs.read_register(B, 0, 1) == b"\xff"
        assert sensor.begun == 5
        rig.check()


async def test_an_inline_set_up_cancelled_at_each_await():
    """Whoever is cancelled in an inline set-up gives up his hold; the set-up is still due, and the next one runs it."""
    for shape in ("rp2", "circuitpython"):
        for ms, done in ((0, 0), (1, 0), (4, 1)):
            rig = Rig(shape)
            sensor = Sensor(rig, ms=2)

            async def everything():
                async with rig.bus.hold_all():
                    await sensor.read()
                    await sleep(10)

            task = asyncio.create_task(everything())
            await sleep(ms)
            await cancel(task)
            assert sensor.runs == done
            rig.check()
            await sensor.read()
            assert sensor.runs == 1
            assert sensor.begun == 2 - done
            rig.check()


# When it is due again


async def test_due_again_after_recover():
    """recover() makes every set-up of the bus due again, also of devices behind multiplexers."""
    for rig in rigs(SHAPES):
        rig.wire.attach(0x70, Multiplexer()).channel(0).attach(0x30, RegisterFile())
        a, b = Sensor(rig), Sensor(rig, address=B)
        behind = []

        async def setup(session):
            behind.append(1)

        hidden = rig.bus.mux(0x70).channel(0).device(0x30, setup=setup)
        for n in range(1, 4):
            await asyncio.gather(a.read(), b.read(), hidden.read_register(0, 1))
            await hidden.read_register(0, 1)
            assert (a.runs, b.runs, len(behind)) == (n, n, n)
            await rig.bus.recover()
            a.lose()
            b.lose()
        rig.check()


async def test_due_again_after_aclose():
    """After aclose() the next use makes the peripheral anew and runs the set-up again; a ready object's too."""
    for shape in SHAPES:
        for factory in (None, "sync", "async"):
            rig = Rig(shape, factory=factory)
            sensor = Sensor(rig)
            for n in range(1, 4):
                await asyncio.gather(sensor.read(), sensor.read())
                assert sensor.runs == n
                assert len(rig.made) == (n if factory else 1)
                await rig.bus.aclose()
                sensor.lose()
            rig.check()


async def test_due_again_after_an_error_that_reached_a_caller():
    """A transfer that failed may mean that the chip was off: the next use runs the set-up again."""
    for shape in SHAPES:
        for retries in (0, 2):
            rig = Rig(shape)
            sensor = Sensor(rig, retries=retries)
            await sensor.read()
            other = []

            async def setup(session):
                other.append(1)

            neighbour = rig.bus.device(B, setup=setup)
            await neighbour.read_register(0, 1)
            runs = sensor.runs
            for kind, expected in (("nack", NoAck), ("timeout", TransferError)):
                for make in (
                    lambda: sensor.device.read_register(0, 1),
                    lambda: sensor.device.read_register_into(0, bytearray(1)),
                    lambda: sensor.device.write_register(0, 1),
                    lambda: sensor.device.write_register(0, 1, repeatable=True),
                    lambda: sensor.device.update_register(0, 1, 1),
                    lambda: sensor.device.read(1),
                    lambda: sensor.device.write(1),
                    lambda: sensor.device.write_then_read(b"\x00", 1),
                    lambda: rig.bus.read_register(A, 0, 1),
                ):
                    rig.a.fail(kind, times=None)
                    await raises_async(expected, make())
                    rig.a.recover()
                    sensor.lose()
                    await sensor.read()
                    runs += 1
                    assert sensor.runs == runs
            await neighbour.read_register(0, 1)
            assert other == [1]
            rig.check()


async def test_due_again_after_an_error_in_a_session():
    """So does an error that reached the user of a session, and one that a driver's function raised."""
    for rig in rigs(SHAPES):
        sensor = Sensor(rig)
        await sensor.read()
        rig.a.fail("nack")
        async with sensor.device.hold() as session:
            await raises_async(NoAck, session.read_register(0, 1))
        sensor.lose()
        await sensor.read()
        assert sensor.runs == 2

        def driver():
            raise OSError(19, "gone")

        await raises_async(OSError, rig.bus.call(A, driver))
        sensor.lose()
        await sensor.read()
        assert sensor.runs == 3
        rig.check()


async def test_not_due_after_an_error_that_a_retry_cured():
    """An error that no caller has seen does not make the set-up due."""
    for rig in rigs(SHAPES):
        sensor = Sensor(rig, retries=2)
        await sensor.read()
        for _ in range(3):
            rig.a.fail("nack", times=2)
            await sensor.read()
            rig.a.fail("nack", times=1)
            await sensor.device.write_register(0x30, 1, repeatable=True)
        # A failed read of a register can cost two NACKs: some ports make sure of a STOP by an empty write.
        assert rig.bus.stats()["retries"] >= 6
        assert sensor.runs == 1
        rig.check()


async def test_not_due_after_other_errors():
    """Bad arguments, time-outs of the wait and cancels say nothing about the chip."""
    for rig in rigs(SHAPES):
        sensor = Sensor(rig)
        await sensor.read()
        await raises_async(ValueError, sensor.device.read_register(0, 0))
        await raises_async(TypeError, sensor.device.write_register(0, "x"))
        task = asyncio.create_task(use_key(sensor.device, 5))
        await turns()
        await raises_async(LockTimeout, sensor.read(timeout_ms=1))
        waiting = asyncio.create_task(sensor.read())
        await turns()
        await cancel(waiting)
        await task
        await sensor.read()
        assert sensor.runs == 1
        rig.check()


async def test_probe_and_scan_leave_the_set_up_alone():
    """probe and scan neither run a set-up nor make it due, whether the chip answers or not."""
    for rig in rigs(SHAPES):
        sensor = Sensor(rig)
        assert await sensor.device.probe() is True
        assert A in await rig.bus.scan()
        assert sensor.begun == 0
        await sensor.read()
        rig.a.fail("nack", times=2)
        assert await sensor.device.probe() is False
        async with sensor.device.hold() as session:
            assert await session.probe() is False
        rig.a.fail("timeout")
        await raises_async(TransferError, sensor.device.probe())
        await sensor.read()
        assert sensor.runs == 1
        rig.check()


async def test_probe_under_hold_all_leaves_the_set_up_alone():
    """The same for who holds the whole bus, by plain operation and by session."""
    for rig in rigs(SHAPES):
        sensor = Sensor(rig)
        async with rig.bus.hold_all() as regs:
            assert await regs.probe(A) is True
            assert await sensor.device.probe() is True
        assert sensor.begun == 0
        rig.check()


async def test_readiness_is_looked_at_after_the_key_was_granted():
    """A caller that stood in line while the set-up became due runs it before its transfer."""
    for rig in rigs(SHAPES):
        sensor = Sensor(rig)
        await sensor.read()

        async def holder():
            async with sensor.device.hold():
                await turns(3)
                await rig.bus.recover()
                sensor.lose()

        async def driver():
            async with sensor.device.hold(wire=True):
                assert sensor.runs == 2
                assert rig.a[0x21] == 0x22  # as a raw driver finds it, without any operation of the session

        task = asyncio.create_task(holder())
        await turns()
        await asyncio.gather(task, driver(), sensor.read(), sensor.read(), sensor.read())
        assert sensor.runs == 2
        rig.check()


async def test_recover_during_a_set_up():
    """A recovery in the middle of a set-up makes it due again: what it wrote before may be lost."""
    for rig in rigs(SHAPES):
        sensor = Sensor(rig, ms=4)
        tasks = [asyncio.create_task(sensor.read()) for _ in range(3)]
        await sleep(2)
        await rig.bus.recover()
        rig.a[0x20] = 0
        await asyncio.gather(*tasks)
        assert sensor.begun == 2
        rig.check()


async def test_a_set_up_that_swallows_its_own_error():
    """A set-up that expects a NACK, from a chip that is reset say, and goes on, has succeeded."""
    for rig in rigs(SHAPES):
        runs = []

        async def setup(session):
            runs.append(1)
            rig.a.fail("nack")
            try:
                await session.write(0x06)
            except NoAck:
                pass
            await session.write_register(0x20, 0x11)

        device = rig.bus.device(A, setup=setup)
        for _ in range(3):
            assert await device.read_register(0x20, 1) == b"\x11"
        assert runs == [1]
        rig.check()


# Before any lock is taken


async def test_set_ups_are_run_before_any_lock():
    """A hold of several devices, on one bus or on two, runs the due set-ups before it takes the first key."""
    for several_buses in (False, True):
        rig = Rig()
        other = Rig(name="other") if several_buses else rig
        slow = Sensor(other, ms=20, address=B)
        device = rig.bus.device(A)

        async def both():
            if several_buses:
                held = hold(device, slow.device)
            else:
                held = rig.bus.hold(A, B)
            async with held as regs:
                return await regs.read_register(device, 1, 1), await regs.read_register(slow.device, 0x20, 2)

        task = asyncio.create_task(both())
        await sleep(5)
        assert slow.begun == 1 and slow.runs == 0
        # Nothing is held for the set-up but the device that is set up.
        assert await device.read_register(1, 1, timeout_ms=0) == b"\x01"
        async with device.hold(wire=True, timeout_ms=0):
            pass
        assert await task == (b"\x01", b"\x11\x22")
        rig.check()
        other.check()


async def test_two_holds_with_set_ups_crosswise():
    """Two tasks that hold the same two devices, each with a set-up, run each set-up once and do not deadlock."""
    for rig in rigs(SHAPES):
        a, b = Sensor(rig), Sensor(rig, address=B)

        async def both(*addresses):
            async with rig.bus.hold(*addresses) as regs:
                for address in addresses:
                    assert await regs.read_register(address, 0x20, 2) == b"\x11\x22"

        await asyncio.gather(both(A, B), both(B, A), a.read(), b.read())
        assert (a.begun, b.begun) == (1, 1)
        rig.check()


async def test_the_set_up_waits_for_the_key_like_any_caller():
    """A set-up that becomes due while another task holds the device waits for that hold's end."""
    for rig in rigs(SHAPES):
        sensor = Sensor(rig)
        await sensor.read()
        await rig.bus.recover()
        log = []

        async def holder():
            # It finds the set-up due and has it run first; then it is in nobody's way.
            async with sensor.device.hold():
                runs = sensor.begun
                await sleep(5)
                assert sensor.begun == runs
                log.append("held")

        await asyncio.gather(holder(), sensor.read(), sensor.read())
        assert log == ["held"]
        assert sensor.runs == 2
        rig.check()


async def test_aclose_during_a_set_up():
    """aclose() waits for a set-up that runs; those who wait for it get BusClosed, and a later use starts again."""
    for shape in SHAPES:
        for factory in (None, "sync", "async"):
            rig = Rig(shape, factory=factory)
            sensor = Sensor(rig, ms=5)
            tasks = [asyncio.create_task(outcome(sensor.read())) for _ in range(3)]
            await sleep(4)
            assert sensor.begun == 1
            await rig.bus.aclose()
            for error in await asyncio.gather(*tasks):
                assert isinstance(error, BusClosed), error
            rig.check()
            sensor.lose()
            await sensor.read()
            assert sensor.begun == 2
            rig.check()


async def test_aclose_at_every_turn_of_a_set_up():
    """aclose() in any turn around a set-up: each caller gets BusClosed or his bytes, from a bus that was open."""
    for shape in ("rp2", "circuitpython"):
        for at in range(1, 14):
            rig = Rig(shape, factory="sync")
            log = []

            async def setup(session):
                await session.write_register(0x20, 0x11)
                await turns(2)
                await session.write_register(0x21, 0x22)
                log.append("ready")

            async def by_operation():
                assert await device.read_register(0x20, 2) == b"\x11\x22"

            async def by_hold():
                async with device.hold(wire=True):
                    pass

            async def by_several():
                async with rig.bus.hold(A, B):
                    pass

            async def user(use):
                try:
                    await use()
                    log.append("read")
                except BusClosed:
                    log.append("closed")

            device = rig.bus.device(A, setup=setup)
            tasks = [asyncio.create_task(user(use)) for use in (by_operation, by_hold, by_several)]
            await turns(at)
            await rig.bus.aclose()
            # Whoever was not failed has read before the close, and nobody has opened the bus again.
            assert "read" not in log or len(rig.made) == 1
            log.append("end of aclose")
            await asyncio.gather(*tasks)
            assert "read" not in log[log.index("end of aclose") :]
            assert len(rig.made) <= 1
            rig.check()


async def test_an_alias_shares_the_set_up():
    """Whichever address of a chip is used first, its one set-up is run, once."""
    for rig in rigs(SHAPES):
        rig.wire.attach(0x12, rig.a)
        sensor = Sensor(rig, aliases=(0x12,))
        alias = rig.bus.device(0x12)
        results = await asyncio.gather(
            alias.read_register(0x20, 2), sensor.read(), rig.bus.read_register(0x12, 0x20, 2)
        )
        assert results == [b"\x11\x22"] * 3
        assert sensor.begun == 1
        rig.a.fail("nack")
        await raises_async(NoAck, alias.read_register(0, 1))
        sensor.lose()
        assert await alias.read_register(0x20, 2) == b"\x11\x22"
        assert sensor.runs == 2
        rig.check()


async def test_a_recovery_makes_the_set_up_of_an_alias_due():
    """It is due for both addresses, and run once."""
    for again in (lambda rig: rig.bus.recover(), lambda rig: rig.bus.aclose()):
        rig = Rig(factory="sync")
        runs = []

        async def setup(session):
            runs.append(session)

        rig.bus.device(A, setup=setup, aliases=(B,))
        for n in range(1, 4):
            assert await rig.bus.read_register(B, 1, 1) == b"\xfe"
            assert await rig.bus.read_register(A, 1, 1) == b"\x01"
            assert len(runs) == n
            await again(rig)
        rig.check()


async def test_a_new_bus_runs_the_set_up_again():
    """Nothing is remembered beyond the bus object: a program that is loaded again sets its chips up again (C3)."""
    rig = Rig()
    sensor = Sensor(rig)
    await sensor.read()
    rig.check()
    again = Rig(wire=rig.wire)
    again.a = rig.a
    other = Sensor(again)
    sensor.lose()
    await other.read()
    assert other.runs == 1
    again.check()


def test_a_set_up_cut_off_by_the_end_of_a_run():
    """A set-up that the end of asyncio.run() has cut off is run, or ended, in the next run; nobody waits for ever."""
    for shape in SHAPES:
        rig = Rig(shape)
        sensor = Sensor(rig, ms=5)

        async def first():
            await raises_async(LockTimeout, sensor.read(timeout_ms=1))

        async def second():
            await sensor.read(timeout_ms=40)
            await sleep(1)
            rig.check()

        asyncio.run(first())
        assert sensor.runs == 0
        asyncio.run(second())
        assert sensor.runs == 1


async def test_expander_without_set_up_is_not_disturbed():
    """A device without a set-up takes no part in any of this."""
    for rig in rigs(SHAPES):
        sensor = Sensor(rig)
        sensor.error = KeyError("never")
        await raises_async(KeyError, sensor.read())
        await rig.bus.recover()
        assert await rig.bus.read_register(EXPANDER, 0, 1) == b"\xff"
        rig.check()
