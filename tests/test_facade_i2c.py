"""Look-alikes of I2C for drivers that know nothing of the bus: who may use them, and what they leave behind."""

import asyncio

from buslock import BusClosed, BusError, BusStuck, NotCovered, NotHeld, Reentry
from buslock_sim import Multiplexer, RegisterFile
from i2c_rig import (
    BUSIO,
    CPYTHON,
    EXPANDER,
    MACHINE,
    NOBODY,
    THERMOMETER,
    A,
    B,
    Loops,
    Rig,
    cancel,
    in_thread,
    outcome,
    rigs,
    sleep,
    use_key,
    use_wire,
)
from support.turns import raises_async, turns

CLOCK = "virtual"
LEFT_OUT = {
    "pico": {
        "deeper calls than a Pico's stack has room for: a driver, its look-alike and the simulated bus": (
            "test_a_driver_that_survives_its_own_errors",
        ),
    }
}


def looks(rig):
    return rig.bus.as_machine(), rig.bus.as_busio()


def refusal(function, *args, **kwargs):
    """The text of its NotCovered."""
    try:
        function(*args, **kwargs)
    except NotCovered as error:
        return str(error)
    raise AssertionError("it went through")


def raised(kind, function, *args):
    try:
        function(*args)
    except kind as error:
        return error
    raise AssertionError("it went through")


def read_twice(i2c):
    """Both ways of the ports to read a register."""
    if hasattr(i2c, "readfrom_mem"):
        return i2c.readfrom_mem(A, 3, 2), _two_steps(i2c)
    buf = bytearray(2)
    i2c.writeto_then_readfrom(A, b"\x03", buf)
    return bytes(buf), _two_steps(i2c)


def _two_steps(i2c):
    buf = bytearray(2)
    i2c.writeto(A, b"\x03")
    i2c.readfrom_into(A, buf)
    return bytes(buf)


async def test_both_shapes_work_over_every_port():
    for rig in rigs():
        await rig.bus.read_register(A, 0, 1)
        for i2c in looks(rig):
            assert read_twice(i2c) == (b"\x03\x04", b"\x03\x04"), rig.port
            assert await rig.bus.call(A, read_twice, i2c) == (b"\x03\x04", b"\x03\x04")
        rig.check()


async def test_results_are_those_of_the_ports():
    for rig in rigs():
        machine, busio = looks(rig)
        assert machine.writeto(A, b"\x03\xaa") == 2
        assert machine.writevto(A, [b"\x04", b"\xbb"]) == 2
        assert machine.readfrom_mem(A, 3, 2) == b"\xaa\xbb"
        assert machine.writeto_mem(A, 3, b"\x01\x02") is None
        buf = bytearray(2)
        assert machine.readfrom_mem_into(A, 3, buf) is None and buf == b"\x01\x02"
        assert machine.readfrom_into(A, buf) is None and buf == b"\x05\x06"
        assert machine.readfrom(A, 1) == b"\x07"
        assert sorted(machine.scan()) == sorted(busio.scan()) == [A, B, EXPANDER, THERMOMETER, 0x50]
        assert busio.writeto(A, b"xx\x03\x0a", start=2) is None
        assert busio.writeto_then_readfrom(A, b"\x03yy", buf, out_end=1, in_start=1) is None
        assert buf == b"\x05\x0a"
        assert busio.probe(A) and not busio.probe(NOBODY)
        assert busio.deinit() is None and machine.deinit() is None
        assert busio.probe(A)
        for primitive in (machine.start, machine.stop):
            assert isinstance(raised(OSError, primitive), OSError)
        rig.check()


async def test_errors_are_those_of_the_port():
    for rig in rigs():
        direct = raised(OSError, rig.made[0].writeto, NOBODY, b"\x00") if rig.port in MACHINE else None
        for i2c in looks(rig):
            error = raised(OSError, i2c.writeto, NOBODY, b"\x00")
            if direct is not None:
                assert error.args[0] == direct.args[0], rig.port
            error = raised(OSError, i2c.readfrom_into, NOBODY, bytearray(1))
        assert rig.bus.stats()["nacks"] == 4
        rig.check()


