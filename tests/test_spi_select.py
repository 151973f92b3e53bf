"""CS over several awaits, and between operations: select(), hold(), hold(wire=True) and call()."""

import asyncio

from buslock import LockTimeout, NotCovered, NotHeld, Reentry, TransferError, hold
from buslock_sim import Display
from spi_rig import PORTS, SOME, SYNC, Echo, Rig, drive, go_on, rigs, sleep, use_key, use_wire
from support import clock
from support.turns import raises, raises_async, turns

CLOCK = "virtual"


def operations(spi):
    """(a coroutine function, its result, what the chip hears), one for each operation."""
    into = bytearray(1)
    return (
        (lambda: spi.write(b"\x01", b"\x02"), None, b"\x01\x02"),
        (lambda: spi.read(1), b"\x5a", b"\x00"),
        (lambda: spi.readinto(into, write=3), None, b"\x03"),
        (lambda: spi.write_readinto(b"\x04", into), None, b"\x04"),
        (lambda: spi.write_then_read(b"\x05", 1), b"\x5a", b"\x05\x00"),
    )


ALL_HEARD = b"\x01\x02\x00\x03\x04\x05\x00"


async def all_operations(spi):
    for operate, result, _ in operations(spi):
        assert await operate() == result
        await turns()


async def test_cs_stays_active_in_a_selection():
    """select() keeps CS active over transfers and awaits, once, and ends it with the block; others wait."""
    for rig in rigs():
        a, b = rig.devices()
        log = []

        async def other():
            await b.write(b"\x01")
            log.append("b")

        task = None
        async with a.select() as spi:
            task = asyncio.create_task(other())
            await sleep(2)
            assert rig.wire.selected() == ["a"]
            await all_operations(spi)
            await sleep(2)
            assert rig.wire.selected() == ["a"]
            assert log == []
        assert rig.wire.selected() == []
        await task
        assert rig.a.listen() == [ALL_HEARD]
        assert rig.b.listen() == [b"\x01"]
        rig.check()


async def test_a_selection_in_a_session():
    """session.select() does the same under a hold, as often as wanted; outside of it CS is idle and the wire free."""
    for rig in rigs():
        a, b = rig.devices()
        async with a.hold() as session:
            for _ in range(2):
                assert rig.wire.selected() == []
                assert await b.read(1) == b"\xa5"
                async with session.select() as spi:
                    await all_operations(spi)
                    assert rig.wire.selected() == ["a"]
                    waiting = asyncio.create_task(b.read(1))
                    await turns(3)
                    assert not waiting.done()
                assert rig.wire.selected() == []
                assert await waiting == b"\xa5"
                await session.write(b"\x07")
        assert rig.a.listen() == [ALL_HEARD, b"\x07"] * 2
        rig.check()


async def test_a_selection_in_a_group():
    """The sessions of groups and of hold_all select, too, one device at a time."""
    for rig in rigs(SOME):
        a, b = rig.devices()
        for group in (rig.bus.hold(a, b), rig.bus.hold_all(), hold(a, b)):
            async with group as regs:
                async with regs.select(a) as spi:
                    await spi.write(b"\x01")
                    await turns()
                    await spi.write(b"\x02")
                    assert rig.wire.selected() == ["a"]
                async with regs.select(b) as spi:
                    await spi.write(b"\x03")
                assert await regs.read(a, 1) == b"\x5a"
            assert rig.a.listen() == [b"\x01\x02", b"\x00"]
            assert rig.b.listen() == [b"\x03"]
        async with rig.bus.hold(a) as regs:
            raises(NotCovered, regs.select, b)
        rig.check()


async def test_dead_after_the_block():
    """What a hold or a selection gave is dead after its block: NotHeld, and nothing is driven."""
    for rig in rigs():
        a, _ = rig.devices()
        async with a.select() as spi:
            await spi.write(b"\x01")
        async with a.hold() as session:
            async with session.select() as inner:
                await inner.write(b"\x01")
            for operate, _, _ in operations(inner):
                await raises_async(NotHeld, operate())
            await session.write(b"\x02")
        async with a.hold(wire=True) as wired:
            pass
        calls = rig.wire.calls
        for dead in (spi, session, inner, wired):
            for operate, _, _ in operations(dead):
                error = await raises_async(NotHeld, operate())
                assert a._label() in str(error)
            await raises_async((NotHeld, TransferError), enter(dead))
        assert rig.wire.calls == calls
        rig.check()


async def enter(session):
    async with session.select():
        pass


