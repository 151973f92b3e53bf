"""Many tasks on one I2C bus: exclusion, read-modify-write, slow devices, long transfers, errors of one among many."""

import asyncio

from buslock import I2CBus, LockTimeout, NoAck
from buslock_sim import I2C, RegisterFile, Stretcher, Wire, check
from i2c_rig import EXPANDER, MEMORY, THERMOMETER, A, B, Rig, rigs, sleep
from support import clock
from support.small import few_ports
from support.turns import raises_async, turns

CLOCK = "virtual"
LEFT_OUT = {"pico": {"more memory than a Pico has: 1,000 tasks": ("test_a_thousand_operations_over_fifty_devices",)}}

SHAPES = few_ports("rp2", "esp32", "soft", "circuitpython", "blinka")
GPIO = 0x12
OUTPUTS = 0x14


async def test_a_thousand_operations_over_fifty_devices():
    """1,000 holds of 1 ms over 50 devices never overlap on one device, run side by side on the others (C9)."""
    wire = Wire(keep=0)
    for n in range(50):
        wire.attach(0x10 + n, RegisterFile())
    bus = I2CBus(I2C(wire))
    inside = {}
    most = [0]

    async def operation(n):
        device = bus.device(0x10 + n % 50)
        async with device.hold() as session:
            assert device.address not in inside
            inside[device.address] = n
            most[0] = max(most[0], len(inside))
            value = (await session.read_register(3, 1))[0]
            await sleep(1)
            await session.write_register(3, value + 1 & 0xFF)
            assert inside.pop(device.address) == n

    start = clock.now()
    await asyncio.gather(*[operation(n) for n in range(1000)])
    # One after the other they would take more than a second, and all of a device's 20 transfers count.
    assert clock.now() - start < 300
    assert most[0] == 50
    assert [wire.chips[0x10 + n][3] for n in range(50)] == [20] * 50
    check()
    assert len(bus._table) == 0
    assert wire.idle()
    assert bus.stats()["peak_entries"] == 50


async def test_transfers_of_a_millisecond_on_one_wire():
    """Transfers are serialised by the wire whatever their address, and each task's order is kept (C9)."""
    for rig in rigs(SHAPES):
        rig.a.stretch_us = rig.b.stretch_us = 300
        bus = rig.bus
        log = []

        async def user(name, address):
            for i in range(10):
                await bus.read_register(address, i, 2)
                log.append((name, i))
                await turns()

        await asyncio.gather(user("a", A), user("b", B), user("c", A), user("d", B))
        for name in "abcd":
            assert [entry for entry in log if entry[0] == name] == [(name, i) for i in range(10)]
        rig.check()


async def test_two_tasks_set_bits_of_one_expander():
    """Read-modify-write by update_register loses no bit, whoever comes between (C8)."""
    for rig in rigs(SHAPES):
        device = rig.bus.device(EXPANDER)
        await device.write_register(0x00, b"\x00\x00")
        await device.write_register(OUTPUTS, 0)

        async def blink(bit):
            for i in range(20):
                await device.update_register(OUTPUTS, 1 << bit, (i & 1) << bit)
                if i % 4 == bit % 4:
                    await turns()
            await device.update_register(OUTPUTS, 1 << bit, 1 << bit)

        await asyncio.gather(*[blink(bit) for bit in range(8)])
        assert rig.expander[OUTPUTS] == 0xFF
        assert rig.expander.outputs[0] & 0xFF == 0xFF
        rig.check()


async def test_two_tasks_set_bits_by_sessions():
    """The same by hand: in a hold nobody comes between the read and the write, although the wire is free there (C8)."""
    for rig in rigs(SHAPES):
        device = rig.bus.device(EXPANDER)
        await device.write_register(0x00, 0)
        others = [0]

        async def set_bit(bit):
            async with device.hold() as session:
                value = (await session.read_register(OUTPUTS, 1))[0]
                await turns(3)
                await session.write_register(OUTPUTS, value | 1 << bit)

        async def other():
            while rig.expander[OUTPUTS] != 0xFF:
                await rig.bus.read_register(A, 0, 1)
                others[0] += 1
                await turns()

        await asyncio.gather(other(), *[set_bit(bit) for bit in range(8)])
        assert others[0] > 8
        rig.check()


