"""Failed transfers: what is raised on each port, what it says, and what is tried again."""

import asyncio
import sys

from buslock import ERRORS, BusError, I2CBus, LockTimeout, NoAck, TransferError
from buslock_sim import I2C, PORTS, Port, RegisterFile, Wire, check
from i2c_rig import BUSIO, EXPANDER, MEMORY, NOBODY, THERMOMETER, A, B, Rig, cancel, rigs, sleep
from support import clock
from support.small import few_ports
from support.turns import raises_async, turns

CLOCK = "virtual"

EVERY_PORT = few_ports(*sorted(PORTS))


def port_rigs(**arguments):
    """A rig for every port that the simulator knows, also those whose habits are nearly another's."""
    for name in EVERY_PORT:
        if name.startswith(BUSIO):
            rig = Rig("blinka" if name == "blinka" else "circuitpython", **arguments)
            rig.made[0].port = PORTS[name]
        else:
            rig = Rig(name, **arguments)
        yield rig, PORTS[name]


READS_AND_WRITES = (
    lambda o: o.read_register(1, 1),
    lambda o: o.read_register_into(1, bytearray(1)),
    lambda o: o.write_register(0x80, 1),
    lambda o: o.update_register(0x80, 1, 1),
    lambda o: o.wait_register(0, 0, 0),
    lambda o: o.read(1),
    lambda o: o.readinto(bytearray(1)),
    lambda o: o.write(0x01, b"\x02"),
    lambda o: o.write_then_read(b"\x01", 1),
    lambda o: o.write_then_read(b"\x01\x02\x03\x04\x05", 1),
)


def number_of(error):
    """The errno by both ways of getting it."""
    if sys.implementation.name == "cpython":
        assert error.errno == error.args[0]
    return error.args[0]


async def test_an_address_that_nobody_has():
    """NoAck with the port's errno, whichever that is, from every operation on every port (C7)."""
    for rig, port in port_rigs():
        device = rig.bus.device(NOBODY)
        async with device.hold() as session:
            for make in READS_AND_WRITES:
                error = await raises_async(NoAck, make(session))
                assert number_of(error) == port.nack
        for make in READS_AND_WRITES:
            error = await raises_async(NoAck, make(device))
            assert number_of(error) == port.nack
            assert isinstance(error, OSError) and isinstance(error, BusError)
        assert rig.bus.stats()["nacks"] == 20
        assert await rig.bus.read_register(A, 1, 1) == b"\x01"
        rig.check()


async def test_a_message_says_what_to_try():
    """args is (errno, text); the text names the bus, the address and the way out, and the traceback prints it."""
    for rig, port in port_rigs(name="sensors"):
        error = await raises_async(NoAck, rig.bus.read_register(NOBODY, 0, 1))
        assert len(error.args) == 2
        for part in ("sensors", "0x3c", "wiring"):
            assert part in error.args[1], error
            assert part in str(error), error
        rig.a.fail("timeout")
        error = await raises_async(TransferError, rig.bus.read_register(A, 0, 1))
        assert len(error.args) == 2
        for part in ("sensors", "0x10", "recover()"):
            assert part in error.args[1], error
        assert number_of(error) == port.timeout
        await rig.bus.read_register(B, 0, 1)
        rig.check()


async def test_a_time_out():
    """TransferError with the port's errno when the chip stops the clock, at any byte of any operation (C7)."""
    for rig, port in port_rigs():
        device = rig.bus.device(A)
        for at in (None, 0):
            for make in READS_AND_WRITES:
                rig.a.fail("timeout", at=at)
                error = await raises_async(TransferError, make(device))
                assert number_of(error) == port.timeout
                rig.a.recover()
                assert await rig.bus.read_register(B, 1, 1) == b"\xfe"
        assert rig.bus.stats()["errors"] == 2 * len(READS_AND_WRITES)
        rig.check()


async def test_lost_arbitration():
    """Another master on the wire: an error with the port's errno where the port tells, and the bus goes on (C7)."""
    for rig, port in port_rigs():
        rig.a.fail("arbitration")
        error = await raises_async(BusError, rig.bus.read_register(A, 1, 1))
        # Bit-banging cannot tell it from a NACK.
        assert number_of(error) == (port.nack if port.soft else port.lost)
        rig.a.recover()
        assert await rig.bus.read_register(B, 1, 1) == b"\xfe"
        assert await rig.bus.read_register(A, 1, 1) == b"\x01"
        rig.check()


