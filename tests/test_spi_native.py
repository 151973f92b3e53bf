"""busio's own lock: what else uses the bus, such as a display in the background, is waited for and never met (E10)."""

import asyncio
import random

from buslock import LockTimeout, NotHeld, Reentry
from buslock_sim import BusioSPI
from spi_rig import BUSIO, Echo, Rig, cancel, drive, sleep
from support import clock
from support.turns import raises_async, turns

CLOCK = "virtual"


async def outside(spi, ms):
    """Code that is not ours has the lock for a time."""
    assert spi.try_lock()
    await sleep(ms)
    spi.unlock()


async def select_and_read(device, timeout_ms=None):
    async with device.select(timeout_ms) as spi:
        return await spi.read(1)


async def keep_the_wire(device, timeout_ms=None):
    async with device.hold(timeout_ms, wire=True):
        return b"\x5a"


async def with_a_session(device, use):
    async with device.hold() as session:
        return await use(session)


def driver(rig, pin):
    """Reads a byte as a driver on adafruit_bus_device does, which would wait for the lock for ever."""
    spi = rig.made[0]
    assert spi.try_lock()
    spi.configure(baudrate=1_000_000)
    drive(pin, 0)
    buf = bytearray(1)
    spi.readinto(buf)
    drive(pin, 1)
    spi.unlock()
    return bytes(buf)


def every_operation(rig, a, pin):
    """Each reads 0x5a, or says so; the argument is timeout_ms."""

    async def write(ms):
        await a.write(b"\x01", timeout_ms=ms)
        return b"\x5a"

    async def readinto(ms):
        buf = bytearray(1)
        await a.readinto(buf, timeout_ms=ms)
        return bytes(buf)

    async def write_readinto(ms):
        buf = bytearray(1)
        await a.write_readinto(b"\x00", buf, timeout_ms=ms)
        return bytes(buf)

    return (
        lambda ms: a.read(1, timeout_ms=ms),
        write,
        readinto,
        write_readinto,
        lambda ms: a.write_then_read(b"\x01", 1, timeout_ms=ms),
        lambda ms: select_and_read(a, ms),
        lambda ms: keep_the_wire(a, ms),
        lambda ms: with_a_session(a, lambda session: session.read(1, timeout_ms=ms)),
        lambda ms: with_a_session(a, lambda session: select_and_read(session, ms)),
        lambda ms: rig.bus.call(a, driver, rig, pin, timeout_ms=ms),
    )


SELECTING = (5, 8)  # those that select in these


def busio_rig(port, **arguments):
    rig = Rig(port, **arguments)
    pin = rig.cs("a")
    return rig, pin, rig.bus.device(pin), rig.bus.device(rig.cs("b"))


async def test_the_lock_is_waited_for():
    """Every operation waits while code outside has the lock, with CS idle and the loop running, and then is right."""
    for port in BUSIO:
        rig, pin, a, _ = busio_rig(port)
        await a.write(b"\x00")
        for operate in every_operation(rig, a, pin):
            ticks = []

            async def ticker():
                while True:
                    ticks.append(clock.now())
                    await sleep(1)

            taken = asyncio.create_task(outside(rig.made[0], 10))
            await turns()
            ticking = asyncio.create_task(ticker())
            rig.steps()
            task = asyncio.create_task(operate(None))
            await sleep(5)
            assert rig.steps() == []
            assert not task.done()
            start = len(ticks)
            assert await task == b"\x5a"
            assert taken.done()
            assert 3 <= len(ticks) - start <= 8
            await cancel(ticking)
        rig.check()


async def test_the_wait_for_the_lock_ends():
    """timeout_ms bounds that wait, too: LockTimeout says what to do, nothing is held or driven; 0 does not wait."""
    for port in BUSIO:
        rig, pin, a, _ = busio_rig(port)
        await a.write(b"\x00")
        for operate in every_operation(rig, a, pin):
            taken = asyncio.create_task(outside(rig.made[0], 100))
            await turns()
            rig.steps()
            for ms in (0, 5):
                start = clock.now()
                error = await raises_async(LockTimeout, operate(ms))
                assert "try_lock" in str(error) and "spi" in str(error)
                assert ms <= clock.now() - start <= ms + 2
            assert rig.steps() == []
            assert not taken.done()
            assert await operate(None) == b"\x5a"
            await taken
        rig.check()


