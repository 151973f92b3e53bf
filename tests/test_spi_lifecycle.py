"""An SPI bus from its first use to its end: set-ups, aclose(), reset(), and loops that were replaced."""

import asyncio
import sys

from buslock import BusClosed, LockTimeout, NotHeld, SPIBus, TransferError
from buslock_sim import SPI, SpiWire
from spi_rig import BUSIO, PORTS, SOME, SYNC, Echo, Rig, cancel, drive, go_on, rigs, sleep, use_key, use_wire
from support.small import SMALL
from support.turns import raises_async, turns

CLOCK = "virtual"


class Setup:
    """A set-up that counts its runs and uses all that a session can do."""

    def __init__(self):
        self.runs = 0
        self.fails = 0

    async def __call__(self, session):
        self.runs += 1
        await session.write(b"\xe0")
        async with session.select() as spi:
            await spi.write(b"\xe1")
            await turns()
            assert await spi.write_then_read(b"\xe2", 1) == b"\x5a"
        if self.fails:
            self.fails -= 1
            raise ValueError("not yet")


SETTING_UP = [b"\xe0", b"\xe1\xe2\x00"]


def rig_with_setup(port, **arguments):
    rig = Rig(port, **arguments)
    setup = Setup()
    pin = rig.cs("a")
    return rig, setup, rig.bus.device(pin, setup=setup), rig.bus.device(rig.cs("b"))


async def selected_write(device):
    async with device.select() as spi:
        await spi.write(b"\x01")


async def held_write(device):
    async with device.hold() as session:
        await session.write(b"\x01")


async def wired_write(device):
    async with device.hold(wire=True) as session:
        device._cs(0)
        await session.write(b"\x01")
        device._cs(1)


async def group_write(rig, device):
    async with rig.bus.hold(device) as regs:
        await regs.write(device, b"\x01")


async def all_write(rig, device):
    async with rig.bus.hold_all() as regs:
        await regs.write(device, b"\x01")


async def plain_write_under_all(rig, device):
    async with rig.bus.hold_all():
        await device.write(b"\x01")


async def selected_write_under_all(rig, device):
    async with rig.bus.hold_all() as regs:
        async with regs.select(device) as spi:
            await spi.write(b"\x01")


def every_use(rig, device):
    uses = (
        lambda: device.write(b"\x01"),
        lambda: selected_write(device),
        lambda: held_write(device),
        lambda: wired_write(device),
        lambda: group_write(rig, device),
        lambda: all_write(rig, device),
        lambda: plain_write_under_all(rig, device),
        lambda: selected_write_under_all(rig, device),
    )
    # A set-up inside of these, on a simulated busio, is more nested calls than a Pico has a stack for.
    return uses[:6] if SMALL and rig.busio else uses


async def test_the_set_up_runs_once_before_the_first_use():
    """However a device is used first, its set-up runs once before that, by whatever way it is used again."""
    for port in PORTS:
        for n in range(6 if SMALL and port in BUSIO else 8):
            rig, setup, a, _ = rig_with_setup(port)
            await every_use(rig, a)[n]()
            assert rig.a.listen() == SETTING_UP + [b"\x01"], (port, n)
            for use in every_use(rig, a):
                await use()
            assert setup.runs == 1
            assert await rig.bus.call(a, lambda: 7) == 7
            rig.check()


async def test_call_runs_the_set_up():
    """call() as the first use of a device runs its set-up before the driver."""
    for port in PORTS:
        rig, setup, a, _ = rig_with_setup(port)
        assert await rig.bus.call(a, lambda: setup.runs) == 1
        assert rig.a.listen() == SETTING_UP
        rig.check()


async def test_one_set_up_for_all_first_callers():
    """Any number of first callers share one set-up, others use the bus meanwhile, and its failure reaches all."""
    for port in PORTS:
        rig, setup, a, b = rig_with_setup(port)
        setup.fails = 1
        uses = [asyncio.create_task(raises_async(ValueError, use())) for use in every_use(rig, a)[:5]]
        await asyncio.gather(b.write(b"\x02"), *uses)
        assert setup.runs == 1
        rig.a.listen()
        await asyncio.gather(b.write(b"\x02"), *[use() for use in every_use(rig, a)[:5]])
        assert setup.runs == 2
        assert rig.a.listen() == SETTING_UP + [b"\x01"] * 5
        rig.check()


async def test_the_set_up_is_due_again_after_an_error():
    """After a transfer that failed the set-up runs again before the next use, also inline under the own hold."""
    for port in PORTS:
        rig, setup, a, _ = rig_with_setup(port)
        runs = 0
        for use in every_use(rig, a):
            await use()
            runs += 1
            assert setup.runs == runs
            rig.a.fail("error")
            await raises_async(TransferError, use())
        async with a.hold() as session:
            for operations in (session, a, session):
                await operations.write(b"\x01")
                runs += 1
                assert setup.runs == runs, port
                rig.a.fail("error")
                await raises_async(TransferError, operations.write(b"\x01"))
        await a.write(b"\x01")
        rig.check()