async def test_update_register_keeps_the_wire_over_both_transfers():
    """No other transfer of any device comes between the read and the write of update_register (C8)."""
    for rig in rigs(SHAPES):
        bus = rig.bus
        await asyncio.gather(
            *[bus.update_register(EXPANDER, OUTPUTS, 1 << bit, 0xFF) for bit in range(8)],
            *[bus.read_register(A, n, 1) for n in range(8)],
        )
        users = rig.users()
        while EXPANDER in users:
            first = users.index(EXPANDER)
            # A read is addressed twice: to write the register's address, and to read.
            assert users[first : first + 3] == [EXPANDER] * 3
            del users[first : first + 3]
        rig.check()


async def test_register_and_data_stay_together():
    """A register read is one transfer: no other task gets between its register address and its data (C8)."""
    for rig in rigs(SHAPES):
        bus = rig.bus

        async def reader(n):
            for i in range(20):
                register = (n * 37 + i) & 0xFF
                assert await bus.read_register(A, register, 1) == bytes([register])
                assert await bus.device(A).write_then_read(bytes([register]), 1) == bytes([register])
                if (i + n) % 3 == 0:
                    await turns()

        await asyncio.gather(*[reader(n) for n in range(5)])
        rig.check()


async def test_errors_hit_only_their_caller():
    """One transfer in fifty fails: the error goes to its caller alone, and all others go on (C6)."""
    for rig in rigs(SHAPES):
        bus = rig.bus
        rig.a.fail("nack", times=None, chance=0.02)
        failures = []

        async def user(n):
            for i in range(50):
                try:
                    assert await bus.read_register(A, i, 1) == bytes([i])
                except NoAck as error:
                    failures.append(error)
                assert await bus.read_register(B, i, 1) == bytes([255 - i])
                if i % 5 == n:
                    await turns()

        await asyncio.gather(*[user(n) for n in range(5)])
        assert 1 <= len(failures) <= 25
        assert bus.stats()["nacks"] == len(failures)
        rig.a.recover()
        rig.check()


async def test_retries_hide_rare_errors():
    """With retries the same bus loses nothing (C6)."""
    for rig in rigs(SHAPES):
        device = rig.bus.device(A, retries=5)
        rig.a.fail("nack", times=None, chance=0.02)

        async def user(n):
            for i in range(50):
                assert await device.read_register(i, 1) == bytes([i])
                if i % 5 == n:
                    await turns()

        await asyncio.gather(*[user(n) for n in range(5)])
        assert rig.bus.stats()["retries"] > 0
        rig.a.recover()
        rig.check()


async def test_a_conversion_leaves_the_bus_to_others():
    """While a device is held over its conversion the wire is free: the others go on as if it was not there (I1, I2)."""
    for rig in rigs(SHAPES):
        bus = rig.bus
        thermometer = bus.device(THERMOMETER)
        reads = []

        async def measure():
            async with thermometer.hold() as session:
                rig.thermometer.celsius = 30.0
                await session.write_register(1, b"\x0c\x00")
                await sleep(21)  # in whole ticks: 20 may end a little before the conversion
                return await session.read_register(0, 2)

        async def reader(address):
            while not task.done():
                start = clock.now()
                await bus.read_register(address, 0, 1)
                reads.append(clock.now() - start)
                await sleep(1)

        async def late():
            # A second user of the thermometer gets in after the conversion, not into it.
            start = clock.now()
            value = await thermometer.read_register(0, 2)
            assert clock.now() - start >= 15
            return value

        task = asyncio.create_task(measure())
        await turns()
        results = await asyncio.gather(late(), reader(A), reader(B))
        assert await task == results[0] == bytes([30 * 128 >> 8, 30 * 128 & 0xFF])
        assert rig.thermometer.conversions == 1
        assert len(reads) >= 20
        assert max(reads) <= 2
        rig.check()


async def test_wait_register_leaves_the_bus_to_others():
    """The same with wait_register, which polls the chip's ready bit instead of sleeping (I1)."""
    for rig in rigs(SHAPES):
        bus = rig.bus
        reads = [0]

        async def measure():
            async with bus.device(A).hold() as session:
                await session.write_register(0x40, 0)
                await session.wait_register(0x40, 0x80, 0x80, every_ms=2)

        async def reader():
            for _ in range(20):
                await bus.read_register(B, 0, 1)
                reads[0] += 1
                await sleep(1)
            rig.a[0x40] = 0x80

        await asyncio.gather(measure(), reader())
        assert reads[0] == 20
        rig.check()