async def test_someone_elses_address_is_refused_and_the_message_names_the_holder():
    for rig in rigs():
        holder = asyncio.create_task(use_key(rig.bus.device(A), 50))
        await sleep(5)
        for i2c in looks(rig):
            for call, args in ((i2c.writeto, (A, b"\x00")), (i2c.readfrom_into, (A, bytearray(1)))):
                text = refusal(call, *args)
                assert "use_key" in text and "i2c/0x10" in text and "bus.call" in text
            assert "use_key" in refusal(i2c.scan)
            assert read_b(i2c) == b"\xfe"  # another address is free
        await holder
        assert read_twice(looks(rig)[0])[0] == b"\x03\x04"
        rig.check()


def read_b(i2c):
    buf = bytearray(1)
    i2c.writeto(B, b"\x01")
    i2c.readfrom_into(B, buf)
    return bytes(buf)


async def test_someone_elses_wire_is_refused():
    for rig in rigs():
        await rig.bus.read_register(A, 0, 1)
        holder = asyncio.create_task(use_wire(rig.bus.device(A), 50))
        await sleep(5)
        for i2c in looks(rig):
            assert "use_wire" in refusal(i2c.writeto, B, b"\x00")
        assert "use_wire" in refusal(i2c.try_lock)
        await holder
        rig.check()


async def test_the_whole_bus_and_who_waits_for_it():
    for rig in rigs():

        async def use_all():
            async with rig.bus.hold_all():
                for i2c in looks(rig):
                    assert read_twice(i2c)[1] == b"\x03\x04"
                    assert len(i2c.scan()) == 5
                await sleep(20)

        first = asyncio.create_task(use_key(rig.bus.device(A), 10))
        await sleep(2)
        second = asyncio.create_task(use_all())
        await sleep(2)
        for i2c in looks(rig):  # B is free, but those who wait for all were first
            assert "0x11" in refusal(i2c.writeto, B, b"\x00")
        await first
        await sleep(2)
        for i2c in looks(rig):
            assert "use_all" in refusal(i2c.writeto, B, b"\x00")
        assert "use_all" in refusal(i2c.try_lock)
        await second
        rig.check()


async def test_a_hand_over_is_nobodys_gap():
    """The key is free of its holder, but the next in line has it already."""
    rig = Rig()
    i2c = rig.bus.as_machine()
    first = asyncio.create_task(use_key(rig.bus.device(A), 10))
    await sleep(2)
    second = asyncio.create_task(use_key(rig.bus.device(A), 10))
    await first
    assert "use_key" in refusal(i2c.writeto, A, b"\x00")
    await second
    rig.check()


async def test_inside_a_hold_with_the_wire_free_and_with_the_wire():
    for rig in rigs():
        for wire in (False, True):
            async with rig.bus.hold(A, wire=wire):
                for i2c in looks(rig):
                    assert read_twice(i2c) == (b"\x03\x04", b"\x03\x04")
                    await sleep(1)
        rig.check()


async def test_try_lock_is_counted_and_unlock_refuses_alike_everywhere():
    """B7 and B3: double unlock is one error on every port, also where busio keeps silent; a nested lock is no freeze."""
    for rig in rigs():
        for i2c in (rig.bus.as_busio(),):
            raised(NotHeld, i2c.unlock)
            assert i2c.try_lock() is True
            assert i2c.try_lock() is True  # a driver made between lock and unlock
            assert i2c.unlock() is None
            assert rig.bus._wire.locked()
            i2c.writeto(A, b"\x00")
            i2c.unlock()
            raised(NotHeld, i2c.unlock)

            def twice(i2c):
                raised(NotHeld, i2c.unlock)
                assert i2c.try_lock()
                i2c.unlock()
                raised(NotHeld, i2c.unlock)
                i2c.writeto(A, b"\x00")  # the wire is bus.call()'s, whatever is unlocked

            await rig.bus.call(A, twice, i2c)
            for wire in (False, True):
                async with rig.bus.hold(A, wire=wire):
                    twice(i2c)
        rig.check()