async def test_data_that_is_not_acknowledged():
    """A data byte that gets a NACK is NoAck on every port, also where the port only returns a short count (C7)."""
    for rig, port in port_rigs():
        device = rig.bus.device(A)
        for make in (
            lambda o: o.write_register(0x80, b"\x01\x02\x03"),
            lambda o: o.write(b"\x80\x01\x02\x03"),
            lambda o: o.write(0x80, b"\x01\x02", 3),
        ):
            for at in (1, 3):
                rig.a.fail("nack", at=at)
                error = await raises_async(NoAck, make(device))
                text = error.args[1]
                assert "i2c/0x10" in text
                if port.data_nack is None:
                    assert "byte %d of 4" % (at + 1) in text
                    assert number_of(error) == 5
                else:
                    assert number_of(error) == port.data_nack
                async with device.hold() as session:
                    rig.a.fail("nack", at=at)
                    await raises_async(NoAck, make(session))
                await make(device)
        rig.a.fail("nack", at=1)
        await raises_async(NoAck, device.update_register(0x80, 1, 1))
        assert rig.bus.stats()["nacks"] == 13
        rig.check()


async def test_numbers_of_an_unknown_port():
    """An errno that no table knows keeps its number, as a TransferError; one that means nothing here is not lost."""
    for number in (1, 22, 71, 104, 999):
        wire = Wire()
        wire.attach(A, RegisterFile())
        rig = Rig(wire=wire)
        rig.made[0].port = Port("odd", nack=number, timeout=number)
        error = await raises_async(TransferError, rig.bus.read_register(NOBODY, 0, 1))
        assert number_of(error) == number
        assert str(number) in error.args[1]
        await rig.bus.read_register(A, 0, 1)
        rig.check()


async def test_errors_without_a_number():
    """A port that raises OSError with a text alone, or with nothing: a TransferError that keeps the text."""

    class Odd(I2C):
        def readfrom_mem(self, *args, **kwargs):
            raise error

    for error in (OSError("I2C operation not supported"), OSError()):
        wire = Wire()
        wire.attach(A, RegisterFile())
        bus = I2CBus(Odd(wire))
        got = await raises_async(TransferError, bus.read_register(A, 0, 1))
        assert isinstance(got.args[0], int)
        for part in error.args:
            assert part in got.args[1]
        assert await bus.device(A).read(1) == b"\x00"
        assert len(bus._table) == 0
    check()


async def test_one_clause_catches_them_all():
    """`except ERRORS` catches whatever an operation raises, and each error is an OSError where a driver expects one."""
    rig = Rig()
    rig.a.fail("timeout")
    for operation in (rig.bus.read_register(NOBODY, 0, 1), rig.bus.read_register(A, 0, 1)):
        await raises_async(ERRORS, operation)
    async with rig.bus.device(A).hold():
        await raises_async(ERRORS, asyncio.create_task(rig.bus.read_register(A, 0, 1, timeout_ms=1)))
    rig.check()


async def test_after_an_error_nothing_is_held():
    """Key and wire are free after a failed transfer; with a session its hold stays, and is usable."""
    for rig in rigs():
        device = rig.bus.device(A)
        for kind in ("nack", "timeout", "arbitration"):
            rig.a.fail(kind)
            await raises_async(BusError, device.read_register(0, 1))
            rig.a.recover()
            rig.check()
            for wire in (False, True):
                async with device.hold(wire=wire) as session:
                    rig.a.fail(kind)
                    await raises_async(BusError, session.read_register(0, 1))
                    rig.a.recover()
                    assert await session.read_register(1, 1) == b"\x01"
                rig.check()
        assert await rig.bus.read_register(B, 0, 1) == b"\xff"
        rig.check()


# Retries


async def test_retries():
    """retries=n: what may be repeated is tried n times more before its error reaches the caller."""
    for rig in rigs():
        device = rig.bus.device(A, retries=2)
        nobody = rig.bus.device(NOBODY, retries=3)
        for make in (
            lambda o: o.read_register(1, 1),
            lambda o: o.read_register_into(1, bytearray(1)),
            lambda o: o.read(1),
            lambda o: o.readinto(bytearray(1)),
            lambda o: o.write_then_read(b"\x01", 1),
            lambda o: o.wait_register(1, 0, 0),
            lambda o: o.write_register(0x80, 1, repeatable=True),
            lambda o: o.write(0x80, b"\x02", repeatable=True),
        ):
            for kind in ("nack", "timeout"):
                before = rig.bus.stats()["retries"]
                rig.a.fail_nth(kind, 0)
                await make(device)
                assert rig.bus.stats()["retries"] == before + 1
                async with device.hold() as session:
                    rig.a.fail_nth(kind, 0)
                    await make(session)
                async with device.hold(wire=True) as session:
                    rig.a.fail_nth(kind, 0)
                    await make(session)
                assert rig.bus.stats()["retries"] == before + 3
            before = rig.bus.stats()["nacks"]
            await raises_async(NoAck, make(nobody))
            assert rig.bus.stats()["nacks"] == before + 4
        rig.check()


