"""Writes without STOP, aliases, the general call, and long transfers in pieces."""

import asyncio

from buslock import LockTimeout, NoAck, NotCovered, NotHeld, Reentry
from buslock_sim import Chip, RegisterFile
from i2c_rig import BUSIO, EXPANDER, MEMORY, NOBODY, A, B, Rig, cancel, outcome, rigs, sleep
from support import clock
from support.small import few_ports
from support.turns import raises, raises_async, turns

CLOCK = "virtual"

# Ports whose writes obey stop=False; esp32's new driver makes its STOP all the same.
OBEYING = few_ports("rp2", "stm32", "soft", "esp8266", "esp32_legacy")
SHAPES = few_ports("rp2", "esp32", "soft", "circuitpython")


async def test_a_write_without_stop_under_the_own_hold():
    """In a transaction or a script that runs under a hold of the task, the STOP is made with that hold's end at last."""
    for rig in rigs(OBEYING):
        bus = rig.bus

        @bus.script(A, B)
        async def point_and_fail(regs):
            await regs.write(A, b"\x07", stop=False)
            raise KeyError("x")

        @bus.script(A)
        async def point_and_read(regs):
            await regs.write(A, b"\x09", stop=False)
            return await regs.read(A, 1)

        txn = bus.transaction()
        txn.write(A, b"\x05", stop=False)
        for hold in (lambda: bus.hold(A, B), lambda: bus.hold_all(), lambda: bus.hold(A, B, wire=True)):
            async with hold() as regs:
                await txn.execute()
                assert not rig.wire.idle()
                assert await regs.read(A, 1) == b"\x05"
                assert rig.wire.idle()
                await raises_async(KeyError, point_and_fail())
                assert await regs.read(A, 1) == b"\x07"
                assert await point_and_read() == b"\x09"
                assert await regs.read_register(B, 1, 1) == b"\xfe"
                await txn.execute()
            rig.check()
            assert await bus.read_register(B, 1, 1) == b"\xfe"


async def test_an_end_that_fails_without_memory():
    """The end of a hold raises nothing, though the STOP fails, and the memory for its error, too: the next user cleans."""

    def refuse(*arguments):
        raise OSError(110, "timed out")

    def full(error, device):
        raise MemoryError

    rig = Rig("rp2")
    bus, i2c = rig.bus, rig.made[0]
    async with bus.device(A).hold() as session:
        await session.write(b"\x05", stop=False)
        writeto = i2c.writeto
        i2c.writeto = refuse
        bus._fault = full
    assert bus._dirty and not bus._wire.locked() and len(bus._table) == 0
    i2c.writeto = writeto
    del bus._fault
    i2c.writeto(A, b"")  # the STOP that was missing
    assert await bus.read_register(B, 1, 1) == b"\xfe"
    rig.check()


async def test_a_write_without_stop():
    """session.write(..., stop=False) leaves its STOP to the next transfer of that session, which begins by RESTART."""
    for rig in rigs(OBEYING + ("esp32",)):
        async with rig.bus.device(A).hold() as session:
            assert await session.write(b"\x05", stop=False) is None
            assert rig.wire.idle() == (rig.port == "esp32")
            assert await session.read(2) == b"\x05\x06"
            assert rig.wire.idle()
            await session.write(0x80, b"\x01\x02", stop=False)
            await session.write(0x82, 3, stop=False)
            await session.write(0x90, 4)
        if rig.port != "esp32":
            steps = [operation for operation, _ in rig.steps()]
            assert steps.count("START") == 2
            assert steps.count("STOP") == 2
        assert rig.a[0x80] == 1 and rig.a[0x81] == 2 and rig.a[0x82] == 3 and rig.a[0x90] == 4
        rig.check()


async def test_the_wire_is_kept_until_the_stop():
    """Between a write without STOP and the transfer that makes it nobody else gets the wire; then they do."""
    for rig in rigs(OBEYING + ("esp32",)):
        log = []

        async def other(address):
            log.append(await rig.bus.read_register(address, 0, 1))

        async with rig.bus.device(A).hold() as session:
            await session.write(b"\x05", stop=False)
            task = asyncio.create_task(other(B))
            scan = asyncio.create_task(rig.bus.scan())
            await sleep(3)
            assert log == []
            await raises_async(LockTimeout, asyncio.create_task(rig.bus.read_register(B, 0, 1, timeout_ms=2)))
            assert await session.read(1) == b"\x05"
            # The wire is free again, although the hold goes on.
            await task
            await scan
            assert log == [b"\xff"]
        rig.check()


