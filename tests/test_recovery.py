"""Stuck I2C buses: clocking a chip out of the middle of a byte, making the peripheral anew, and giving up quickly."""

import asyncio
import sys

import buslock.recovery
from buslock import BusError, BusStuck, I2CBus, LockTimeout, TransferError
from buslock_sim import I2C, Pin, RegisterFile, SoftI2C, StuckChip, Wire, check
from i2c_rig import (
    BUSIO,
    EXPANDER,
    MEMORY,
    THERMOMETER,
    A,
    B,
    Counter,
    NumberedI2C,
    Rig,
    cancel,
    outcome,
    sleep,
    use_key,
)
from support import clock
from support.small import SMALL
from support.turns import raises, raises_async, turns

CLOCK = "virtual"

# (port, factory) of every way in which a peripheral can be made anew
WAYS = (
    ("rp2", "sync"),
    ("rp2", "async"),
    ("esp32", "sync"),
    ("soft", None),
    ("soft", "sync"),
    ("numbered", None),
    ("circuitpython", "sync"),
    ("circuitpython", "async"),
)
if SMALL:
    WAYS = WAYS[1:2] + WAYS[3:4] + WAYS[5:7]  # one of each kind


def recoverable(ways=WAYS, **bus):
    for port, factory in ways:
        yield Rig(port, factory=factory, pins=True, **bus)


async def get_stuck(rig, clocks=9):
    """A transfer to A is broken off by a time-out, with SDA low from then on for so many clocks."""
    await rig.bus.read_register(B, 0, 1)  # the peripheral is made while the bus is well
    if rig.port == "soft":
        # Bit-banging does not look whether SDA is free; its time-out comes from a stretched clock.
        rig.a.fail_nth("timeout", 0)
    else:
        rig.a.hold_sda(clocks)
    error = await raises_async(TransferError, rig.bus.read_register(A, 0, 1))
    rig.a.hold_sda(clocks)
    rig.a.clocks = 0
    return error


async def test_the_next_user_finds_a_free_bus():
    """After a time-out with SDA low the bus is clocked free before the next user, who notices nothing (C1)."""
    for clocks in (1, 5, 9):
        for rig in recoverable():
            await get_stuck(rig, clocks)
            assert rig.wire.sda.level() == 0
            assert await rig.bus.read_register(B, 1, 1) == b"\xfe"
            assert rig.wire.sda.level() == 1
            assert rig.a.clocks == clocks
            assert rig.bus.stats()["recoveries"] == 1
            assert await rig.bus.read_register(A, 1, 1) == b"\x01"
            assert rig.bus.stats()["recoveries"] == 1
            rig.check()


async def test_the_message_says_recover():
    """The time-out itself names what may be wrong."""
    rig = Rig(factory="sync", pins=True, name="sensors")
    error = await get_stuck(rig)
    for part in ("sensors", "0x10", "SDA", "recover()"):
        assert part in error.args[1]
    await rig.bus.read_register(B, 0, 1)
    rig.check()


async def test_a_chip_stopped_in_the_middle_of_a_read():
    """A chip that was interrupted in the middle of a byte, whatever bit it is at, lets go and answers again (C1)."""
    for after in (1, 2, 3):
        for clocks in (2, 9):
            for rig in recoverable((("rp2", "sync"), ("numbered", None), ("circuitpython", "sync"))):
                chip = rig.wire.attach(0x30, StuckChip(after=None, clocks=clocks, values=b"\x77\x66\x55"))
                await rig.bus.read_register(B, 0, 1)
                chip.after = after
                try:
                    await rig.bus.read_register(0x30, 0, 3)
                except BusError:
                    pass
                assert await rig.bus.read_register(B, 1, 1) == b"\xfe"
                assert await rig.bus.read_register(0x30, 0, 3) == b"\x77\x66\x55"
                rig.check()