async def test_the_order_is_kept():
    """Who waits for the lock outside keeps the wire, so that the others come in the order in which they asked."""
    for port in BUSIO:
        rig, pin, a, b = busio_rig(port)
        log = []

        async def user(n):
            device = (a, b)[n % 2]
            if n % 3:
                await device.write(bytes([n]))
            else:
                async with device.select() as spi:
                    await spi.write(bytes([n]))
            log.append(n)

        await a.write(b"\x00")
        taken = asyncio.create_task(outside(rig.made[0], 10))
        await turns()
        tasks = []
        for n in range(8):
            tasks.append(asyncio.create_task(user(n)))
            await turns()
        await asyncio.gather(taken, *tasks)
        assert log == list(range(8))
        rig.check()


async def test_cancelled_while_waiting_for_the_lock():
    """A task that is cancelled while it waits for the lock outside holds nothing, and the lock stays whose it is."""
    for port in BUSIO:
        for n in range(10):
            for ms in range(3):
                rig, pin, a, b = busio_rig(port)
                taken = asyncio.create_task(outside(rig.made[0], 10))
                await turns()
                task = asyncio.create_task(every_operation(rig, a, pin)[n](None))
                await sleep(ms)
                await cancel(task)
                assert not rig.made[0].try_lock()
                assert len(rig.bus._table) == 0
                assert not rig.bus._wire.locked()
                assert await b.read(1) == b"\xa5"
                await taken
                rig.check()


class BackgroundSPI(BusioSPI):
    """A busio.SPI on which a display refreshes itself whenever it can: after each call that leaves the lock free.

    On CircuitPython that is so: the display's turn comes between any two steps of the program.
    """

    refresh = None

    def unlock(self):
        super().unlock()
        if self.refresh is not None:
            self.refresh(self)


class Background:
    """The display: chip select c, mode 3, which no buslock device knows of."""

    def __init__(self, rig):
        self.wire = rig.wire
        self.chip = rig.wire.attach("c", Echo(0x33, modes=(3,)))
        self.pin = rig.cs("c")
        self.pin.switch_to_output(value=True)
        self.refreshed = 0
        self.refused = 0
        self.busy = False

    def __call__(self, spi):
        if self.busy:
            return
        self.busy = True
        try:
            if not spi.try_lock():
                self.refused += 1
                return
            spi.configure(baudrate=500_000, polarity=1, phase=1)
            self.pin.value = False
            spi.write(b"\x77")
            self.pin.value = True
            spi.unlock()
            self.refreshed += 1
        finally:
            self.busy = False


async def test_a_display_in_the_background():
    """A display that refreshes itself between any two steps of ours meets neither our chip selects nor our mode.

    But for selections, which cannot keep the lock: what waits for it spins, and would stop the loop.
    """
    for port in BUSIO:
        rig = Rig(port, peripheral=lambda wire: BackgroundSPI(wire, port=port))
        spi = rig.made[0]
        pin = rig.cs("a")
        a = rig.bus.device(pin)
        b = rig.bus.device(rig.cs("b"), baudrate=250_000)
        background = Background(rig)
        spi.refresh = background
        # It also comes when a pin of ours has just moved.
        edges = rig.wire.line("a").on_edge

        def moved(line):
            edges(line)
            background(spi)

        rig.wire.line("a").on_edge = moved

        async def refreshing():
            while True:
                background(spi)
                await asyncio.sleep(0)

        task = asyncio.create_task(refreshing())
        await a.write(b"\x00")
        for n, operate in enumerate(every_operation(rig, a, pin)):
            if n in SELECTING:
                continue
            for _ in range(3):
                rig.a.listen()
                assert await operate(None) == b"\x5a"
                assert len(rig.a.listen()) <= 1
                assert await b.write_then_read(b"\x01\x02", 1) == b"\xa5"
        await cancel(task)
        assert background.refreshed > 20
        assert rig.wire.violations == []
        rig.check()


