"""SPI peripherals whose transfers are awaited: the same section, while other tasks run."""

import asyncio

from buslock import LockTimeout, NotHeld, Reentry, SPIBus, TransferError
from buslock_sim import AsyncSPI
from spi_rig import AwaitedSPI, Echo, Rig, cancel, go_on, sleep
from support import clock
from support.turns import raises_async, turns

CLOCK = "virtual"

# At 1 MHz a transfer of this length takes 2 ms.
LONG = b"\x11" * 250


def awaited_rig(**arguments):
    return Rig("awaited", **arguments)


async def count(log):
    while True:
        log.append(clock.now())
        await sleep(0)


async def test_the_loop_runs_meanwhile():
    """During a transfer CS is active, other tasks run, and those who want the wire wait, in their order."""
    rig = awaited_rig()
    a, b = rig.devices()
    log = []
    task = asyncio.create_task(a.write(LONG, LONG))
    await turns(4)
    others = [asyncio.create_task(b.write(bytes([n]))) for n in range(3)]
    ticker = asyncio.create_task(count(log))
    while not task.done():
        assert rig.wire.selected() == ["a"]
        assert rig.b.heard == []
        await go_on(1)
    assert len(log) > 3
    await cancel(ticker)
    await asyncio.gather(*others)
    assert rig.a.listen() == [LONG + LONG]
    assert rig.b.listen() == [b"\x00", b"\x01", b"\x02"]
    rig.check()


async def test_every_operation_is_awaited():
    """The results of all operations are those of the synchronous ones, also when two tasks use two devices."""
    rig = awaited_rig()
    a, b = rig.devices()

    async def user(device, number):
        for i in range(5):
            buf = bytearray([i, i + 1])
            await device.write(buf, buf)
            assert await device.read(2, i) == bytes([i ^ number] * 2)
            await device.readinto(buf, write=i)
            assert buf == bytes([i ^ number] * 2)
            await device.write_readinto(bytes([i, 0]), buf)
            assert buf == bytes([i ^ number, number])
            assert await device.write_then_read(b"\x01", 2) == bytes([number, number])
            async with device.select() as spi:
                await spi.write(b"\x01")
                assert await spi.write_then_read(b"\x02", 1) == bytes([number])
            async with device.hold() as session:
                assert await session.read(1) == bytes([number])

    await asyncio.gather(user(a, 0x5A), user(b, 0xA5), user(a, 0x5A))
    rig.check()


async def test_cancelled_in_a_transfer():
    """A transfer cancelled at any step leaves CS idle at once, the bus dirty, and is cleaned before the next one's."""
    step = 0
    cut = set()
    while True:
        rig = awaited_rig()
        a, b = rig.devices()
        await b.write(b"\x00")
        task = asyncio.create_task(a.write(LONG))
        waiting = asyncio.create_task(b.write_then_read(b"\x01", 1))
        await go_on(step)
        done = task.done()
        await cancel(task)
        assert "a" not in rig.wire.selected()
        assert await waiting == b"\xa5"
        if rig.a.heard:
            cut.add(len(rig.a.listen()[-1]))
        assert await a.read(1) == b"\x5a"
        rig.check()
        if done:
            break
        step += 1
    assert len(cut) > 2  # it was met in the middle of the transfer


async def test_a_wire_that_two_tasks_use():
    """A second transfer in one selection, or under one hold of the wire, is refused while the first is under way."""
    rig = awaited_rig()
    rig.wire.user = lambda: None  # tasks hand an open section to each other here
    a, _ = rig.devices(baudrate=100_000)
    async with a.select() as spi:
        first = asyncio.create_task(spi.write(LONG))
        await go_on(4)
        await raises_async(Reentry, spi.write(b"\x01"))
        await raises_async(Reentry, a.write(b"\x01"))
        await first
        assert await spi.read(1) == b"\x5a"
    async with a.hold(wire=True) as session:
        a._cs(0)
        first = asyncio.create_task(session.write(LONG))
        await go_on(4)
        await raises_async(Reentry, session.write(b"\x01"))
        await first
        assert await session.read(1) == b"\x5a"
        a._cs(1)
    assert rig.a.listen() == [LONG + b"\x00"] * 2
    rig.check()