async def test_a_long_write_in_pieces_starves_nobody():
    """A display's frame in pieces, 30 ms in all: a task that reads every 10 ms is a few pieces late at most (I4)."""
    for rig in rigs(("rp2", "soft", "circuitpython")):
        display = rig.wire.attach(0x3D, RegisterFile(size=2048, addrsize=16))
        piece_ms = 2
        bus = rig.bus
        late = []

        async def reader():
            for _ in range(10):
                due = clock.now() + 10
                await sleep(10)
                start = clock.now()
                await bus.read_register(A, 0, 2, timeout_ms=10)
                late.append(max(clock.now() - due, clock.now() - start))

        async def frame(device):
            for _ in range(4):
                await device.write_register(0, bytes(1024))

        async def measure(device):
            late.clear()
            await asyncio.gather(reader(), frame(device))
            return max(late)

        piece = piece_ms * (400 if not rig.busio else 100) // 9  # bytes that take so long at the bus's speed
        # The one that runs, and then one in each turn: CPython needs two turns to wake a sleeper.
        assert await measure(bus.device(0x3D, addrsize=16, chunk=piece)) <= 4 * piece_ms
        # Without pieces the same frame is one transfer, and everybody waits for its end.
        whole = I2CBus(rig.made[0])
        bus = whole
        assert await measure(whole.device(0x3D, addrsize=16)) >= 20
        assert display[5] == 0
        rig.check()


async def test_pieces_are_one_operation_for_the_device():
    """Between the pieces other devices get the wire, and nobody gets the device (I4)."""
    for rig in rigs(SHAPES):
        device = rig.bus.device(A, chunk=16)
        log = []

        async def write(value):
            await device.write_register(0, bytes([value]) * 128)
            log.append(bytes(rig.a[n] for n in range(128)) == bytes([value]) * 128)

        async def others():
            while len(log) < 3:
                await rig.bus.read_register(B, 0, 1)
                await turns()

        await asyncio.gather(write(1), write(2), write(3), others())
        assert log == [True] * 3
        users = rig.users()
        between = [n for n in range(1, len(users) - 1) if users[n - 1 : n + 2] == [A, B, B] or users[n] == B]
        assert len(between) > 20
        rig.check()


async def test_a_slow_chip_blocks_no_longer_than_its_transfer():
    """A chip that stretches the clock makes its own transfers slow; in between the others get their turn."""
    for rig in rigs(("rp2", "soft", "circuitpython")):
        rig.wire.attach(0x3D, Stretcher(ms=2))
        bus = rig.bus
        waits = []

        async def slow():
            for _ in range(5):
                await bus.read_register(0x3D, 0, 1)
                await turns()

        async def reader():
            for _ in range(20):
                start = clock.now()
                await bus.read_register(A, 0, 1)
                waits.append(clock.now() - start)
                await turns()

        await asyncio.gather(slow(), reader())
        assert max(waits) <= 12
        rig.check()


async def test_scan_while_others_transfer():
    """A scan has the wire for all of it; transfers of others come before or after, and go on as fast as before (C4)."""
    for rig in rigs(SHAPES):
        bus = rig.bus
        expected = [A, B, EXPANDER, THERMOMETER, MEMORY]
        stop = []

        async def user(address, value):
            while not stop:
                assert await bus.read_register(address, 7, 1) == value
                await turns()

        async def scanner():
            for _ in range(3):
                assert await bus.scan() == expected
                await turns(3)
            stop.append(1)

        await asyncio.gather(user(A, b"\x07"), user(B, b"\xf8"), scanner())
        rig.check()


async def test_a_scan_does_not_wait_for_holders_of_keys():
    """A scan needs the wire and no key: it works while devices are held over long waits (C4)."""
    for rig in rigs(SHAPES):
        bus = rig.bus
        async with bus.device(A).hold():
            found = await asyncio.create_task(bus.scan(timeout_ms=0))
            assert A in found
            # The holder of a key may scan as well.
            assert await bus.scan() == found
        async with bus.hold_all():
            assert await bus.scan() == found
        rig.check()


async def test_a_scan_of_a_stuck_bus():
    """A scan on a bus whose clock is held raises or finds nothing, and leaves nothing held (C4)."""
    for rig in rigs(("rp2", "esp32", "circuitpython")):
        rig.a.hold_scl()
        try:
            assert await rig.bus.scan() == []
        except OSError:
            pass
        rig.a.power_on()
        assert A in await rig.bus.scan()
        rig.check()