async def test_code_outside_at_random():
    """Code outside that takes the lock at random times, for a while each: everybody gets through."""
    for port in BUSIO:
        rig, pin, a, b = busio_rig(port)
        spi = rig.made[0]
        rng = random
        rng.seed(5)
        done = []

        async def thief():
            while True:
                if spi.try_lock():
                    spi.configure(baudrate=100_000, polarity=1, phase=1)
                    await sleep(rng.randrange(4))
                    spi.unlock()
                await sleep(rng.randrange(4))

        async def user(device, number):
            for i in range(10):
                assert await device.write_then_read(bytes([i]), 1) == bytes([number])
                done.append(number)
                await turns(i % 3)

        task = asyncio.create_task(thief())
        await asyncio.gather(user(a, 0x5A), user(b, 0xA5), user(a, 0x5A))
        assert len(done) == 30
        await cancel(task)
        if not spi.try_lock():  # it was cancelled while it had it
            spi.unlock()
            assert spi.try_lock()
        spi.unlock()
        rig.check()


async def test_the_lock_is_waited_for_by_what_cleans():
    """Clocks that a chip waits for, too, wait while code outside has the lock; timeout_ms bounds that."""
    for port in BUSIO:
        rig = Rig(port)
        a, b = rig.devices(post_clocks=8)
        await a.write(b"\x01")
        rig.wire.fail_call(at=2, what="write")
        await a.write(b"\x01")
        assert rig.bus._dirty
        taken = asyncio.create_task(outside(rig.made[0], 20))
        await turns()
        rig.steps()
        start = clock.now()
        assert "try_lock" in str(await raises_async(LockTimeout, b.read(1, timeout_ms=5)))
        assert clock.now() - start <= 7
        assert rig.steps() == []
        assert await b.read(1) == b"\xa5"
        assert taken.done() and not rig.bus._dirty
        steps = [step for step in rig.steps() if step[0] != "configure"]
        assert steps[:2] == [("write", None), ("select", "b")]
        rig.check()


async def test_reset_while_the_lock_is_waited_for():
    """Who waits for the lock when the bus is reset gets NotHeld, and its wire is not the next one's."""
    for port in BUSIO:
        rig, pin, a, b = busio_rig(port)
        await a.write(b"\x00")
        for operate in every_operation(rig, a, pin):
            taken = asyncio.create_task(outside(rig.made[0], 10))
            await turns()
            task = asyncio.create_task(raises_async(NotHeld, operate(None)))
            await sleep(5)
            assert not task.done()
            rig.bus.reset()
            async with b.hold():
                assert "was reset" in str(await task)
                assert not rig.bus._wire.locked()
            await cancel(taken)  # the lock, which reset() has freed, is not its own any more
            assert await operate(None) == b"\x5a"
            rig.check()


async def test_an_interrupt_in_a_section_of_ours():
    """An operation that an interrupt begins in the middle of a transfer does not get in: one CS, and no second lock."""
    for port in BUSIO:
        rig, pin, a, b = busio_rig(port)
        await a.write(b"\x00")
        await b.write(b"\x00")
        struck = []

        def interrupt():
            rig.wire.on_byte = None
            coroutine = b.read(1)
            try:
                coroutine.send(None)
            except Reentry:
                struck.append("refused")

        rig.steps()
        rig.wire.on_byte = interrupt
        assert await a.write_then_read(b"\x01\x02", 1) == b"\x5a"
        assert struck == ["refused"]
        assert [step for step in rig.steps() if step[1] == "b"] == []
        assert await b.read(1) == b"\xa5"
        rig.check()


async def test_reset_takes_the_lock_over():
    """reset() frees a lock that an earlier program has left, on a ready object and on what the factory will give."""
    for port in BUSIO:
        for factory in (None, "sync"):
            rig = Rig(port, factory=factory)
            a, _ = rig.devices()
            if factory is None:
                assert rig.made[0].try_lock()
            else:
                make = rig.bus._factory

                def locked():
                    spi = make()
                    assert spi.try_lock()
                    return spi

                rig.bus._factory = locked
            await raises_async(LockTimeout, a.read(1, timeout_ms=3))
            rig.bus.reset()
            assert await a.read(1, timeout_ms=3) == b"\x5a"
            rig.check()