async def test_the_clocks_end_with_a_stop():
    """After the last clock a STOP is made, so that the chips know that the transfer is over."""
    for rig in recoverable():
        await get_stuck(rig, 4)
        rig.steps()
        await rig.bus.read_register(B, 0, 1)
        steps = rig.steps()
        assert ("STOP", None) in steps
        assert steps.index(("STOP", None)) < steps.index(("START", B))
        rig.check()


async def test_recover_by_hand():
    """recover() does the same when it is asked for, on a stuck bus and on one that is well."""
    for rig in recoverable():
        await get_stuck(rig, 7)
        await rig.bus.recover()
        assert rig.wire.sda.level() == 1
        rig.check()
        for _ in range(2):
            await rig.bus.recover()
            assert await rig.bus.read_register(A, 1, 1) == b"\x01"
        assert rig.bus.stats()["recoveries"] == 3
        rig.check()


async def test_the_peripheral_is_made_anew():
    """A factory's object is closed and made again, once a recovery, by close or by deinit."""
    for port in ("rp2", "soft", "circuitpython"):
        for factory in ("sync", "async"):
            closed = []

            def end(i2c):
                closed.append(i2c)
                if hasattr(i2c, "deinit"):
                    i2c.deinit()

            rig = Rig(port, factory=factory, pins=True, close=end)
            await rig.bus.read_register(B, 0, 1)
            assert len(rig.made) == 1
            for n in range(1, 3):
                await rig.bus.recover()
                await rig.bus.read_register(B, 0, 1)
                assert len(rig.made) == n + 1
                assert closed == rig.made[:n]
            rig.check()
            # One that was never made is not made for it, or once.
            rig = Rig(port, factory=factory, pins=True)
            await rig.bus.recover()
            await rig.bus.read_register(B, 0, 1)
            assert len(rig.made) == 1
            rig.check()


async def test_without_close_deinit_ends_the_old_one():
    """Without close= the old object's deinit() is called: else CircuitPython's pins would stay taken."""
    rig = Rig("circuitpython", factory="sync", pins=True)
    await rig.bus.read_register(B, 0, 1)
    await rig.bus.recover()
    raises(ValueError, rig.made[0].try_lock)
    assert await rig.bus.read_register(B, 0, 1) == b"\xff"
    rig.check()


async def test_a_ready_object_keeps_its_speed():
    """A ready SoftI2C or I2C that is made anew has the frequency that the user gave it."""
    wire = Wire()
    wire.attach(A, RegisterFile())
    soft = SoftI2C(wire, freq=100000)
    bus = I2CBus(soft, scl=Pin(wire.scl), sda=Pin(wire.sda))
    await bus.recover()
    assert soft.freq == 100000
    assert await bus.read_register(A, 0, 1) == b"\x00"
    NumberedI2C.wires[0] = wire
    first = NumberedI2C(0, freq=50000)
    bus = I2CBus(first, scl=Pin(wire.scl), sda=Pin(wire.sda))
    await bus.recover()
    assert NumberedI2C.latest[0] is not first
    assert NumberedI2C.latest[0].freq == 50000
    assert await bus.read_register(A, 0, 1) == b"\x00"
    check()


async def test_a_ready_object_that_does_not_tell_its_speed():
    """It is initialised with its pins alone, and keeps the speed that it has."""

    class Silent(SoftI2C):
        def __repr__(self):
            return "SoftI2C()"

        def init(self, **pins):
            given.append(sorted(pins))

    given = []
    wire = Wire()
    wire.attach(A, RegisterFile())
    bus = I2CBus(Silent(wire), scl=Pin(wire.scl), sda=Pin(wire.sda))
    await bus.recover()
    assert given == [["scl", "sda"]]
    assert await bus.read_register(A, 0, 1) == b"\x00"
    check()