async def test_every_transfer_makes_the_stop():
    """Whichever operation of the session comes next ends the open write."""
    for rig in rigs(OBEYING):
        async with rig.bus.device(A).hold() as session:
            for make in (
                lambda: session.read(1),
                lambda: session.readinto(bytearray(1)),
                lambda: session.write(0x01),
                lambda: session.read_register(1, 1),
                lambda: session.read_register_into(1, bytearray(1)),
                lambda: session.write_register(0x80, 1),
                lambda: session.update_register(0x80, 1, 1),
                lambda: session.wait_register(1, 0, 0),
                lambda: session.write_then_read(b"\x01", 1),
                lambda: session.write_then_read(b"\x01\x02\x03\x04\x05", 1),
                lambda: session.probe(),
            ):
                await session.write(b"\x05", stop=False)
                assert not rig.wire.idle()
                await make()
                assert rig.wire.idle()
                # Others come in again, although the hold goes on.
                assert await asyncio.create_task(rig.bus.read_register(B, 0, 1, timeout_ms=0)) == b"\xff"
        rig.check()


async def test_a_hold_that_ends_without_stop():
    """A hold that ends after a write without STOP makes it, however the block is left; the next user succeeds."""
    for rig in rigs(OBEYING + ("esp32",)):
        device = rig.bus.device(A)

        async def leave():
            async with device.hold() as session:
                await session.write(b"\x05", stop=False)

        async def fail():
            async with device.hold() as session:
                await session.write(b"\x05", stop=False)
                raise KeyError("mine")

        async def release():
            hold = device.hold()
            async with hold as session:
                await session.write(b"\x05", stop=False)
                hold.release()
                rig.check()

        async def wait():
            async with device.hold() as session:
                await session.write(b"\x05", stop=False)
                await sleep(40)

        for end in (leave, fail, release, wait):
            for wanted in (A, B):
                task = asyncio.create_task(outcome(end()))
                waiting = asyncio.create_task(rig.bus.read_register(wanted, 1, 1))
                await turns(2)
                if end is wait:
                    await cancel(task)
                else:
                    assert isinstance(await task, KeyError if end is fail else type(None))
                assert await waiting == (b"\x01" if wanted == A else b"\xfe")
                rig.check()


async def test_under_the_wire_the_stop_is_made_at_the_end():
    """The same in a hold with wire=True, of one device or several, and under hold_all."""
    for rig in rigs(OBEYING):
        bus = rig.bus
        async with bus.device(A).hold(wire=True) as session:
            await session.write(b"\x05", stop=False)
            assert await session.read(1) == b"\x05"
            assert bus._wire.locked()
            await session.write(b"\x05", stop=False)
        rig.check()
        async with bus.hold(A, B) as regs:
            await regs.write(A, b"\x05", stop=False)
            other = asyncio.create_task(bus.read_register(EXPANDER, 0, 1))
            await turns(2)
            assert not other.done()
        await other
        rig.check()
        async with bus.hold_all() as regs:
            await regs.write(A, b"\x07", stop=False)
            assert await regs.read(A, 1) == b"\x07"
            await regs.write(A, b"\x05", stop=False)
        rig.check()
        assert await bus.read_register(B, 1, 1) == b"\xfe"
        rig.check()


async def test_an_open_write_that_fails():
    """A write without STOP that gets a NACK is NoAck as any, and the bus is usable in the block and after it."""
    for rig in rigs(OBEYING + ("esp32",)):
        for at in (None, 0, 1):
            async with rig.bus.device(A).hold() as session:
                rig.a.fail_nth("nack", 0, at)
                error = await raises_async(NoAck, session.write(b"\x05\x06", stop=False))
                assert "i2c/0x10" in error.args[1]
            rig.check()
            assert await rig.bus.read_register(B, 1, 1) == b"\xfe"
            async with rig.bus.device(A).hold() as session:
                rig.a.fail_nth("nack", 0, at)
                await raises_async(NoAck, session.write(b"\x05\x06", stop=False))
                assert await session.read_register(1, 1) == b"\x01"
            rig.check()
        async with rig.bus.device(NOBODY).hold() as session:
            await raises_async(NoAck, session.write(b"\x05", stop=False))
        rig.check()


async def test_an_open_write_that_times_out():
    """A time-out in a write without STOP leaves the bus to the next user."""
    for rig in rigs(OBEYING + ("esp32",)):
        async with rig.bus.device(A).hold() as session:
            rig.a.fail_nth("timeout", 0, 0)
            await raises_async(OSError, session.write(b"\x05\x06", stop=False))
        rig.check()
        assert await rig.bus.read_register(B, 1, 1) == b"\xfe"
        rig.check()