async def test_what_must_not_be_repeated():
    """A write that is not marked, and a read-modify-write, are made once, whatever retries says."""
    for rig in rigs():
        device = rig.bus.device(A, retries=5)
        for make in (
            lambda o: o.write_register(0x80, 1),
            lambda o: o.write(0x80, 1),
            lambda o: o.update_register(0x80, 1, 1),
        ):
            rig.a.fail_nth("nack", 0)
            await raises_async(NoAck, make(device))
            async with device.hold() as session:
                rig.a.fail_nth("nack", 0)
                await raises_async(NoAck, make(session))
        assert rig.bus.stats()["retries"] == 0
        rig.check()


async def test_without_retries_nothing_is_repeated():
    """Without retries= even a repeatable write is made once."""
    for rig in rigs():
        rig.a.fail_nth("nack", 0)
        await raises_async(NoAck, rig.bus.device(A).write_register(0x80, 1, repeatable=True))
        assert rig.bus.stats()["retries"] == 0
        rig.check()


async def test_probe_is_not_repeated():
    """probe asks once: an answer of False is no error."""
    for rig in rigs():
        rig.bus.device(A, retries=3)
        rig.a.fail_nth("nack", 0)
        assert await rig.bus.device(A).probe() is False
        assert rig.bus.stats()["retries"] == 0
        rig.check()


async def test_between_retries_the_wire_is_free_and_the_key_is_not():
    """Between two tries other devices get the wire; the device's next user waits until the tries are over."""
    for rig in rigs():
        device = rig.bus.device(A, retries=20)
        log = []

        async def stubborn():
            log.append(await device.read_register(1, 1))

        async def same():
            await turns()
            log.append(await device.read_register(2, 1))

        async def other():
            for _ in range(8):
                assert await rig.bus.read_register(B, 0, 1, timeout_ms=1) == b"\xff"
                assert log == []
                await sleep(1)
            rig.a.recover()

        rig.a.fail("nack", times=None)
        await asyncio.gather(stubborn(), same(), other())
        assert log == [b"\x01", b"\x02"]
        rig.check()


async def test_retries_end_at_the_deadline():
    """Tries are made inside timeout_ms; when it is over the last error reaches the caller, and nothing is held."""
    for rig in rigs():
        device = rig.bus.device(NOBODY, retries=100000)
        for operation in (
            lambda: device.read_register(0, 1, timeout_ms=10),
            lambda: device.write_register(0, 1, repeatable=True, timeout_ms=10),
            lambda: rig.bus.read_register(NOBODY, 0, 1, timeout_ms=10),
        ):
            start = clock.now()
            await raises_async(NoAck, operation())
            assert 9 <= clock.now() - start <= 12
            rig.check()
        async with device.hold() as session:
            start = clock.now()
            await raises_async(NoAck, session.read_register(0, 1, timeout_ms=10))
            assert 9 <= clock.now() - start <= 12
        # With no time at all there is one try.
        before = rig.bus.stats()["retries"]
        await raises_async(NoAck, device.read_register(0, 1, timeout_ms=0))
        assert rig.bus.stats()["retries"] == before
        rig.check()


async def test_a_retry_that_does_not_get_the_wire():
    """If another keeps the wire until the deadline, the retry ends with LockTimeout then, and nothing is held."""
    for rig in rigs():
        device = rig.bus.device(A, retries=5)
        rig.a.fail_nth("nack", 0)

        async def keeper():
            async with rig.bus.device(B).hold(wire=True):
                await sleep(30)

        failing = asyncio.create_task(raises_async((LockTimeout, NoAck), device.read_register(0, 1, timeout_ms=10)))
        task = asyncio.create_task(keeper())
        start = clock.now()
        await failing
        assert clock.now() - start <= 11
        assert len(rig.bus._table) == 1
        await task
        rig.check()


async def test_cancelled_between_retries():
    """A task that is cancelled between two tries gives up the key; nobody is disturbed."""
    for rig in rigs():
        device = rig.bus.device(NOBODY, retries=1000)
        for ms in (0, 1, 3):
            task = asyncio.create_task(device.read_register(0, 1))
            await sleep(ms)
            await cancel(task)
            rig.check()
            assert await rig.bus.read_register(B, 0, 1) == b"\xff"