async def test_clocks_without_a_pause():
    """Where `time` has no pauses of some us, each call of a pin takes as long as one: the clocks are the same."""

    class Seconds:
        pass

    before = buslock.recovery.time
    buslock.recovery.time = Seconds
    try:
        for rig in recoverable():
            await get_stuck(rig, 7)
            await rig.bus.recover()
            assert rig.wire.sda.level() == 1 and rig.a.clocks == 7
            assert await rig.bus.read_register(A, 1, 1) == b"\x01"
            rig.check()
    finally:
        buslock.recovery.time = before


async def test_a_ready_object_that_cannot_be_made_anew():
    """Where neither init() nor the number in its repr help, the error says: give a function that makes it."""
    rig = Rig("rp2", pins=True)
    error = await raises_async(TransferError, rig.bus.recover())
    assert "function that makes it" in error.args[1]
    rig.check()
    for port in BUSIO:
        rig = Rig(port, pins=True)
        error = await raises_async(TransferError, rig.bus.recover())
        assert "function that makes it" in error.args[1]
        rig.check()
        # Nothing was lost by asking.
        assert await rig.bus.read_register(A, 1, 1) == b"\x01"
        rig.check()


async def test_pins_by_number():
    """scl and sda may be numbers: machine.Pin is asked for them when they are needed."""
    rig = Rig("rp2", factory="sync")
    lines = {5: rig.wire.scl, 4: rig.wire.sda}

    class Machine:
        class Pin(Pin):
            def __init__(self, number, *args, **kwargs):
                super().__init__(lines[number], *args, **kwargs)

    before = sys.modules.get("machine")
    sys.modules["machine"] = Machine
    try:
        bus = rig.bus = I2CBus(rig.make, scl=5, sda=4)
        await get_stuck(rig, 6)
        assert await bus.read_register(B, 1, 1) == b"\xfe"
        assert rig.a.clocks == 6
    finally:
        if before is None:
            del sys.modules["machine"]
        else:
            sys.modules["machine"] = before
    rig.check()


async def test_a_time_out_with_free_lines():
    """A time-out that leaves both lines high is no reason to recover: nothing is clocked, nothing made anew."""
    for rig in recoverable((("rp2", "sync"), ("soft", None), ("numbered", None))):
        runs = []

        async def setup(session):
            runs.append(1)

        other = rig.bus.device(B, setup=setup)
        await other.read_register(0, 1)
        rig.a.fail("timeout")
        await raises_async(TransferError, rig.bus.read_register(A, 0, 1))
        rig.steps()
        assert await other.read_register(1, 1) == b"\xfe"
        assert ("STOP", None) not in rig.steps()
        assert len(rig.made) == 1
        assert rig.bus.stats()["recoveries"] == 0
        assert runs == [1]
        rig.check()


async def test_a_nack_is_no_reason_to_recover():
    """After a NACK nobody looks at the pins."""
    for rig in recoverable():
        await rig.bus.read_register(B, 0, 1)
        rig.a.fail("nack")
        await raises_async(BusError, rig.bus.read_register(A, 0, 1))
        await rig.bus.read_register(B, 0, 1)
        assert rig.bus.stats()["recoveries"] == 0
        assert len(rig.made) == 1
        rig.check()


async def test_set_ups_are_due_after_an_automatic_recovery():
    """After a recovery the chips may have lost what the set-ups wrote: they are run again before the next use."""
    for rig in recoverable():
        runs = []

        async def setup(session):
            runs.append(1)
            await session.write_register(0x30, 7)

        device = rig.bus.device(B, setup=setup)
        await device.read_register(0, 1)
        await get_stuck(rig)
        rig.b[0x30] = 0
        assert await device.read_register(0x30, 1) == b"\x07"
        assert runs == [1, 1]
        rig.check()


# Stuck for good