async def test_the_set_up_under_the_own_wire():
    """A set-up that becomes due while the task has the wire runs under that: it does not wait for itself."""
    for port in PORTS:
        rig, setup, a, _ = rig_with_setup(port)
        async with a.hold(wire=True) as session:
            rig.a.fail("error")
            drive(a._pin, 0)
            await raises_async(TransferError, session.write(b"\x01"))
            drive(a._pin, 1)
            await a.write(b"\x02")
        assert setup.runs == 2, port
        assert rig.a.listen()[-1] == b"\x02"
        rig.check()


async def test_aclose_waits_for_holders_and_fails_waiters():
    """aclose() waits for the holders, whoever waits gets BusClosed, and the next use makes the peripheral anew."""
    for port in PORTS:
        for hold in (use_key, use_wire, hold_selected):
            rig, setup, a, b = rig_with_setup(port, factory="async")
            await a.write(b"\x01")
            holder = asyncio.create_task(hold(a, 5))
            await turns(3)
            waiting = [
                asyncio.create_task(raises_async(BusClosed, use)) for use in (a.write(b"\x02"), selected_write(a))
            ]
            if hold is not use_key:
                waiting.append(asyncio.create_task(raises_async(BusClosed, b.write(b"\x02"))))
            await turns(2)
            closing = asyncio.create_task(rig.bus.aclose())
            await turns(2)
            late = asyncio.create_task(raises_async(BusClosed, b.read(1)))
            await asyncio.gather(late, *waiting)
            assert not holder.done()
            await closing
            assert holder.done()
            await holder
            assert rig.wire.selected() == []
            assert len(rig.made) == 1
            await a.write(b"\x03")
            assert len(rig.made) == 2
            assert setup.runs == 2
            rig.check()


async def hold_selected(device, ms):
    async with device.select() as spi:
        await spi.write(b"\x07")
        await sleep(ms)
        await spi.write(b"\x08")


async def test_aclose_gives_up():
    """aclose() with a time limit that is over leaves the bus open, and says who has it."""
    for rig in rigs(SOME, factory="sync"):
        a, b = rig.devices()
        task = asyncio.create_task(hold_selected(a, 10))
        await turns(3)
        error = await raises_async(LockTimeout, rig.bus.aclose(timeout_ms=3))
        assert "hold_selected" in str(error)
        assert await b.read(1) == b"\xa5"
        await task
        assert len(rig.made) == 1
        assert rig.a.listen() == [b"\x07\x08"]
        rig.check()


async def test_closed_buses_give_the_peripheral_back():
    """What the factory made is closed by the given function, or by deinit(); a ready object is left alone."""
    for port in SYNC:
        closed = []
        rig = Rig(port, factory="sync", close=closed.append)
        a, _ = rig.devices()
        await a.write(b"\x01")
        await rig.bus.aclose()
        assert closed == rig.made
        closed[0].deinit()
        await a.write(b"\x01")
        rig.check()
        rig = Rig(port)
        a, _ = rig.devices()
        await a.write(b"\x01")
        await rig.bus.aclose()
        await a.write(b"\x01")
        rig.check()


async def test_reset_drops_everything():
    """reset() in the middle of anything: CS is idle, what was held is dead, waiters get BusClosed."""
    for port in PORTS:
        for hold in (use_key, use_wire, hold_selected, hold_session_selected):
            rig, setup, a, b = rig_with_setup(port)
            await a.write(b"\x01")
            holder = asyncio.create_task(raises_or_ends(hold(a, 5)))
            await turns(5)
            await between_transfers(rig)
            waiting = asyncio.create_task(raises_async(BusClosed, a.write(b"\x02")))
            await turns(2)
            rig.bus.reset()
            assert rig.wire.selected() == [], port
            await waiting
            assert await b.read(1) == b"\xa5"
            await holder
            rig.a.listen()
            await a.write(b"\x03")
            assert setup.runs == 2
            assert rig.a.listen() == SETTING_UP + [b"\x03"]
            assert rig.bus.stats()["stale_holders"] == 1
            rig.check()


async def hold_session_selected(device, ms):
    async with device.hold() as session:
        async with session.select() as spi:
            await spi.write(b"\x07")
            await sleep(ms)
            await spi.write(b"\x08")


async def between_transfers(rig):
    """A little later, when no awaited transfer runs: that cannot be stopped from outside."""
    await go_on(3)
    while rig.wire.running():
        await go_on(1)


async def raises_or_ends(awaitable):
    try:
        await awaitable
    except NotHeld:
        pass


async def test_reset_in_the_step_of_a_hand_over():
    """Who was handed the wire just before the reset has none, and selects nothing beside the next one's selection."""
    for port in PORTS:
        for operate in (lambda: b.write(b"\x02"), lambda: hold_selected(b, 1), lambda: use_wire(b, 1)):
            rig = Rig(port)
            a, b = rig.devices()
            await a.write(b"\x00")
            await b.write(b"\x00")

            async def resetting():
                async with a.hold(wire=True):
                    await sleep(5)
                rig.bus.reset()
                async with a.select() as spi:
                    await sleep(3)
                    await spi.write(b"\x01")
                    assert rig.wire.selected() == ["a"]

            resetter = asyncio.create_task(resetting())
            await turns(3)
            await sleep(1)
            waiting = asyncio.create_task(raises_async(BusClosed, operate()))
            await resetter
            assert "reset" in str(await waiting)
            assert await b.read(1) == b"\xa5"
            rig.check()