async def test_a_lock_kept_over_an_await_is_refused_to_others_at_once():
    """B3, B1: nobody spins; the message names the task that has it."""
    for rig in rigs():
        await rig.bus.read_register(A, 0, 1)
        for i2c in (rig.bus.as_busio(),):

            async def keep():
                i2c.try_lock()
                await sleep(20)
                i2c.unlock()

            task = asyncio.create_task(keep())
            await sleep(2)
            assert "keep" in refusal(i2c.try_lock)
            raised(NotHeld, i2c.unlock)
            assert await rig.bus.call(A, read_b, i2c) == b"\xfe"  # waits for it, as a task can
            await task
        rig.check()


async def test_a_lock_that_is_never_given_back_ends_with_its_hold():
    """A driver raises between try_lock() and unlock()."""
    for rig in rigs():
        for i2c in (rig.bus.as_busio(),):

            def broken(i2c):
                i2c.try_lock()
                raise ValueError("halfway")

            assert isinstance(await outcome(rig.bus.call(A, broken, i2c)), ValueError)
            assert not rig.bus._wire.locked()
            for wire in (False, True):
                try:
                    async with rig.bus.hold(A, wire=wire):
                        broken(i2c)
                except ValueError:
                    pass
                assert not rig.bus._wire.locked()
            assert await rig.bus.read_register(B, 1, 1) == b"\xfe"
        rig.check()


async def test_calls_inside_of_a_hold_count_their_own_locks():
    for rig in rigs():
        i2c = rig.bus.as_busio()

        def balanced():
            i2c.try_lock()
            i2c.unlock()

        for wire in (False, True):
            async with rig.bus.hold(A, wire=wire):
                i2c.try_lock()
                await rig.bus.call(A, balanced)
                await rig.bus.call(A, i2c.try_lock)  # and forgets it
                i2c.unlock()
                raised(NotHeld, i2c.unlock)
                await rig.bus.call(A, i2c.try_lock)
                raised(NotHeld, i2c.unlock)
        rig.check()


async def test_a_lock_whose_task_has_ended_can_be_ended_by_anyone():
    """B5."""
    rig = Rig("circuitpython")
    i2c = rig.bus.as_busio()

    async def forgetful():
        i2c.try_lock()

    await asyncio.create_task(forgetful())
    assert "forgetful" in refusal(i2c.try_lock)
    i2c.unlock()
    assert i2c.try_lock()
    i2c.unlock()
    rig.check()


async def test_native_lock_is_kept_for_each_transfer_only_and_always():
    """B8: "Function requires lock" cannot happen; who has it outside is not waited for."""
    for port in BUSIO:
        rig = Rig(port)
        for i2c in looks(rig):
            i2c.writeto(A, b"\x00")
            assert rig.made[0].try_lock()  # free after the transfer; now code outside has it
            text = refusal(i2c.writeto, A, b"\x00")
            assert "native lock" in text and "i2c/0x10" in text
            refusal(i2c.scan)
            rig.made[0].unlock()
            i2c.writeto(A, b"\x00")
        rig.check()


async def test_write_without_stop_keeps_the_wire_for_its_holder():
    for port in MACHINE:
        rig = Rig(port)
        i2c = rig.bus.as_machine()
        async with rig.bus.hold(A):
            assert i2c.writeto(A, b"\x03", False) == 1
            other = asyncio.create_task(rig.bus.read_register(B, 1, 1))
            await sleep(5)
            assert rig.bus._wire.waiters == 1
            assert i2c.readfrom(A, 1) == b"\x03"
            assert await other == b"\xfe"
            assert await rig.bus.read_register(A, 5, 1) == b"\x05"
        steps = [step for step in rig.steps() if step[0] in ("START", "RESTART", "STOP")]
        kept = steps[:3] == [("START", A), ("RESTART", A), ("STOP", A)]
        assert kept or port == "esp32", steps  # whose driver ignores the flag
        rig.check()