async def test_sda_stuck_for_good():
    """With SDA low for ever everybody gets BusStuck at once, after one try of nine clocks in all (C2)."""
    for rig in recoverable():
        await get_stuck(rig, None)
        start = clock.now()
        waiters = [
            asyncio.create_task(outcome(rig.bus.read_register((B, EXPANDER, THERMOMETER, MEMORY)[n % 4], 0, 1)))
            for n in range(20)
        ]
        for error in await asyncio.gather(*waiters):
            assert isinstance(error, BusStuck), error
            for part in ("i2c", "SDA", "low"):
                assert part in error.args[1]
            assert isinstance(error.args[0], int)
        assert clock.now() - start <= 10
        assert rig.a.clocks <= 10  # nine, and the STOP
        rig.check()
        # Later users are told as quickly, and the bus still wants to be cleaned.
        for _ in range(5):
            await raises_async(BusStuck, rig.bus.read_register(B, 0, 1))
        assert rig.a.clocks <= 10
        # By hand it is tried every time.
        await raises_async(BusStuck, rig.bus.recover())
        assert 10 < rig.a.clocks <= 20
        rig.check()
        rig.a.power_on()
        assert await rig.bus.read_register(B, 1, 1) == b"\xfe"
        assert await rig.bus.read_register(A, 1, 1) == b"\x01"
        rig.check()


async def test_scl_stuck_for_good():
    """With SCL low for ever there is nothing to clock: BusStuck at once for everybody, no time-out each (C2)."""
    for rig in recoverable():
        await rig.bus.read_register(B, 0, 1)
        rig.a.fail("stuck_scl", at=0)
        await raises_async(TransferError, rig.bus.read_register(A, 0, 1))
        start = clock.now()
        waiters = [asyncio.create_task(outcome(rig.bus.read_register(B, 0, 1))) for n in range(10)]
        waiters += [asyncio.create_task(outcome(in_hold(rig.bus.device(EXPANDER), True))) for n in range(3)]
        waiters.append(asyncio.create_task(outcome(rig.bus.scan())))
        for error in await asyncio.gather(*waiters):
            assert isinstance(error, BusStuck), error
            assert "i2c" in error.args[1] and "SCL" in error.args[1]
        assert clock.now() - start <= 10
        rig.check()
        await raises_async(BusStuck, rig.bus.recover())
        rig.check()
        rig.a.power_on()
        assert await rig.bus.read_register(B, 1, 1) == b"\xfe"
        assert await rig.bus.scan() == [A, B, EXPANDER, THERMOMETER, MEMORY]
        rig.check()


async def test_each_waiter_gets_an_error_of_his_own():
    """The BusStuck of several waiters are several exceptions: one raised twice would collect the tracebacks of all."""
    rig = Rig(factory="sync", pins=True)
    await get_stuck(rig, None)
    errors = await asyncio.gather(*[outcome(rig.bus.read_register(B, 0, 1)) for _ in range(4)])
    for n, error in enumerate(errors):
        assert error not in errors[:n]
    rig.a.power_on()
    await rig.bus.recover()
    rig.check()


async def test_retries_do_not_help_a_stuck_bus():
    """BusStuck is final: a device with retries gets it as quickly as one without."""
    for rig in recoverable((("rp2", "sync"), ("circuitpython", "sync"))):
        device = rig.bus.device(B, retries=1000)
        await get_stuck(rig, None)
        start = clock.now()
        await raises_async(BusStuck, device.read_register(0, 1))
        assert clock.now() - start <= 3
        rig.a.power_on()
        assert await device.read_register(1, 1) == b"\xfe"
        rig.check()
        # The device whose transfer meets it first: one time-out, one recovery, and no thousand tries.
        device = rig.bus.device(A, retries=1000)
        for make in (lambda: device.read_register(0, 1), lambda: in_hold(device, False), lambda: in_hold(device, True)):
            assert await device.read_register(1, 1) == b"\x01"
            rig.a.hold_sda(None)
            before = rig.bus.stats()["retries"]
            await raises_async(BusStuck, make())
            assert rig.bus.stats()["retries"] <= before + 1
            rig.a.power_on()
            rig.check()


async def in_hold(device, wire):
    async with device.hold(wire=wire) as session:
        await session.read_register(0, 1)