async def test_reset_before_the_first_use():
    """reset() of a bus that was never used, or is closed, does no harm."""
    for rig in rigs(SOME, factory="sync"):
        a, _ = rig.devices()
        rig.bus.reset()
        assert await a.read(1) == b"\x5a"
        await rig.bus.aclose()
        rig.bus.reset()
        assert await a.read(1) == b"\x5a"
        rig.check()


async def test_a_cs_that_cannot_be_driven_at_reset():
    """When a CS does not move at reset(), that is not an error of reset(): it is driven before the next transfer."""
    for rig in rigs(SOME):
        a, b = rig.devices()
        task = asyncio.create_task(raises_or_ends(hold_selected(a, 5)))
        await turns(3)
        await between_transfers(rig)
        rig.wire.fail_call(what="a")
        rig.bus.reset()
        assert await b.read(1) == b"\xa5"
        await task
        rig.check()


def test_a_selection_of_a_replaced_loop():
    """A task that had a device selected when its loop was replaced is discarded: CS idle before the next transfer."""
    if sys.implementation.name == "cpython":
        return  # new_event_loop() alone strands nobody there; test_loops.py has what can happen
    for port in SOME:
        for hold in (use_key, use_wire, hold_selected, hold_session_selected):
            rig, setup, a, b = rig_with_setup(port)

            async def first():
                await a.write(b"\x01")
                asyncio.create_task(hold(a, 1000))  # noqa: RUF006
                await turns(3)
                await go_on(3)

            async def second():
                # The task of the old loop is nobody's user any more.
                rig.wire.user = lambda: None
                assert await b.read(1) == b"\xa5"
                rig.a.listen()
                await a.write(b"\x03", timeout_ms=10)
                assert rig.a.listen()[-1] == b"\x03"
                assert rig.wire.selected() == []
                rig.check()

            run(first())
            asyncio.new_event_loop()
            run(second())


def run(coro):
    asyncio.core.cur_task = None
    asyncio.run(coro)


def test_a_selection_that_goes_on_in_the_next_run():
    """A task that had a device selected when run() ended goes on in the next run, and is waited for (H1)."""
    if sys.implementation.name == "cpython":
        return  # asyncio.run() cancels what is left there
    for port in SOME:
        rig, setup, a, b = rig_with_setup(port)

        async def first():
            await a.write(b"\x06")
            asyncio.create_task(hold_selected(a, 5))  # noqa: RUF006
            await turns(3)
            await go_on(5)
            assert rig.wire.selected() == ["a"]

        async def second():
            assert await b.read(1) == b"\xa5"
            assert rig.a.listen() == SETTING_UP + [b"\x06", b"\x07\x08"]
            rig.check()

        run(first())
        run(second())


async def test_a_second_bus_after_the_first_is_closed():
    """A program that closes its bus and makes another on the same object gets a working one."""
    for rig in rigs(SOME):
        a, _ = rig.devices()
        pin = a._pin
        await a.write(b"\x01")
        await rig.bus.aclose()
        rig.bus = SPIBus(rig.made[0])
        assert await rig.bus.device(pin).read(1) == b"\x5a"
        rig.check()


async def test_a_set_up_cancelled_at_every_step():
    """A first caller cancelled at any step of a set-up: the next one finds it done, or does it."""
    for port in SOME:
        step = 0
        while True:
            rig, setup, a, b = rig_with_setup(port)
            task = asyncio.create_task(a.write(b"\x01"))
            await go_on(step)
            done = task.done()
            await cancel(task)
            await a.write(b"\x02")
            assert rig.a.listen()[-1] == b"\x02"
            assert setup.runs in (1, 2)
            rig.check()
            async with b.hold():
                pass
            if done:
                break
            step += 1
        assert step > 2
        step = 0
        while True:  # inline, under the own hold
            rig, setup, a, b = rig_with_setup(port)
            task = asyncio.create_task(plain_write_under_all(rig, a))
            await go_on(step)
            done = task.done()
            await cancel(task)
            assert rig.wire.selected() == []
            await a.write(b"\x02")
            assert rig.a.listen()[-1] == b"\x02"
            rig.check()
            if done:
                break
            step += 1
        assert step > 1


async def test_reset_of_a_device_alone():
    """A device without a chip select has none to be driven idle; its held session is dead all the same."""
    wire = SpiWire()
    chip = wire.attach(None, Echo(0x11))
    bus = SPIBus(SPI(wire))
    device = bus.device(None)
    async with device.hold() as session:
        await session.write(b"\x01")
        bus.reset()
        await raises_async(NotHeld, session.write(b"\x02"))
    assert await device.read(1) == b"\x11"
    assert chip.listen() == [b"\x01\x00"]