async def test_the_drafts_of_async_spi():
    """The peripheral that CircuitPython is getting works as it is, in each form in which it may come."""
    for locked in ("task", "try_lock", "lock"):
        for factory in (None, "sync"):
            rig = awaited_rig(
                peripheral=lambda wire: AsyncSPI(wire, locked=locked),
                chips=(Echo(0x5A, modes=(3,)), Echo(0xA5, max_baudrate=400_000)),
                factory=factory,
            )
            a = rig.bus.device(rig.cs("a"), polarity=1, phase=1, pre_clocks=8, post_clocks=8)
            b = rig.bus.device(rig.cs("b"), baudrate=400_000)

            async def user(device, number):
                for i in range(4):
                    buf = bytearray([i, i + 1])
                    await device.write(buf, buf)
                    assert await device.read(2, i) == bytes([i ^ number] * 2)
                    await device.readinto(buf, write=i)
                    assert buf == bytes([i ^ number] * 2)
                    await device.write_readinto(bytes([i, 0]), buf)
                    assert buf == bytes([i ^ number, number])
                    async with device.select() as spi:
                        assert await spi.write_then_read(b"\x01", 2) == bytes([number, number])
                        await turns(i)
                        await spi.write(b"\x02")
                    async with device.hold() as session:
                        assert await session.read(1) == bytes([number])

            await asyncio.gather(user(a, 0x5A), user(b, 0xA5), user(a, 0x5A))
            task = asyncio.create_task(b.write(LONG))
            await go_on(5)
            await cancel(task)
            assert rig.wire.selected() == []
            assert await a.read(1) == b"\x5a"
            assert await b.read(1) == b"\xa5"
            rig.check()


async def test_the_lock_of_an_awaited_peripheral():
    """Where it has a lock of its own, code outside that takes it is waited for."""
    for locked in ("try_lock", "lock"):
        rig = awaited_rig(peripheral=lambda wire: AsyncSPI(wire, locked=locked))
        a, _ = rig.devices()
        raw = rig.made[0]
        await a.write(b"\x01")

        async def outside():
            if locked == "try_lock":
                assert raw.try_lock()
                await sleep(10)
                raw.unlock()
            else:
                async with raw.lock:
                    await sleep(10)

        task = asyncio.create_task(outside())
        await turns(2)
        waiting = asyncio.create_task(a.read(1))
        await sleep(5)
        assert not waiting.done()
        assert await waiting == b"\x5a"
        await task
        rig.check()


async def test_reset_frees_the_lock_of_an_awaited_peripheral():
    """A lock that an earlier program has left is freed by reset(), on a ready object and on what the factory will give."""
    for locked in ("task", "try_lock", "lock"):
        for factory in (None, "sync"):
            for left in (True, False):
                rig = awaited_rig(peripheral=lambda wire: AsyncSPI(wire, locked=locked), factory=factory)
                a, _ = rig.devices()
                raw = rig.make() if factory else rig.made[0]
                if factory:
                    rig.bus._factory = lambda raw=raw: raw
                if left and locked == "try_lock":
                    assert raw.try_lock()
                elif left and locked == "lock":
                    await raw.lock.acquire()
                if left and locked != "task":
                    await raises_async(LockTimeout, a.read(1, timeout_ms=3))
                rig.bus.reset()
                assert await a.read(1, timeout_ms=3) == b"\x5a"
                if locked == "lock":
                    assert not raw.lock.locked()
                rig.check()