async def test_a_retry_recovers_by_itself():
    """With retries the transfer that met the stuck bus is itself repeated on the recovered one."""
    for rig in recoverable((("rp2", "sync"), ("rp2", "async"), ("numbered", None), ("circuitpython", "async"))):
        device = rig.bus.device(A, retries=2)
        await device.read_register(0, 1)
        rig.a.hold_sda(6)
        assert await device.read_register(5, 1) == b"\x05"
        assert rig.bus.stats()["recoveries"] == 1
        rig.check()


async def test_held_for_good_and_then_freed():
    """Once the lines are free again the bus works, also if nobody calls recover(), and can get stuck anew."""
    for rig in recoverable((("rp2", "sync"), ("numbered", None), ("circuitpython", "sync"))):
        for _ in range(3):
            await get_stuck(rig, None)
            await raises_async(BusStuck, rig.bus.read_register(B, 0, 1))
            await raises_async(BusStuck, rig.bus.read_register(B, 0, 1))
            rig.a.power_on()
            assert await rig.bus.read_register(B, 1, 1) == b"\xfe"
            rig.check()


# Without pins


async def test_without_pins_the_peripheral_can_be_made_anew():
    """Without pins recover() makes a factory's object anew, and has nothing to do for a ready one."""
    for port in ("rp2", "soft", "circuitpython"):
        for factory in (None, "sync", "async"):
            rig = Rig(port, factory=factory)
            await rig.bus.read_register(A, 0, 1)
            await rig.bus.recover()
            assert await rig.bus.read_register(A, 1, 1) == b"\x01"
            assert len(rig.made) == (2 if factory else 1)
            rig.check()


async def test_without_pins_a_stuck_bus_stays_stuck():
    """Without pins nothing can be clocked: every transfer times out until the chip lets go, and nothing is held."""
    for port in ("rp2", "esp32", "circuitpython"):
        rig = Rig(port)
        await rig.bus.read_register(B, 0, 1)
        rig.a.hold_sda(None)
        for _ in range(3):
            await raises_async(TransferError, rig.bus.read_register(B, 0, 1))
            rig.check()
        rig.a.power_on()
        assert await rig.bus.read_register(B, 1, 1) == b"\xfe"
        assert rig.bus.stats()["recoveries"] == 0
        rig.check()


# Who may recover, and when


async def test_recover_inside_a_hold():
    """recover() takes the wire alone: it works in the own hold of a device, of the wire, and of the whole bus."""
    for rig in recoverable():
        device = rig.bus.device(B)
        for make in (device.hold, lambda: device.hold(wire=True), rig.bus.hold_all, lambda: rig.bus.hold(A, B)):
            await get_stuck(rig, 3)
            async with make():
                await rig.bus.recover()
                assert await device.read_register(1, 1) == b"\xfe"
            rig.check()


async def test_an_automatic_recovery_inside_a_hold():
    """The failing hold's own next transfer finds the bus recovered as well, with and without the wire."""
    for rig in recoverable():
        if rig.port == "soft":
            continue
        for wire in (False, True):
            await rig.bus.read_register(B, 0, 1)
            async with rig.bus.device(A).hold(wire=wire) as session:
                rig.a.hold_sda(5)
                await raises_async(TransferError, session.read_register(1, 1))
                assert await session.read_register(1, 1) == b"\x01"
                # The same for a plain operation, a probe and a call under that hold.
                for make in (
                    lambda: rig.bus.device(A).read_register(1, 1),
                    lambda: rig.bus.device(A).probe(),
                    lambda: rig.bus.call(A, lambda: rig.wire.sda.level()),
                ):
                    rig.a.hold_sda(5)
                    await raises_async(TransferError, session.read_register(1, 1))
                    assert await make() in (b"\x01", True, 1)
                # And one that finds it so at its first transfer.
                rig.a.hold_sda(5)
                await raises_async(TransferError, rig.bus.device(A).read_register(1, 1))
                assert await session.probe() is True
            rig.check()