async def test_an_open_write_waits_for_the_wire():
    """A write without STOP waits for the wire like any transfer; timed out or cancelled it has taken nothing."""
    for rig in rigs(OBEYING):
        async with rig.bus.device(A).hold() as session:

            async def keeper():
                async with rig.bus.device(B).hold(wire=True):
                    await sleep(20)

            task = asyncio.create_task(keeper())
            await turns()
            start = clock.now()
            await raises_async(LockTimeout, session.write(b"\x05", stop=False, timeout_ms=5))
            assert clock.now() - start == 5
            waiting = asyncio.create_task(session.write(b"\x05", stop=False))
            await turns()
            await cancel(waiting)
            await task
            assert not rig.bus._wire.locked()
            assert await session.read_register(1, 1) == b"\x01"
        rig.check()


async def test_only_sessions_can_leave_the_stop_out():
    """A plain operation cannot keep the wire: ValueError that says what to use, and nothing is sent."""
    for rig in rigs(OBEYING + BUSIO):
        device = rig.bus.device(A)
        error = await raises_async(ValueError, device.write(b"\x05", stop=False))
        assert "hold()" in str(error)
        async with device.hold():
            await raises_async(ValueError, device.write(b"\x05", stop=False))
        assert rig.wire.messages == 0
        rig.check()


async def test_busio_always_sends_stop():
    """On busio a write without STOP is NotImplementedError, in every kind of hold; the session stays usable."""
    for rig in rigs(BUSIO):
        for make in (rig.bus.device(A).hold, lambda: rig.bus.device(A).hold(wire=True)):
            async with make() as session:
                error = await raises_async(NotImplementedError, session.write(b"\x05", stop=False))
                assert "STOP" in str(error)
                assert rig.wire.messages == 0
                await session.write(b"\x05")
                assert await session.read(1) == b"\x05"
                rig.wire.messages = 0
        rig.check()


async def test_an_open_write_is_the_wire_held():
    """While a task has an open write it holds the wire: asking for another device is Reentry."""
    for rig in rigs(OBEYING):
        async with rig.bus.device(A).hold() as session:
            await session.write(b"\x05", stop=False)
            await raises_async(Reentry, rig.bus.read_register(B, 0, 1))
            await raises_async(Reentry, rig.bus.scan())
            assert await session.read(1) == b"\x05"
            assert await rig.bus.read_register(B, 0, 1) == b"\xff"
        rig.check()


# Aliases


async def in_hold(device):
    async with device.hold():
        pass


async def test_aliases():
    """An alias is another address of the same chip: each is used with its own address, and all have one key."""
    for rig in rigs():
        memory = rig.wire.attach(0x12, RegisterFile(b"\x12"))
        rig.wire.attach(0x13, RegisterFile(b"\x13"))
        bus = rig.bus
        device = bus.device(A, aliases=(0x12, 0x13))
        alias = bus.device(0x12)
        assert alias is bus.device(0x12)
        assert alias is not device
        assert alias.address == 0x12
        assert await alias.read_register(0, 1) == b"\x12"
        assert await device.read_register(0, 1) == b"\x00"
        assert await bus.read_register(0x13, 0, 1) == b"\x13"
        await alias.write_register(1, 7)
        assert memory[1] == 7
        async with alias.hold() as session:
            assert await session.read_register(0, 1) == b"\x12"
            # One key: the task holds the chip by any of its addresses, and others by none.
            assert await device.read_register(1, 1) == b"\x01"
            assert await bus.read_register(0x13, 0, 1) == b"\x13"
            for address in (A, 0x12, 0x13):
                await raises_async(LockTimeout, asyncio.create_task(bus.read_register(address, 0, 1, timeout_ms=0)))
            await raises_async(Reentry, in_hold(device))
            assert len(bus._table) == 1
        async with bus.hold(A, 0x12, B) as regs:
            assert len(bus._table) == 2
            assert await regs.read_register(A, 1, 1) == b"\x01"
            assert await regs.read_register(0x12, 0, 1) == b"\x12"
        # Whoever holds the chip by one address may use the others.
        async with bus.hold(A) as regs:
            assert await regs.read_register(0x13, 0, 1) == b"\x13"
        rig.check()