async def test_dead_while_others_have_it():
    """A dead session does not reach into the hold or the selection that another task has by now."""
    for rig in rigs(SOME):
        a, _ = rig.devices()
        async with a.hold() as session:
            async with session.select() as spi:
                pass
        async with a.select() as other:
            for dead in (session, spi):
                await raises_async(NotHeld, dead.write(b"\x66"))
            await other.write(b"\x01")
        assert rig.a.listen()[-1] == b"\x01"
        rig.check()


async def test_a_selection_is_for_one_block():
    """The object of select() says what it is and whether it is in force; a second block with it is refused."""
    for rig in rigs(SOME):
        a, _ = rig.devices()
        selection = a.select()
        assert not selection.held
        async with selection as spi:
            assert selection.held
            assert selection.keys == (a._key,)
            await spi.write(b"\x01")
            await raises_async(Reentry, enter_again(selection))
            assert rig.wire.selected() == ["a"]
        assert not selection.held
        await raises_async(NotHeld, enter_again(selection))
        raises(NotHeld, selection.release)
        rig.check()


async def enter_again(selection):
    async with selection:
        pass


async def test_a_selection_released_early():
    """release() ends a selection at once: CS idle, wire and key free; leaving the block is silent."""
    for rig in rigs():
        a, b = rig.devices()
        selection = a.select()
        async with selection as spi:
            await spi.write(b"\x01")
            selection.release()
            assert rig.wire.selected() == []
            await raises_async(NotHeld, spi.write(b"\x02"))
            assert await b.read(1) == b"\xa5"
            assert await a.read(1) == b"\x5a"
            raises(NotHeld, selection.release)
        async with a.hold() as session:
            selection = session.select()
            async with selection as spi:
                selection.release()
                assert rig.wire.selected() == []
                await raises_async(NotHeld, spi.write(b"\x02"))
                await session.write(b"\x03")
        assert rig.a.listen() == [b"\x01", b"\x00", b"", b"\x03"]
        rig.check()


async def test_a_selection_in_a_selection():
    """Who has a device selected and selects it again gets an error, and the selection goes on."""
    for rig in rigs():
        a, _ = rig.devices()
        async with a.select() as spi:
            await spi.write(b"\x01")
            await raises_async((Reentry, TransferError), enter(spi))
            await raises_async((Reentry, TransferError), enter(a))
            assert rig.wire.selected() == ["a"]
            await spi.write(b"\x02")
        async with a.hold() as session:
            async with session.select() as spi:
                await spi.write(b"\x03")
                await raises_async((Reentry, TransferError), enter(session))
                await raises_async((Reentry, TransferError), enter(a))
                assert rig.wire.selected() == ["a"]
                await spi.write(b"\x04")
        assert rig.a.listen() == [b"\x01\x02", b"\x03\x04"]
        rig.check()


async def test_a_plain_operation_in_the_own_selection():
    """A plain operation of the selected device does not end the selection: it belongs to it, or is refused."""
    for rig in rigs():
        a, _ = rig.devices()
        async with a.select() as spi:
            await spi.write(b"\x01")
            try:
                await a.write(b"\x02")
                inside = b"\x02"
            except Reentry:
                inside = b""
            assert rig.wire.selected() == ["a"], rig.port
            await spi.write(b"\x03")
        async with a.hold() as session:
            async with session.select() as spi:
                await spi.write(b"\x01")
                for operations in (a, session):
                    try:
                        await operations.write(b"\x02")
                    except Reentry:
                        pass
                assert rig.wire.selected() == ["a"], rig.port
                await spi.write(b"\x03")
        heard = rig.a.listen()
        assert heard[0] == b"\x01" + inside + b"\x03"
        assert len(heard) == 2
        rig.check()


async def test_who_has_the_wire_and_asks_for_more():
    """With a device selected, or the wire held, everything else of that bus is Reentry, and names both."""
    for rig in rigs():
        a, b = rig.devices()

        async def all_refused():
            for ask in (
                lambda: b.write(b"\x01"),
                lambda: b.read(1),
                lambda: use_key(b, 0),
                lambda: use_wire(b, 0),
                lambda: enter(b),
                lambda: enter_again(rig.bus.hold(a, b)),
                lambda: enter_again(rig.bus.hold_all()),
                lambda: rig.bus.call(b, lambda: None),
                lambda: enter_again(a.hold()),
                lambda: enter_again(a.hold(wire=True)),
                lambda: rig.bus.aclose(),
            ):
                error = await raises_async(Reentry, ask())
                assert "spi" in str(error)

        async with a.select() as spi:
            await all_refused()
            # A driver of the selected device itself would find it selected already.
            error = await raises_async(Reentry, rig.bus.call(a, lambda: None))
            assert a._label() in str(error) and "end the selection" in str(error)
            assert rig.wire.selected() == ["a"]
            await spi.write(b"\x01")
        async with a.hold(wire=True):
            await all_refused()
        async with b.hold() as held:
            async with a.select() as spi:
                error = await raises_async(Reentry, held.write(b"\x01"))
                assert a._label() in str(error) and b._label() in str(error)
                await raises_async(Reentry, enter(held))
                await raises_async(Reentry, b.write(b"\x01"))
                await spi.write(b"\x02")
        assert rig.a.listen() == [b"\x01", b"\x02"]
        assert rig.b.listen() == []
        rig.check()