async def test_a_hold_of_the_wire_begins_on_a_clean_bus():
    """A hold with wire=True, for a driver that knows nothing of recovery, gets a bus that has been recovered."""
    for rig in recoverable():
        await get_stuck(rig, 5)
        async with rig.bus.device(B).hold(wire=True):
            assert rig.wire.sda.level() == 1
        await get_stuck(rig, 5)
        assert await rig.bus.call(B, rig.wire.sda.level) == 1
        rig.check()


async def test_a_drivers_time_out_is_recovered_too():
    """A time-out that a driver has met inside call() or hold(wire=True) is cleaned up before the next user."""
    for rig in recoverable():
        if rig.port == "soft":
            continue
        device = rig.bus.device(A)

        def driver():
            raw = rig.made[-1] if rig.port != "numbered" else NumberedI2C.latest[0]
            rig.a.hold_sda(4)
            if not rig.busio:
                return raw.readfrom_mem(A, 0, 1)
            raw.try_lock()
            try:
                raw.readfrom_into(A, bytearray(1))
            finally:
                raw.unlock()

        await rig.bus.read_register(B, 0, 1)
        error = await raises_async(OSError, rig.bus.call(device, driver))
        assert not isinstance(error, BusError)  # the driver's own, as it raised it
        assert await rig.bus.read_register(B, 1, 1) == b"\xfe"
        assert rig.bus.stats()["recoveries"] == 1

        async def block():
            async with device.hold(wire=True):
                driver()

        await raises_async(OSError, block())
        assert await rig.bus.read_register(B, 1, 1) == b"\xfe"
        assert rig.bus.stats()["recoveries"] == 2
        rig.check()


async def test_recover_does_not_wait_for_keys():
    """A key that another task holds does not keep recover() from working: nobody is on the wire then."""
    for rig in recoverable():
        await get_stuck(rig, 5)
        task = asyncio.create_task(use_key(rig.bus.device(A), 10))
        await turns()
        start = clock.now()
        await rig.bus.recover()
        assert clock.now() - start <= 5
        assert await rig.bus.read_register(B, 1, 1) == b"\xfe"
        await task
        rig.check()


async def test_recover_waits_for_the_wire():
    """recover() waits for whoever has the wire, with its timeout, and then does its work."""
    for rig in recoverable((("rp2", "sync"), ("soft", None), ("circuitpython", "async"))):

        async def driver():
            async with rig.bus.device(A).hold(wire=True):
                await sleep(10)

        task = asyncio.create_task(driver())
        await turns(3)
        if len(rig.made) == 0:
            await sleep(2)
        error = await raises_async(LockTimeout, rig.bus.recover(timeout_ms=3))
        assert "driver" in str(error) and "i2c" in str(error)
        await rig.bus.recover(timeout_ms=30)
        assert task.done()
        await task
        rig.check()


async def test_operations_wait_for_a_recovery():
    """While a recovery waits for an async close and an async factory, others wait for it and then succeed."""
    for port in ("rp2", "circuitpython"):

        async def close(i2c):
            await sleep(3)
            i2c.deinit()

        rig = Rig(port, factory="async", pins=True, close=close)
        await rig.bus.read_register(B, 0, 1)
        task = asyncio.create_task(rig.bus.recover())
        users = []
        for n in range(6):
            users.append(asyncio.create_task(rig.bus.read_register((A, B)[n % 2], 1, 1)))
            await sleep(1)
        assert await asyncio.gather(*users) == [b"\x01", b"\xfe"] * 3
        await task
        assert len(rig.made) == 2
        rig.check()


async def test_two_recoveries_at_once():
    """Two tasks that call recover() do it one after the other; nobody is disturbed."""
    for rig in recoverable():
        await get_stuck(rig, 5)
        await asyncio.gather(rig.bus.recover(), rig.bus.recover(), rig.bus.read_register(B, 0, 1))
        assert await rig.bus.read_register(A, 1, 1) == b"\x01"
        rig.check()