async def test_first_come_first_served_on_the_wire():
    """Tasks that wait for the wire with different devices get it in the order in which they asked (promise 2)."""
    for rig in rigs(SHAPES):
        bus = rig.bus
        log = []

        async def user(n, address):
            await bus.read_register(address, 0, 1)
            log.append(n)

        async with bus.device(MEMORY).hold(wire=True):
            tasks = []
            for n in range(12):
                tasks.append(asyncio.create_task(user(n, (A, B, EXPANDER, THERMOMETER)[n % 4])))
                await turns()
        await asyncio.gather(*tasks)
        # Two tasks of one device stand in line for it first, and then at the end of the wire's line.
        for address in range(4):
            mine = [n for n in log if n % 4 == address]
            assert mine == sorted(mine)
        assert log[:4] == [0, 1, 2, 3]
        rig.check()


async def test_a_greedy_task_does_not_starve_another():
    """A task that uses a device again and again without a pause lets another in after at most one operation (A7)."""
    for rig in rigs(SHAPES):
        device = rig.bus.device(A)
        log = []

        async def greedy():
            for _ in range(20):
                async with device.hold() as session:
                    await session.read_register(0, 1)
                    await turns()
                    log.append("greedy")

        async def once():
            await turns(2)
            await device.read_register(0, 1)
            log.append("once")

        await asyncio.gather(greedy(), once())
        assert log.index("once") <= 3
        rig.check()


async def test_every_operation_cancelled_and_timed_out_at_random():
    """800 mixed operations with random deadlines and cancels leave nothing held, and no mistake on the wire."""
    seed = [12345]

    def random(n):
        seed[0] = (seed[0] * 75 + 74) % 65537
        return seed[0] % n

    for rig in rigs(("rp2", "circuitpython")):
        bus = rig.bus
        outcomes = {}

        async def operation():
            kind = random(16) % 6 if random(4) else 0
            ms = random(8) or None
            address = (A, B, EXPANDER)[random(3)]
            if kind == 0:
                await bus.read_register(address, 0, 1, timeout_ms=ms)
            elif kind == 1:
                async with bus.device(address).hold(timeout_ms=ms, wire=random(2) == 0) as session:
                    await session.read_register(0, 1)
                    await sleep(random(3))
            elif kind == 2:
                async with bus.hold(A, address, timeout_ms=ms) as regs:
                    await regs.read_register(A, 0, 1)
                    await turns(random(3))
            elif kind == 3:
                async with bus.hold_all(timeout_ms=ms):
                    await turns(random(3))
            elif kind == 4:
                await bus.device(address).probe(timeout_ms=ms)
            else:
                await bus.scan(timeout_ms=ms)

        async def one():
            try:
                await operation()
                outcome = "done"
            except LockTimeout:
                outcome = "timeout"
            except asyncio.CancelledError:
                outcomes["cancelled"] = outcomes.get("cancelled", 0) + 1
                raise
            outcomes[outcome] = outcomes.get(outcome, 0) + 1

        tasks = []
        for _ in range(400):
            if len(tasks) > 40:  # whoever has ended keeps its frame and its exception, and a Pico has no room for 400
                tasks = [task for task in tasks[:-4] if not task.done()] + tasks[-4:]
            tasks.append(asyncio.create_task(one()))
            if random(4) == 0:
                tasks[-1 - random(min(4, len(tasks)))].cancel()
            if random(3) == 0:
                await sleep(random(2))
        await asyncio.gather(*tasks, return_exceptions=True)
        for outcome in ("done", "timeout", "cancelled"):
            assert outcomes[outcome] > 10, outcomes
        rig.check()
        assert await bus.read_register(A, 1, 1) == b"\x01"


async def test_a_timed_out_user_does_not_disturb():
    """A LockTimeout in the middle of the line moves nobody else's place."""
    for rig in rigs(SHAPES):
        device = rig.bus.device(A)
        log = []

        async def user(n, ms):
            await device.read_register(0, 1, timeout_ms=ms)
            log.append(n)

        async with device.hold():
            tasks = [asyncio.create_task(user(0, None))]
            await turns()
            out = asyncio.create_task(raises_async(LockTimeout, user(1, 2)))
            await turns()
            tasks.append(asyncio.create_task(user(2, None)))
            await sleep(4)
        await asyncio.gather(out, *tasks)
        assert log == [0, 2]
        rig.check()


def test_rigs_are_fresh():
    """Each rig has chips of its own, as after power-on."""
    first = Rig()
    first.a[0] = 9
    assert Rig().a[0] == 0