async def test_write_without_stop_gets_its_stop():
    """In the middle of a call, or of a hold, the driver raises, or simply ends."""
    for port in MACHINE:
        rig = Rig(port)
        i2c = rig.bus.as_machine()

        def half(error):
            i2c.writeto(A, b"\x03", False)
            if error is not None:
                raise error

        for error in (None, ValueError("halfway"), OSError(5, "its own")):
            await outcome(rig.bus.call(A, half, error))
            assert rig.wire.idle()
            assert await rig.bus.read_register(B, 1, 1) == b"\xfe"
            for wire in (False, True):
                try:
                    async with rig.bus.hold(A, wire=wire):
                        half(error)
                        assert rig.bus._wire.locked()
                except (ValueError, OSError):
                    pass
                assert rig.wire.idle()
                assert await rig.bus.read_register(B, 1, 1) == b"\xfe"
            lock = rig.bus.as_busio()
            lock.try_lock()
            await outcome(raising(half, error))
            lock.unlock()
            assert rig.wire.idle()
            await outcome(raising(half, error))  # nobody keeps the wire, so there is a STOP
            assert rig.wire.idle() and not rig.bus._wire.locked()
        async with rig.bus.hold(A):

            def call_inside():
                half(None)
                return i2c.readfrom(A, 1), i2c.readfrom_mem(A, 7, 1)

            assert await rig.bus.call(A, call_inside) == (b"\x03", b"\x07")
        rig.check()


async def raising(function, *args):
    return function(*args)


async def test_write_without_stop_has_one_on_busio():
    for port in BUSIO:
        rig = Rig(port)
        i2c = rig.bus.as_machine()
        async with rig.bus.hold(A):
            assert i2c.writeto(A, b"\x03", False) == 1
            assert rig.wire.idle() and not rig.bus._wire.locked()
            assert i2c.readfrom(A, 1) == b"\x03"
        rig.check()


async def test_a_cancelled_holder_leaves_no_open_write():
    rig = Rig()
    i2c = rig.bus.as_machine()

    async def half():
        async with rig.bus.hold(A):
            i2c.writeto(A, b"\x03", False)
            await sleep(1000)

    task = asyncio.create_task(half())
    await sleep(5)
    await cancel(task)
    assert rig.wire.idle()
    assert await rig.bus.read_register(B, 1, 1) == b"\xfe"
    rig.check()


async def test_an_error_in_the_middle_leaves_the_bus_usable():
    for rig in rigs():
        for i2c in looks(rig):

            def driver():
                i2c.writeto(A, b"\x00")
                i2c.writeto(NOBODY, b"\x00")

            assert isinstance(await outcome(rig.bus.call(A, driver)), OSError)
            assert await rig.bus.call(A, read_twice, i2c) == (b"\x03\x04", b"\x03\x04")
            rig.a.fail_nth("timeout", 1)

            def slow():
                i2c.writeto(A, b"\x00")
                i2c.writeto(A, b"\x00")

            assert isinstance(await outcome(rig.bus.call(A, slow)), OSError)
            rig.a.recover()
            assert await rig.bus.call(A, read_twice, i2c) == (b"\x03\x04", b"\x03\x04")
        rig.check()


async def test_a_driver_that_survives_its_own_errors():
    """It probes, as adafruit_bus_device does, and goes on under the same hold."""
    for rig in rigs():
        for i2c in looks(rig):

            def driver():
                raised(OSError, i2c.writeto, NOBODY, b"")
                return read_twice(i2c)

            assert await rig.bus.call(A, driver) == (b"\x03\x04", b"\x03\x04")
        rig.check()


async def test_constructors_talk_where_the_peripheral_is_made_by_a_function():
    for rig in rigs(factory="sync"):
        assert rig.made == []
        for i2c in looks(rig):
            assert read_twice(i2c)[0] == b"\x03\x04"
        assert len(rig.made) == 1
        await rig.bus.aclose()
    for rig in rigs(factory="async"):
        for i2c in looks(rig):
            assert "async function" in refusal(i2c.writeto, A, b"\x00")
        assert await rig.bus.call(A, read_twice, looks(rig)[0]) == (b"\x03\x04", b"\x03\x04")
        await rig.bus.aclose()


async def test_set_up_may_use_a_driver():
    rig = Rig()
    i2c = rig.bus.as_machine()

    async def setup(session):
        i2c.writeto_mem(A, 9, b"\x99")

    device = rig.bus.device(A, setup=setup)
    assert await device.read_register(9, 1) == b"\x99"
    rig.check()