async def test_aliases_have_the_settings_of_their_device():
    """Register size, retries and pieces of the device are those of its aliases, for plain operations and sessions."""
    for rig in rigs(SHAPES):
        rig.wire.attach(0x51, rig.memory)
        bus = rig.bus
        bus.device(MEMORY, addrsize=16, retries=10, chunk=32, aliases=(0x51,))
        alias = bus.device(0x51)
        data = bytes(range(100))
        await alias.write_register(0x110, data, repeatable=True)
        assert rig.memory.memory[0x110:0x174] == data
        assert await alias.read_register(0x110, 100) == data
        async with alias.hold() as session:
            assert await session.read_register(0x110, 100) == data
        rig.check()


async def test_aliases_that_are_refused():
    """An alias that is a device already, an alias, or the device itself: ValueError, and nothing has changed."""
    rig = Rig()
    bus = rig.bus
    bus.device(B)
    bus.device(A, aliases=(0x12,))
    for addr, aliases in ((EXPANDER, (B,)), (EXPANDER, (0x12,)), (EXPANDER, (A,)), (EXPANDER, (EXPANDER,))):
        error = raises(ValueError, bus.device, addr, aliases=aliases)
        assert "0x%02x" % aliases[0] in str(error)
    raises(ValueError, bus.device, 0x12, retries=3)
    # One that a short form has used without declaring it can still become an alias.
    await raises_async(NoAck, bus.read_register(0x14, 0, 1))
    bus.device(EXPANDER, aliases=(0x14,))
    assert await bus.read_register(EXPANDER, 0, 1) == b"\xff"
    rig.check()


# The general call


class Listener(Chip):
    """Hears the general call."""

    def __init__(self):
        self.heard = []

    def write(self, byte):
        self.heard.append(byte)
        return True


async def test_the_general_call_needs_the_whole_bus():
    """Address 0 speaks to all chips at once: it is allowed under hold_all, and NotCovered everywhere else."""
    for rig in rigs(SHAPES):
        chip = rig.wire.attach(0, Listener())
        bus = rig.bus
        everybody = bus.device(0)
        for make in (
            lambda: everybody.write(0x06),
            lambda: everybody.write_register(0, 1),
            lambda: everybody.read_register(0, 1),
            lambda: everybody.update_register(0, 1, 1),
            lambda: everybody.wait_register(0, 0, 0),
            lambda: everybody.probe(),
            lambda: bus.write_register(0, 0, 1),
            lambda: bus.call(0, print),
            lambda: bus.call(everybody, print),
        ):
            error = await raises_async(NotCovered, make())
            assert "hold_all()" in str(error)
        for make in (
            lambda: everybody.hold(),
            lambda: everybody.hold(wire=True),
            lambda: bus.hold(0),
            lambda: bus.hold(A, 0),
            lambda: bus.hold(everybody),
        ):

            async def use():
                async with make():
                    pass

            assert "hold_all()" in str(await raises_async(NotCovered, use()))
        assert rig.wire.messages == 0
        rig.check()
        async with bus.hold_all() as regs:
            await regs.write(0, b"\x06")
            await everybody.write(0x04)
            await bus.write_register(0, 0x08, 1)
            # Only its holder's task may: another one holds nothing.
            await raises_async(NotCovered, asyncio.create_task(everybody.write(0x05)))
        assert chip.heard == [0x06, 0x04, 0x08, 1]
        rig.check()


# Long transfers in pieces


async def test_pieces():
    """A transfer is cut at the multiples of chunk, wherever it begins; the bytes are the same as in one."""
    for rig in rigs():
        device = rig.bus.device(A, chunk=8)
        for first, size, pieces in ((0, 8, 1), (0, 9, 2), (5, 3, 1), (5, 4, 2), (7, 1, 1), (7, 18, 4), (0, 64, 8)):
            data = bytes((n * 7 + size) & 0xFF for n in range(size))
            rig.steps()
            await device.write_register(first, data)
            assert len(rig.users()) == pieces
            assert bytes(rig.a[first + n] for n in range(size)) == data
            assert await device.read_register(first, size) == data
            buf = bytearray(size)
            await device.read_register_into(first, buf)
            assert buf == data
            async with device.hold() as session:
                assert await session.read_register(first, size) == data
                await session.write_register(first, data)
                await session.read_register_into(first, memoryview(buf)[:1])
                assert await device.read_register(first, size) == data
        rig.check()