async def test_a_busy_memory_is_waited_for_by_retries():
    """An EEPROM that answers nothing during its write cycle: retries carry page after page over it; others go on."""
    for rig in rigs():
        device = rig.bus.device(MEMORY, addrsize=16, chunk=32, retries=10)
        data = bytes(n & 0xFF for n in range(100, 260))
        reads = []

        async def write():
            await device.write_register(0x50, data, repeatable=True)
            assert await device.read_register(0x50, len(data)) == data

        async def other():
            while not task.done():
                start = clock.now()
                await rig.bus.read_register(B, 0, 1)
                reads.append(clock.now() - start)
                await sleep(1)

        task = asyncio.create_task(write())
        await other()
        await task
        assert rig.memory.memory[0x50 : 0x50 + len(data)] == data
        assert rig.memory.cycles == 6  # the first and the last page in part
        assert len(reads) >= 20
        # A page on busio's 100 kHz takes 3 ms.
        assert max(reads) <= 5
        rig.check()


# The native lock of busio


async def test_a_native_lock_is_waited_for():
    """Code outside of the library that has taken try_lock() is waited for, without freezing the loop (E10)."""
    for shape in BUSIO:
        rig = Rig(shape)
        raw = rig.made[0]
        log = []

        async def ticker():
            for n in range(5):
                log.append(n)
                await sleep(1)
            raw.unlock()

        assert raw.try_lock()
        value, _ = await asyncio.gather(rig.bus.read_register(A, 1, 1), ticker())
        assert value == b"\x01"
        assert log == list(range(5))
        rig.check()


async def test_a_native_lock_that_is_never_freed():
    """The wait for it has the operation's deadline; LockTimeout says what it may be, nothing is held (E10, B5)."""
    for shape in BUSIO:
        rig = Rig(shape)
        raw = rig.made[0]
        bus = rig.bus
        device = bus.device(A)
        assert raw.try_lock()
        for make in (
            lambda: device.read_register(0, 1, timeout_ms=10),
            lambda: device.read_register_into(0, bytearray(1), timeout_ms=10),
            lambda: device.write_register(0, 1, timeout_ms=10),
            lambda: device.update_register(0, 1, 1, timeout_ms=10),
            lambda: device.write_then_read(b"\x00", 1, timeout_ms=10),
            lambda: device.probe(timeout_ms=10),
            lambda: bus.read_register(A, 0, 1, timeout_ms=10),
            lambda: bus.scan(timeout_ms=10),
        ):
            start = clock.now()
            error = await raises_async(LockTimeout, make())
            assert 9 <= clock.now() - start <= 11
            for part in ("i2c", "try_lock", "release_displays", "reset()"):
                assert part in str(error)
            rig.check()
        start = clock.now()
        await raises_async(LockTimeout, device.read_register(0, 1, timeout_ms=0))
        assert clock.now() == start
        async with device.hold() as session:
            await raises_async(LockTimeout, session.read_register(0, 1, timeout_ms=3))
        # So has a hold of the wire, for a driver that would spin on it.
        start = clock.now()
        await raises_async(LockTimeout, in_hold(device.hold(wire=True, timeout_ms=10)))
        assert 9 <= clock.now() - start <= 11
        await raises_async(LockTimeout, bus.call(A, print, timeout_ms=3))
        rig.check()
        raw.unlock()
        # The wait for the wire counts too.
        task = asyncio.create_task(keep_wire(bus.device(B), 8))
        await turns()
        assert raw.try_lock()
        start = clock.now()
        await raises_async(LockTimeout, device.read_register(0, 1, timeout_ms=10))
        assert clock.now() - start <= 11
        await task
        raw.unlock()
        assert await device.read_register(1, 1) == b"\x01"
        rig.check()


async def in_hold(hold):
    async with hold:
        pass


async def keep_wire(device, ms):
    async with device.hold(wire=True):
        await sleep(ms)


async def test_order_is_kept_over_a_native_lock():
    """Tasks that wait while the native lock is taken get the bus in the order in which they came (E10)."""
    for shape in BUSIO:
        rig = Rig(shape)
        raw = rig.made[0]
        log = []

        async def user(n):
            if n == 2 or n == 5:
                await rig.bus.scan()
            else:
                await rig.bus.read_register((A, B, None, EXPANDER, THERMOMETER)[n], 0, 1)
            log.append(n)

        assert raw.try_lock()
        tasks = []
        for n in range(6):
            tasks.append(asyncio.create_task(user(n)))
            await turns()
        await sleep(3)
        assert log == []
        raw.unlock()
        await asyncio.gather(*tasks)
        assert log == [0, 1, 2, 3, 4, 5]
        rig.check()