async def test_waiting_for_a_selection():
    """select() waits for key and wire within one timeout_ms, and owns nothing when it gives up."""
    for rig in rigs(SOME):
        a, b = rig.devices()
        for use in (use_key(a, 20), use_wire(b, 20)):
            task = asyncio.create_task(use)
            await turns(3)
            start = clock.now()
            error = await raises_async(LockTimeout, enter_again(a.select(timeout_ms=5)))
            assert 5 <= clock.now() - start <= 7
            assert "use_" in str(error)
            await raises_async(LockTimeout, enter_again(a.select(timeout_ms=0)))
            assert rig.a.listen() == []
            async with a.select(timeout_ms=30) as spi:
                await spi.write(b"\x01")
            await task
            assert rig.a.listen() == [b"\x01"]
        async with a.hold() as session:
            task = asyncio.create_task(use_wire(b, 20))
            await turns(3)
            await raises_async(LockTimeout, enter_again(session.select(timeout_ms=5)))
            await raises_async(LockTimeout, session.write(b"\x01", timeout_ms=5))
            assert rig.a.listen() == []
            async with session.select(timeout_ms=30):
                pass
            await task
        rig.check()


async def test_a_session_used_by_several_tasks():
    """Any task may use a session; while one of them has selected the device, the others wait for the wire."""
    for rig in rigs():
        a, b = rig.devices()

        async def selecting(session, n):
            async with session.select() as spi:
                for _ in range(3):
                    await spi.write(bytes([n]))
                    await turns(2)

        async def writing(x, n):
            await x.write(bytes([n]))

        async with a.hold() as session:
            await asyncio.gather(
                selecting(session, 1),
                writing(session, 2),
                writing(b, 3),
                selecting(session, 4),
                writing(session, 5),
                selecting(b, 6),
            )
        heard = rig.a.listen()
        for whole in (b"\x01\x01\x01", b"\x02", b"\x04\x04\x04", b"\x05"):
            assert whole in heard
        assert len(heard) == 4
        assert rig.b.listen() == [b"\x03", b"\x06\x06\x06"]
        rig.check()


async def test_a_selection_under_a_hold_of_the_wire():
    """session.select() works under hold(wire=True), too; meanwhile the session of another task is refused, not mixed in."""
    for rig in rigs():
        a, b = rig.devices()

        async def selecting(session, entered):
            async with session.select() as spi:
                await spi.write(b"\x01")
                entered.append(True)
                await sleep(3)
                await spi.write(b"\x02")

        async with a.hold(wire=True) as session:
            entered = []
            task = asyncio.create_task(selecting(session, entered))
            while not entered:
                await go_on(1)
            error = await raises_async(Reentry, session.write(b"\x66"))
            assert a._label() in str(error)
            assert rig.wire.selected() == ["a"]
            await task
            assert rig.wire.selected() == []
            async with session.select() as spi:
                await spi.write(b"\x03")
            waiting = asyncio.create_task(b.read(1))
            await turns(3)
            assert not waiting.done()
        assert await waiting == b"\xa5"
        assert rig.a.listen() == [b"\x01\x02", b"\x03"]
        rig.check()


async def test_a_selection_passed_to_another_task():
    """What select() gave works from another task, too, while the block lasts."""
    for rig in rigs():
        a, _ = rig.devices()
        # The wire's own check that one task clocks in a section is what is not wanted here.
        rig.wire.user = lambda: None
        async with a.select() as spi:
            await asyncio.create_task(all_operations(spi))
        assert rig.a.listen() == [ALL_HEARD]
        rig.check()