async def test_a_holder_goes_on_while_others_wait_to_close_the_bus():
    rig = Rig(factory="sync")
    i2c = rig.bus.as_machine()
    async with rig.bus.hold(A):
        closing = asyncio.create_task(rig.bus.aclose())
        await sleep(5)
        assert read_twice(i2c)[0] == b"\x03\x04"
        try:
            i2c.writeto(B, b"\x00")
            raise AssertionError("it went through")
        except (NotCovered, BusClosed):
            pass
    await closing
    rig.check()


async def test_blocking_time_is_in_stats():
    rig = Rig()
    i2c = rig.bus.as_machine()

    def slow(ms):
        import time

        if hasattr(time, "sleep_ms"):
            time.sleep_ms(ms)
        else:
            time.sleep(ms / 1000)
        i2c.readfrom_mem(B, 0, 1)

    await rig.bus.call(A, slow, 1)
    await rig.bus.call(B, slow, 30)
    stats = rig.bus.stats()
    assert 25 <= stats["longest_call_ms"] < 1000, stats
    assert stats["longest_call_key"] == "i2c/0x11"
    rig.check()


async def test_channels_of_a_multiplexer_have_look_alikes_too():
    for rig in rigs():
        chip = rig.wire.attach(0x70, Multiplexer())
        chip.channel(0).attach(0x60, RegisterFile(b"\x01" * 16))
        chip.channel(1).attach(0x60, RegisterFile(b"\x02" * 16))
        mux = rig.bus.mux(0x70)
        channels = [mux.channel(n) for n in range(2)]
        for _ in range(2):
            for n, channel in enumerate(channels):
                for i2c in (channel.as_machine(), channel.as_busio()):
                    buf = bytearray(1)
                    i2c.readfrom_into(0x60, buf)
                    assert buf == bytes([n + 1])
                    assert i2c.scan() == [0x60]
                    await channel.call(0x60, i2c.readfrom_into, 0x60, buf)
                    assert buf == bytes([n + 1])
        holder = asyncio.create_task(use_key(channels[0].device(0x60), 20))
        await sleep(2)
        assert "i2c/0x70.0/0x60" in refusal(channels[0].as_machine().writeto, 0x60, b"\x00")
        channels[1].as_machine().writeto(0x60, b"\x00")
        await holder
        rig.check()


async def test_a_native_lock_that_an_earlier_program_left():
    """B5: said at once, not waited for; bus.reset() frees it."""
    for port in BUSIO:
        rig = Rig(port)
        rig.made[0].try_lock()
        for i2c in looks(rig):
            assert "native lock" in refusal(i2c.writeto, A, b"\x00")
        rig.bus.reset()
        for i2c in looks(rig):
            i2c.writeto(A, b"\x00")
        rig.check()


async def test_another_thread_is_refused():
    """B9: loudly, where the runtime can tell."""
    rig = Rig()
    i2c = rig.bus.as_machine()
    await rig.bus.read_register(A, 0, 1)
    error = in_thread(lambda: i2c.readfrom_mem(A, 0, 1))
    if CPYTHON:
        assert isinstance(error, RuntimeError) and "thread" in str(error)
    rig.check()


async def test_the_general_call_wants_the_whole_bus():
    rig = Rig()
    i2c = rig.bus.as_machine()
    assert "hold_all" in refusal(i2c.writeto, 0, b"\x06")
    async with rig.bus.hold_all():
        raised(OSError, i2c.writeto, 0, b"\x06")  # nobody listens to it here
    rig.check()


async def test_with_a_look_alike():
    """CircuitPython's `with` around the object: its end is not the end of the bus."""
    for rig in rigs():
        with rig.bus.as_busio() as i2c:
            buf = bytearray(1)
            i2c.readfrom_into(A, buf)
        i2c.writeto_then_readfrom(A, b"\x05", buf)
        assert buf == b"\x05"
        rig.check()