async def test_a_recovery_cancelled_at_each_await():
    """A recovery cancelled in the middle, by hand or automatic, leaves the rest to the next user, who succeeds."""
    for port in ("rp2", "circuitpython"):
        for automatic in (False, True):
            for ms in range(6):

                async def close(i2c):
                    await sleep(2)
                    i2c.deinit()

                rig = Rig(port, factory="async", pins=True, close=close)
                await get_stuck(rig, 5)
                # In the middle of the close the old object is not ended yet, and its pins are not free: it is closed again.
                task = asyncio.create_task(rig.bus.read_register(B, 0, 1) if automatic else rig.bus.recover())
                await sleep(ms)
                await cancel(task)
                rig.check()
                assert await rig.bus.read_register(B, 1, 1) == b"\xfe"
                assert await rig.bus.read_register(A, 1, 1) == b"\x01"
                rig.check()


async def test_a_factory_that_fails_in_a_recovery():
    """A factory that fails in the middle of a recovery tells its caller; the next user tries again and succeeds."""
    for port in ("rp2", "circuitpython"):
        rig = Rig(port, pins=True, factory="sync")
        make = rig.make
        failures = [0]

        def factory():
            if failures[0]:
                failures[0] -= 1
                raise KeyError("no memory")
            return make()

        lines = rig.bus._lines
        rig.bus = I2CBus(factory, scl=lines.scl, sda=lines.sda)
        await get_stuck(rig, 5)
        failures[0] = 2
        await raises_async(KeyError, rig.bus.recover())
        await raises_async(KeyError, rig.bus.read_register(B, 0, 1))
        assert await rig.bus.read_register(B, 1, 1) == b"\xfe"
        rig.check()


async def test_stuck_when_the_bus_is_first_used():
    """A line that is low before the first use: BusStuck or an error of the factory, and all is well when it is free."""
    for rig in recoverable():
        if rig.port == "soft":
            continue
        rig.a.hold_sda(None)
        await raises_async((BusError, RuntimeError), rig.bus.read_register(B, 0, 1))
        rig.a.power_on()
        assert await rig.bus.read_register(B, 1, 1) == b"\xfe"
        rig.check()


async def test_the_loop_is_not_blocked_for_long():
    """A recovery blocks the loop for its clocks alone; other tasks run between the tries of several users."""
    rig = Rig(factory="sync", pins=True)
    await get_stuck(rig, None)
    ticks = [0]
    stop = []

    async def ticker():
        while not stop:
            ticks[0] += 1
            await turns()

    task = asyncio.create_task(ticker())
    for n in range(1, 6):
        await raises_async(BusStuck, asyncio.create_task(rig.bus.read_register(B, 0, 1)))
        assert ticks[0] >= n
    stop.append(1)
    await task
    rig.a.power_on()
    await rig.bus.read_register(B, 0, 1)
    rig.check()


async def test_a_write_left_open_is_ended_by_recover():
    """recover() in a session ends a write without STOP; the hold is usable after it."""
    for rig in recoverable((("rp2", "sync"), ("soft", None), ("numbered", None))):
        async with rig.bus.device(A).hold() as session:
            await session.write(b"\x05", stop=False)
            await rig.bus.recover()
            assert await session.read_register(1, 1) == b"\x01"
        rig.check()
        assert await rig.bus.read_register(B, 1, 1) == b"\xfe"
        rig.check()


def test_counter_counts():
    """The chip of these tests counts the clocks that it saw while it held SDA."""
    wire = Wire()
    chip = wire.attach(A, Counter())
    chip.hold_sda(3)
    scl = Pin(wire.scl, Pin.OPEN_DRAIN, value=1)
    for _ in range(5):
        scl.value(0)
        scl.value(1)
    assert chip.clocks == 3
    assert wire.sda.level() == 1
    assert I2C(wire).scan() == [A]
    check()