async def test_a_background_user_of_the_native_lock():
    """A display that takes the native lock now and then delays operations, and none fails (E10)."""
    for shape in BUSIO:
        rig = Rig(shape)
        raw = rig.made[0]
        stop = []

        async def background():
            while not stop:
                if raw.try_lock():
                    await sleep(2)
                    raw.unlock()
                await sleep(1)

        async def user(address):
            for _ in range(20):
                await rig.bus.read_register(address, 0, 1, timeout_ms=40)
                await turns()

        task = asyncio.create_task(background())
        await asyncio.gather(user(A), user(B), user(A))
        stop.append(1)
        await task
        rig.check()


async def test_the_native_lock_is_never_kept_over_an_await():
    """Whenever another task runs, the native lock is free: code that spins on it never waits for a task (B3)."""
    for shape in BUSIO:
        rig = Rig(shape)
        raw = rig.made[0]
        bus = rig.bus
        seen = []

        async def watcher():
            while not seen or seen[-1] != "end":
                assert raw.try_lock(), "the native lock is taken across an await"
                raw.unlock()
                seen.append(1)
                await turns()
                if len(seen) % 4 == 0:
                    await sleep(1)

        async def user():
            for n in range(10):
                async with bus.device(A, retries=2).hold(wire=n % 2 == 0) as session:
                    rig.a.fail_nth("nack", 0)
                    await session.read_register(0, 1)
                    await turns()
                    await session.update_register(0x80, 1, n)
                    await turns()
                await bus.scan()
                await bus.call(B, lambda: None)

        task = asyncio.create_task(watcher())
        await user()
        seen.append("end")
        await task
        assert len(seen) > 20
        rig.check()


async def test_an_error_frees_the_native_lock():
    """After any failed transfer the native lock is free (D1's cause, on the bus itself)."""
    for shape in BUSIO:
        rig = Rig(shape)
        raw = rig.made[0]
        for kind in ("nack", "timeout", "arbitration"):
            for make in READS_AND_WRITES:
                rig.a.fail(kind, times=None)
                await raises_async(BusError, make(rig.bus.device(A)))
                rig.a.recover()
                assert raw.try_lock()
                raw.unlock()
        rig.a.fail("timeout", times=None)
        await raises_async(TransferError, rig.bus.device(A).probe())
        assert raw.try_lock()
        raw.unlock()
        rig.check()


async def test_reset_takes_a_native_lock_over():
    """A native lock that an earlier program left taken: bus.reset() frees it, before the first use and later (B5)."""
    for shape in BUSIO:
        for factory in (None, "sync", "async"):
            rig = Rig(shape, factory="sync")
            singleton = rig.make()  # board.I2C() gives one object for the whole program

            async def slowly():
                await sleep(1)
                return singleton

            first = {None: singleton, "sync": lambda: singleton, "async": slowly}[factory]
            bus = I2CBus(first)
            for _ in range(2):
                assert singleton.try_lock()
                await raises_async(LockTimeout, bus.read_register(A, 1, 1, timeout_ms=3))
                bus.reset()
                assert await bus.read_register(A, 1, 1, timeout_ms=3) == b"\x01"
            # Before the first use of a bus, which may have made nothing yet
            bus = I2CBus(first)
            assert singleton.try_lock()
            bus.reset()
            assert await bus.read_register(A, 1, 1, timeout_ms=3) == b"\x01"
            # That was once: a lock that is taken later is somebody's who is there now.
            assert singleton.try_lock()
            await raises_async(LockTimeout, bus.read_register(A, 1, 1, timeout_ms=3))
            singleton.unlock()
            assert len(bus._table) == 0
            rig.check()


async def test_reset_takes_over_once():
    """After reset() and a close the next object is not robbed of a lock that somebody took meanwhile (B5)."""
    for shape in BUSIO:
        rig = Rig(shape, factory="sync")
        singleton = rig.make()
        bus = I2CBus(lambda: singleton, close=lambda i2c: None)
        bus.reset()
        await bus.read_register(A, 1, 1)
        await bus.aclose()
        assert singleton.try_lock()
        await raises_async(LockTimeout, bus.read_register(A, 1, 1, timeout_ms=2))
        singleton.unlock()
        assert await bus.read_register(A, 1, 1) == b"\x01"
        rig.check()