async def test_in_an_interrupt():
    """In the middle of a transfer of ours a look-alike is refused, and the transfer goes on."""
    for rig in rigs():
        found = []

        def interrupt(rig=rig, found=found):
            rig.wire.on_byte = None
            for i2c in looks(rig):
                for use in (lambda: i2c.writeto(A, b"\x00"), lambda: i2c.scan()):
                    found.append(str(raised(Reentry, use)))

        async with rig.bus.device(B).hold():
            rig.wire.on_byte = interrupt
            assert await rig.bus.device(B).read_register(1, 2) == b"\xfe\xfd"
        assert len(found) == 4 and "interrupt" in found[0]
        assert [i2c.scan() for i2c in looks(rig)] != []
        rig.check()


async def test_scan_with_the_wire():
    """Who has the wire scans, though others hold keys: bus.scan() does, too."""
    for rig in rigs():
        holder = asyncio.create_task(use_key(rig.bus.device(A), 20))
        await sleep(2)
        for i2c in looks(rig):
            assert "use_key" in refusal(i2c.scan)
            async with rig.bus.device(B).hold(wire=True):
                assert {A, B} <= set(i2c.scan())
                assert rig.bus._wire.locked()
        await holder
        rig.check()


async def test_write_without_stop_under_a_hold_of_the_wire():
    """The STOP of the next transfer frees nothing: the wire is the hold's until its end."""
    for rig in rigs(MACHINE):
        i2c = rig.bus.as_machine()
        async with rig.bus.device(A).hold(wire=True):
            i2c.writeto(A, b"\x05", False)
            assert i2c.readfrom(A, 1) == b"\x05"
            assert rig.wire.idle() and rig.bus._wire.locked()
            waiting = asyncio.create_task(rig.bus.read_register(B, 1, 1))
            await sleep(2)
            assert not waiting.done()
            assert i2c.readfrom(A, 1) == b"\x06"
        assert await waiting == b"\xfe"
        rig.check()


async def test_a_stuck_bus():
    """A look-alike cannot recover a bus, and says what can."""
    for port in ("rp2", "esp32"):
        rig = Rig(port, factory="sync", pins=True)
        i2c = rig.bus.as_machine()
        await rig.bus.read_register(B, 1, 1)
        async with rig.bus.device(A).hold() as session:
            for _ in range(2):
                rig.a.hold_sda(9)
                await raises_async(BusError, session.read_register(1, 1))
                text = "not clean after an error"
                assert text in refusal(i2c.readfrom_mem, B, 1, 1)
                assert text in str(raised(BusStuck, i2c.readfrom, A, 1))
                assert await session.read_register(1, 1) == b"\x01"  # recovered by this
                assert i2c.readfrom_mem(A, 1, 1) == b"\x01"
        assert i2c.readfrom_mem(B, 1, 1) == b"\xfe"
        assert rig.bus.stats()["recoveries"] == 2
        rig.check()


def test_in_the_next_loop():
    """A look-alike works at once in a loop that has replaced the one before, though that has a holder of the device."""
    rig = Rig()
    loops = Loops()
    i2c = rig.bus.as_machine()

    async def strand():
        await rig.bus.read_register(A, 1, 1)
        asyncio.create_task(outcome(use_key(rig.bus.device(A), 1000)))
        await turns(3)

    async def after():
        assert i2c.readfrom_mem(B, 1, 1) == b"\xfe"
        assert await rig.bus.read_register(A, 1, 1) == b"\x01"

    loops.run(strand())
    loops.new()
    loops.run(after())
    rig.check()
    loops.close()


def test_a_close_in_a_loop_that_was_replaced():
    """What was being closed there is in use for ever, to a look-alike, until an operation of the bus has looked."""
    rig = Rig(factory="sync")
    loops = Loops()
    i2c = rig.bus.as_machine()

    async def strand():
        asyncio.create_task(outcome(use_key(rig.bus.device(A), 1000)))
        await turns(3)
        asyncio.create_task(outcome(rig.bus.aclose()))
        await turns(3)

    async def after():
        assert "in use" in refusal(i2c.readfrom_mem, B, 1, 1)
        assert await rig.bus.read_register(A, 1, 1) == b"\x01"
        assert i2c.readfrom_mem(B, 1, 1) == b"\xfe"

    loops.run(strand())
    loops.new()
    loops.run(after())
    rig.check()
    loops.close()
