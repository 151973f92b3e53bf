"""SPI peripherals whose transfers are awaited: the same section, while other tasks run."""

import asyncio

from buslock import NotHeld, Reentry, SPIBus
from buslock_sim import AsyncSPI
from spi_rig import Echo, Rig, cancel, go_on, sleep
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
    from spi_rig import AwaitedSPI, SpiWire

    wire = SpiWire()
    chip = wire.attach(None, Echo(0x11))
    rig.wire = wire
    rig.bus = SPIBus(AwaitedSPI(wire))
    device = rig.bus.device(None)
    await device.write(b"\x01")
    assert await device.read(1) == b"\x11"
    assert chip.listen() == [b"\x01\x00"]
    rig.check()