async def test_a_device_declared_during_a_selection():
    """A device that is declared while another one is selected does not end that selection (E3)."""
    for rig in rigs():
        a, b = rig.devices()
        await b.write(b"\x01")
        for part in ("c", "d"):
            rig.wire.attach(part, Echo(1))
        async with a.select() as spi:
            await spi.write(b"\x01")
            c = rig.bus.device(rig.cs("c"))
            await spi.write(b"\x02")
            assert rig.wire.selected() == ["a"]
        async with a.hold() as session:
            async with session.select() as spi:
                await spi.write(b"\x03")
                d = rig.bus.device(rig.cs("d"))
                await spi.write(b"\x04")
        assert rig.a.listen() == [b"\x01\x02", b"\x03\x04"]
        assert await c.read(1) == await d.read(1) == b"\x01"
        rig.check()


class Flash(Echo):
    """A NOR flash: command 0x20 erases, which takes 60 ms, 0x05 reads the status, bit 0 of it while it is busy."""

    busy_until_us = 0
    erased = 0

    def exchange(self, byte):
        super().exchange(byte)
        if len(self.heard[-1]) == 1:
            if byte == 0x20:
                if self.now_us() < self.busy_until_us:
                    self.complain("erased while it is busy")
                self.busy_until_us = self.now_us() + 60_000
                self.erased += 1
            return 0xFF
        return int(self.now_us() < self.busy_until_us)


async def test_a_flash_erases_while_the_display_draws():
    """hold() keeps a busy chip to one task, with CS idle and the wire free: the display draws meanwhile (I1, I2)."""
    for port in PORTS:
        flash, display = Flash(0x00), Display(256)
        rig = Rig(port, chips=(flash, display))
        device, screen = rig.devices()
        drawn = []

        async def erase():
            async with device.hold() as session:
                await session.write(b"\x20")
                while (await session.write_then_read(b"\x05", 1))[0] & 1:
                    await sleep(5)
                drawn.append("erased")

        async def draw():
            for n in range(4):
                await screen.write(bytes([n]) * 256)
                drawn.append(n)
                await sleep(10)

        await asyncio.gather(erase(), draw(), erase())
        assert drawn == [0, 1, 2, 3, "erased", "erased"]
        assert flash.erased == 2
        assert display.frames == 4
        rig.check()


async def test_a_driver_that_moves_cs_itself():
    """hold(wire=True) keeps key and wire; the block moves CS, and the session's operations leave it alone."""
    for rig in rigs():
        pin = rig.cs("a")
        a = rig.bus.device(pin)
        b = rig.bus.device(rig.cs("b"))
        log = []

        async def other():
            await b.write(b"\x01")
            log.append("b")

        async with a.hold(wire=True) as session:
            assert rig.wire.selected() == []
            task = asyncio.create_task(other())
            drive(pin, 0)
            await turns(3)
            await all_operations(session)
            drive(pin, 1)
            await sleep(1)
            drive(pin, 0)
            await session.write(b"\x09")
            drive(pin, 1)
            assert log == []
        await task
        assert rig.a.listen() == [ALL_HEARD, b"\x09"]
        rig.check()


async def test_the_wire_for_two_devices_of_different_modes():
    """Under one hold of the wire each device's transfers have its own mode, set while its CS is idle."""
    for rig in rigs(chips=(Echo(0x5A, modes=(3,)), Echo(0xA5, max_baudrate=400_000))):
        pins = [rig.cs(name) for name in rig.names]
        a = rig.bus.device(pins[0], polarity=1, phase=1)
        b = rig.bus.device(pins[1], baudrate=400_000)
        async with rig.bus.hold(a, b, wire=True) as regs:
            for device, pin, answer in ((a, pins[0], b"\x5a"), (b, pins[1], b"\xa5"), (a, pins[0], b"\x5a")):
                await regs.write(device, b"\xff")  # clocks, with every CS idle
                drive(pin, 0)
                assert await regs.read(device, 1) == answer
                drive(pin, 1)
        rig.check()


async def test_a_driver_with_the_raw_object():
    """A driver that was written for the raw bus and a pin works under call() and hold(wire=True)."""
    for port in SYNC:
        rig = Rig(port)
        pin = rig.cs("a")
        a = rig.bus.device(pin)
        b = rig.bus.device(rig.cs("b"))
        spi = rig.made[0]

        def driver(byte):
            if rig.busio:
                while not spi.try_lock():
                    pass
            drive(pin, 0)
            buf = bytearray([byte])
            spi.write_readinto(buf, buf)
            drive(pin, 1)
            if rig.busio:
                spi.unlock()
            return buf[0]

        async def others(n):
            for _ in range(5):
                assert await b.read(1) == b"\xa5"
                await turns(n)

        async def calls():
            assert await rig.bus.call(a, driver, 1) == 0x5B
            assert await rig.bus.call(pin, driver, 2) == 0x58
            async with a.hold(wire=True):
                assert driver(3) == 0x59
                await turns(2)
                assert driver(4) == 0x5E
                # A call under the task's own hold runs under that.
                assert await rig.bus.call(a, driver, 5) == 0x5F
            async with a.hold():
                assert await rig.bus.call(a, driver, 6) == 0x5C

        await asyncio.gather(calls(), others(0), others(1))
        assert rig.a.listen() == [bytes([n]) for n in range(1, 7)]
        rig.check()