async def test_pieces_by_the_short_forms():
    """The short forms of a device with chunk= are cut as well, with and without a timeout."""
    for rig in rigs(SHAPES):
        bus = rig.bus
        bus.device(A, chunk=4)
        await bus.write_register(A, 0x81, b"0123456789")
        assert await bus.read_register(A, 0x81, 10) == b"0123456789"
        assert await bus.read_register(A, 0x81, 10, timeout_ms=100) == b"0123456789"
        assert await bus.device(A).read_register(0x81, 10, 100) == b"0123456789"
        buf = bytearray(10)
        await bus.read_register_into(A, 0x81, buf, timeout_ms=100)
        assert buf == b"0123456789"
        await bus.write_register(A, 0x81, b"9876543210", timeout_ms=100)
        assert await bus.read_register(A, 0x81, 10) == b"9876543210"
        rig.check()


async def test_what_chunk_does_not_cut():
    """Operations without a register, and those of one register, are one transfer also with chunk=."""
    for rig in rigs(SHAPES):
        device = rig.bus.device(A, chunk=2)
        await device.write(b"\x10\x01\x02\x03\x04")
        assert rig.users() == [A]
        assert await device.write_then_read(b"\x10", 4) == b"\x01\x02\x03\x04"
        assert rig.users() == [A, A]
        assert await device.update_register(0x10, 0xFF, 9) == 9
        assert await device.wait_register(0x10, 0xFF, 9) == 9
        assert await device.probe() is True
        rig.check()


async def test_another_device_between_the_pieces():
    """Between two pieces whoever waits for the wire gets it, one task after the other."""
    for rig in rigs(SHAPES):
        device = rig.bus.device(A, chunk=4)
        reads = [0]

        async def other(address):
            while not task.done():
                await rig.bus.read_register(address, 0, 1)
                reads[0] += 1
                await turns()

        task = asyncio.create_task(device.write_register(0, bytes(40)))
        await asyncio.gather(other(B), other(EXPANDER))
        await task
        assert reads[0] >= 16
        users = rig.users()
        first = users.index(A)
        last = len(users) - 1 - users[::-1].index(A)
        assert B in users[first:last] and EXPANDER in users[first:last]
        rig.check()


async def test_the_whole_long_transfer_has_one_deadline():
    """timeout_ms of a long transfer covers the waits before all of its pieces."""
    for rig in rigs(("rp2", "circuitpython")):
        device = rig.bus.device(A, chunk=4)

        async def greedy():
            while not stop:
                async with rig.bus.device(B).hold(wire=True):
                    await sleep(3)
                await turns(0)

        stop = []
        task = asyncio.create_task(greedy())
        await turns()
        start = clock.now()
        await raises_async(LockTimeout, device.write_register(0, bytes(200), timeout_ms=20))
        assert 18 <= clock.now() - start <= 22
        stop.append(1)
        await task
        rig.check()


async def test_a_long_transfer_cancelled_between_pieces():
    """Cancelled in the middle a long write has written its first pieces, and the device is free."""
    for rig in rigs(SHAPES):
        device = rig.bus.device(A, chunk=4)
        for n in range(5):
            task = asyncio.create_task(device.write_register(0, b"\xaa" * 40))
            await turns(n)
            await cancel(task)
            rig.check()
            assert await rig.bus.read_register(B, 0, 1) == b"\xff"
            assert await device.read_register(0x80, 8) == bytes(range(0x80, 0x88))


async def test_a_long_transfer_that_fails_in_the_middle():
    """An error in any piece reaches the caller, and the device is free."""
    for rig in rigs(SHAPES):
        device = rig.bus.device(A, chunk=4)
        for nth in (0, 1, 5):
            rig.a.fail_nth("nack", nth)
            await raises_async(NoAck, device.write_register(0, bytes(40)))
            rig.check()
            rig.a.fail_nth("nack", nth)
            async with device.hold() as session:
                await raises_async(NoAck, session.write_register(0, bytes(40)))
            rig.check()
        assert await device.read_register(0x80, 8) == bytes(range(0x80, 0x88))
        rig.check()


async def test_a_session_of_pieces_is_dead_after_its_block():
    """A session that cuts its transfers is as dead as any after the end of its hold, also between two pieces."""
    for rig in rigs(SHAPES):
        device = rig.bus.device(A, chunk=4)
        hold = device.hold()
        async with hold as session:
            # Another task may use the session; its next piece after the end of the hold is refused.
            task = asyncio.create_task(raises_async(NotHeld, session.write_register(0, bytes(40))))
            await turns(3)
        await task
        await raises_async(NotHeld, session.read_register(0, 8))
        rig.check()