async def test_a_bit_order_that_there_is_not():
    """async_spi sends the most significant bit first: another order is a ValueError, and nothing is selected."""
    rig = awaited_rig(peripheral=AsyncSPI)
    a = rig.bus.device(rig.cs("a"), firstbit=1)
    assert "most significant" in str(await raises_async(ValueError, a.write(b"\x01")))
    b = rig.bus.device(rig.cs("b"), firstbit=0)
    assert await b.read(1) == b"\xa5"
    assert rig.a.heard == []
    rig.check()


async def test_transfers_that_can_only_be_awaited():
    """That a transfer is awaited is also seen where what it returns is no coroutine, and cannot be closed."""

    class Awaitable:
        def __init__(self, coroutine):
            self.coroutine = coroutine

        def __await__(self):
            return self.coroutine.__await__()

        __iter__ = __await__

    class Peripheral(AsyncSPI):
        def write(self, buffer, **part):
            if not len(buffer):
                return asked
            return super().write(buffer, **part)

    asked = Awaitable(None)
    rig = awaited_rig(peripheral=lambda wire: Peripheral(wire, locked="try_lock"))
    a, b = rig.devices()
    await a.write(b"\x01")
    assert await b.read(1) == b"\xa5"
    assert rig.a.listen() == [b"\x01"]
    rig.check()


class Late(AwaitedSPI):
    """Each transfer is over on the wire, and its coroutine waits until `gate` is set; then raises `error`, if any."""

    gate = None
    error = None
    waits = False

    async def write(self, buf):
        await self.spi.write(buf)
        if self.gate is not None:
            self.waits = True
            await self.gate.wait()
            if self.error is not None:
                raise self.error


async def test_reset_in_a_transfer():
    """A transfer that reset() has met leaves alone what others do with the bus meanwhile, however it ends."""
    for error in (None, OSError(5, "late")):
        for clocks, other in ((0, False), (8, False), (0, True), (8, True)):
            rig = awaited_rig(peripheral=Late)
            rig.wire.user = lambda: None
            a, b = rig.devices(post_clocks=clocks)
            await a.write(b"\x01")
            await b.write(b"\x01")
            device = b if other else a  # who is selected meanwhile
            rig.made[0].gate = gate = asyncio.Event()
            task = asyncio.create_task(outcome(a.write(b"\x02")))
            while not rig.made[0].waits:
                await go_on(1)
            assert rig.wire.selected() == ["a"]
            rig.bus.reset()
            assert rig.wire.selected() == []
            rig.made[0].gate = None
            async with device.select() as spi:
                selected = rig.wire.selected()
                assert len(selected) == 1
                rig.made[0].error = error
                gate.set()
                found = await task
                assert isinstance(found, NotHeld if error is None else TransferError), found
                assert rig.wire.selected() == selected
                assert await spi.read(1) == (b"\x5a" if device is a else b"\xa5")
            rig.made[0].error = None
            assert await a.read(1) == b"\x5a"
            rig.check()


async def test_reset_in_the_clocks_after_a_transfer():
    """They are owed still, and sent before the next section; the transfer itself has happened."""
    rig = awaited_rig(peripheral=Late)
    a, b = rig.devices(post_clocks=8)
    await a.write(b"\x01")
    await b.write(b"\x01")
    rig.steps()
    task = asyncio.create_task(outcome(a.write(b"\x02")))
    while ("deselect", "a") not in rig.steps():
        await go_on(1)
    rig.made[0].gate = gate = asyncio.Event()
    while not rig.made[0].waits:
        await go_on(1)
    rig.bus.reset()
    rig.made[0].gate = None
    gate.set()
    assert await task is None
    assert a._owes and rig.bus._dirty
    rig.steps()
    assert await b.read(1) == b"\xa5"
    steps = rig.steps()
    assert ("write", None) in steps[: steps.index(("select", "b"))]
    assert not a._owes
    rig.check()


async def outcome(awaitable):
    try:
        return await awaitable
    except Exception as error:
        return error