async def test_cs_left_active_by_a_driver():
    """A driver that leaves CS active: it is driven idle, the driver's user is told, and the next device is not met."""
    for rig in rigs():
        pins = [rig.cs(name) for name in rig.names]
        a, b = [rig.bus.device(pin) for pin in pins]
        await b.write(b"\x00")

        async def forgetful(hold, pin):
            async with hold:
                drive(pin, 0)

        for hold_, pin, device in (
            (lambda: a.hold(wire=True), pins[0], a),
            (lambda: rig.bus.hold(a, b, wire=True), pins[0], a),
            (lambda: rig.bus.hold(a, b, wire=True), pins[1], b),
        ):
            waiting = asyncio.create_task(b.read(1))
            error = await raises_async(TransferError, forgetful(hold_(), pin))
            assert device._label() in str(error) and "left active" in str(error)
            assert rig.wire.selected() == []
            assert await waiting == b"\xa5"
        error = await raises_async(TransferError, rig.bus.call(a, lambda: drive(pins[0], 0)))
        assert a._label() in str(error)
        assert rig.wire.selected() == []
        assert await b.read(1) == b"\xa5"
        assert await a.read(1) == b"\x5a"
        rig.check()


async def test_clocks_after_a_cs_left_active():
    """The clocks that its chip waits for are sent before anybody else's section."""
    for rig in rigs():
        pin = rig.cs("a")
        a = rig.bus.device(pin, post_clocks=8)
        b = rig.bus.device(rig.cs("b"))
        await a.write(b"\x00")
        await b.write(b"\x00")
        await raises_async(TransferError, rig.bus.call(a, drive, pin, 0))
        assert a._owes and rig.bus._dirty
        rig.steps()
        assert await b.read(1) == b"\xa5"
        steps = [step for step in rig.steps() if step[0] != "configure"]
        assert steps[0] == ("write", None), steps
        assert not a._owes and not rig.bus._dirty
        rig.check()


async def test_cs_left_active_by_a_driver_that_fails():
    """What a block or a driver raises with CS active goes to the caller as it is, and CS is idle."""
    for rig in rigs():
        pin = rig.cs("a")
        a = rig.bus.device(pin)
        b = rig.bus.device(rig.cs("b"))

        def driver(error):
            drive(pin, 0)
            raise error

        async def block(error):
            async with a.hold(wire=True):
                driver(error)

        for error in (KeyError("x"), OSError(5, "x"), KeyboardInterrupt()):
            for run in (block(error), rig.bus.call(a, driver, error)):
                assert await raises_async(type(error), run) is error
                assert rig.wire.selected() == []
                assert await b.read(1) == b"\xa5"
                assert await a.read(1) == b"\x5a"

        async def sleeper():
            async with a.hold(wire=True):
                drive(pin, 0)
                await sleep(1000)

        task = asyncio.create_task(sleeper())
        await turns(3)
        assert rig.wire.selected() == ["a"]
        task.cancel()
        await raises_async(asyncio.CancelledError, task)
        assert rig.wire.selected() == []
        assert await b.read(1) == b"\xa5"
        rig.check()


async def test_call():
    """call() passes arguments and result, keeps key and wire meanwhile, and refuses what would have to be awaited."""
    for rig in rigs():
        a, b = rig.devices()
        assert await rig.bus.call(a, lambda x, y: (x, y), 1, y_or(2)) == (1, 2)
        assert await rig.bus.call(a, lambda: rig.bus._wire.locked()) is True
        await raises_async(TypeError, rig.bus.call(a, coroutine_function))
        await raises_async(TypeError, rig.bus.call(a, 5))
        await raises_async(LockTimeout, call_with(rig, a, b))
        assert await a.read(1) == b"\x5a"
        rig.check()


async def coroutine_function():
    raise AssertionError("it was run")


def y_or(value):
    return value


async def call_with(rig, a, b):
    task = asyncio.create_task(use_wire(b, 5))
    await turns(3)
    try:
        await rig.bus.call(a, lambda: None, timeout_ms=1)
    finally:
        await task