async def test_a_hold_that_ends_while_another_task_uses_its_session():
    """The wire is free when that task's transfer has ended, not before: nobody's transfer begins inside of it."""
    rig = awaited_rig()
    rig.wire.user = lambda: None  # tasks hand an open section to each other here
    a, b = rig.devices(baudrate=100_000)
    sessions = []

    async def holder():
        async with a.hold(wire=True) as session:
            sessions.append(session)
            task = asyncio.create_task(outcome(session.write(b"\xff" * 250)))  # clocks, with CS idle
            await go_on(4)
            return task

    await b.write(b"\x00")
    task = await holder()
    waiting = asyncio.create_task(b.read(1))
    await go_on(4)
    assert not task.done() and not waiting.done()
    assert rig.bus._wire.locked()
    assert await task is None
    assert await waiting == b"\xa5"
    await raises_async(NotHeld, sessions[0].write(b"\x01"))
    rig.check()


async def test_a_ready_object_and_a_factory():
    """Devices declared before the factory has made the peripheral await its transfers, too."""
    for factory in (None, "sync", "async"):
        rig = awaited_rig(factory=factory)
        a, b = rig.devices()
        assert await a.write_then_read(b"\x01", 1) == b"\x5a"
        assert await b.read(1) == b"\xa5"
        assert await asyncio.gather(a.read(1), b.read(1)) == [b"\x5a", b"\xa5"]
        rig.check()


async def test_with_a_set_up():
    """A set-up runs before the first use, with awaited transfers, and what is set by device() still holds after it."""
    rig = awaited_rig()
    log = []

    async def setup(session):
        log.append(await session.read(1))
        async with session.select() as spi:
            await spi.write(b"\x01")

    device = rig.bus.device(rig.cs("a"), setup=setup, pre_clocks=16, post_clocks=8)
    for _ in range(2):
        rig.steps()
        assert await device.read(1) == b"\x5a"
        steps = [step for step in rig.steps() if step[0] != "configure"]
        assert steps[-5:] == [("write", None), ("select", "a"), ("read", "a"), ("deselect", "a"), ("write", None)]
    assert log == [b"\x5a"]
    rig.check()


async def test_aclose_waits_for_a_transfer():
    """aclose() waits until the transfer is over, and the next use makes the peripheral anew."""
    rig = awaited_rig(factory="sync")
    a, b = rig.devices(baudrate=100_000)
    task = asyncio.create_task(a.write(LONG))
    await go_on(6)
    assert rig.wire.selected() == ["a"]
    closing = asyncio.create_task(rig.bus.aclose())
    await turns(2)
    assert not closing.done()
    await closing
    assert task.done()
    assert rig.a.listen() == [LONG]
    assert await b.read(1) == b"\xa5"
    assert len(rig.made) == 2
    rig.check()


async def test_the_wire_for_a_driver():
    """call() and hold(wire=True) work on such a bus: a synchronous driver, or one that awaits the raw object."""
    rig = awaited_rig()
    a, b = rig.devices()
    raw = rig.made[0]
    assert await rig.bus.call(a, lambda: 7) == 7

    async def other():
        assert await b.read(1) == b"\xa5"

    async with a.hold(wire=True) as session:
        task = asyncio.create_task(other())
        a._cs(0)
        await raw.write(b"\x01")
        assert await session.read(1) == b"\x5a"
        a._cs(1)
        assert not task.done()
    await task
    await raises_async(NotHeld, session.read(1))
    assert rig.a.listen() == [b"\x01\x00"]
    rig.check()


async def test_a_device_alone():
    """A device without a chip select works on such a bus, too."""
    rig = awaited_rig()
    await rig.bus.aclose()
    from spi_rig import SpiWire

    wire = SpiWire()
    chip = wire.attach(None, Echo(0x11))
    rig.wire = wire
    rig.bus = SPIBus(AwaitedSPI(wire))
    device = rig.bus.device(None)
    await device.write(b"\x01")
    assert await device.read(1) == b"\x11"
    assert chip.listen() == [b"\x01\x00"]
    rig.check()
