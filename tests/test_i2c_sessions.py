"""Holding I2C devices: sessions, the wire, several devices, the whole bus, several buses, and calls of drivers."""

import asyncio

from buslock import LockTimeout, NotCovered, NotHeld, Reentry, WouldDeadlock, hold
from i2c_rig import EXPANDER, MEMORY, NOBODY, A, B, Rig, cancel, rigs, sleep, use_key, use_wire
from support import clock
from support.small import few_ports
from support.turns import raises, raises_async, turns

CLOCK = "virtual"

SHAPES = few_ports("rp2", "soft", "circuitpython")


def session_operations(session):
    return (
        session.read_register(1, 1),
        session.read_register_into(1, bytearray(1)),
        session.write_register(0x80, 1),
        session.update_register(0x80, 1, 1),
        session.wait_register(0, 0, 0),
        session.read(1),
        session.readinto(bytearray(1)),
        session.write(0x01),
        session.write_then_read(b"\x01", 1),
        session.probe(),
    )


async def test_a_session_works_from_any_task():
    """While the hold is in force its session may be used by other tasks, which need no key of their own."""
    for rig in rigs(SHAPES):
        async with rig.bus.device(A).hold() as session:

            async def child(n):
                for i in range(5):
                    assert await session.read_register(n, 1) == bytes([n])
                    await turns(i % 3)

            await asyncio.gather(child(1), child(2), child(3))
            results = await asyncio.gather(*session_operations(session))
            assert results[0] == b"\x01"
        rig.check()


async def test_a_session_with_the_wire_works_from_any_task():
    """The same with wire=True: the wire is the hold's, whichever task uses the session."""
    for rig in rigs(SHAPES):
        async with rig.bus.device(A).hold(wire=True) as session:
            tasks = [asyncio.create_task(operation) for operation in session_operations(session)]
            await asyncio.gather(*tasks)
        rig.check()


async def test_a_session_is_dead_after_its_block():
    """Every operation of a session whose hold has ended raises NotHeld, with the device's name; nothing is sent."""
    for rig in rigs(SHAPES):
        for wire in (False, True):
            async with rig.bus.device(A).hold(wire=wire) as session:
                await session.read_register(0, 1)
            messages = rig.wire.messages
            for operation in session_operations(session) + (session.write(b"\x01", stop=False),):
                assert "i2c/0x10" in str(await raises_async(NotHeld, operation))
            # Also when another hold of that device is in force.
            async with rig.bus.device(A).hold():
                for operation in session_operations(session):
                    await raises_async(NotHeld, operation)
            assert rig.wire.messages == messages
            rig.check()


async def test_the_operations_of_several_devices_are_dead_after_their_block():
    """What bus.hold(...), hold_all() and hold(...) over buses give is dead after the block as well."""
    for rig in rigs(SHAPES):
        a, b = rig.bus.device(A), rig.bus.device(B)
        for make in (
            lambda: rig.bus.hold(A, B),
            lambda: rig.bus.hold(A, B, wire=True),
            rig.bus.hold_all,
            lambda: hold(a, b),
        ):
            async with make() as regs:
                await regs.read_register(a, 0, 1)
            messages = rig.wire.messages
            for device in (a, b):

                async def use():
                    await regs.read_register(device, 0, 1)

                await raises_async((NotHeld, NotCovered), use())

                async def write():
                    await regs.write(device, b"\x01")

                await raises_async((NotHeld, NotCovered), write())
            assert rig.wire.messages == messages
            rig.check()


async def test_a_session_is_dead_after_an_early_release():
    """hold.release() ends it before its block does; leaving the block is silent then, a second release NotHeld."""
    for rig in rigs(SHAPES):
        device = rig.bus.device(A)
        for wire in (False, True):
            held = device.hold(wire=wire)
            assert not held.held
            async with held as session:
                assert held.held
                assert held.keys == (A,)
                held.release()
                assert not held.held
                await raises_async(NotHeld, session.read_register(0, 1))
                raises(NotHeld, held.release)
                async with device.hold(wire=True) as other:
                    assert await other.read_register(1, 1) == b"\x01"
            raises(NotHeld, held.release)
            rig.check()


async def test_a_hold_is_for_one_block():
    """A hold entered a second time is refused, inside its block and after it."""
    for rig in rigs(SHAPES):
        for make in (
            lambda: rig.bus.device(A).hold(),
            lambda: rig.bus.hold(A, B),
            lambda: rig.bus.hold_all(),
            lambda: hold(rig.bus.device(A), rig.bus.device(B)),
        ):
            held = make()
            async with held:
                await raises_async(Reentry, enter(held))
            await raises_async(NotHeld, enter(held))
            rig.check()


async def enter(held):
    async with held as it:
        return it


async def test_an_exception_ends_the_hold():
    """Whatever ends the block, the key and the wire are free after it."""
    for rig in rigs(SHAPES):
        device = rig.bus.device(A)
        for make in (device.hold, lambda: device.hold(wire=True), lambda: rig.bus.hold(A, B), rig.bus.hold_all):

            async def user():
                async with make():
                    raise KeyError("mine")

            await raises_async(KeyError, user())
            rig.check()

            async def sleeper():
                async with make():
                    await sleep(40)

            task = asyncio.create_task(sleeper())
            await turns(3)
            await cancel(task)
            rig.check()
            assert await rig.bus.read_register(B, 0, 1) == b"\xff"


async def test_operations_under_the_own_hold():
    """A plain operation, a short form and a call run under the hold that their task has already."""
    for rig in rigs(SHAPES):
        bus = rig.bus
        device = bus.device(A)
        for make in (device.hold, lambda: device.hold(wire=True), lambda: bus.hold(B, A), bus.hold_all):
            async with make():
                # Others wait for the key meanwhile, and do not come first.
                other = asyncio.create_task(device.read_register(9, 1))
                await turns()
                assert await device.read_register(1, 1, timeout_ms=0) == b"\x01"
                assert await bus.read_register(A, 2, 1, timeout_ms=0) == b"\x02"
                await bus.write_register(A, 0x80, 5, timeout_ms=0)
                assert await device.update_register(0x80, 0xF0, 0x30, timeout_ms=0) == 0x35
                assert await device.wait_register(0x80, 0xFF, 0x35, timeout_ms=0) == 0x35
                assert await device.probe(timeout_ms=0) is True
                assert await bus.call(A, lambda: 7, timeout_ms=0) == 7
                assert not other.done()
            assert await other == b"\x09"
            rig.check()


async def test_a_hold_under_the_own_hold_is_refused():
    """A second hold of what the task holds is Reentry, in every combination, and the first stays in force."""
    for rig in rigs(SHAPES):
        bus = rig.bus
        device = bus.device(A)
        holds = (
            device.hold,
            lambda: device.hold(wire=True),
            lambda: bus.hold(A),
            lambda: bus.hold(B, A),
            lambda: hold(bus.device(B), device),
            bus.hold_all,
        )
        for outer in holds:
            async with outer():
                for inner in holds:
                    error = await raises_async(Reentry, enter(inner()))
                    assert "i2c" in str(error)
                assert await device.read_register(1, 1) == b"\x01"
            rig.check()


async def test_who_holds_the_wire_can_ask_for_nothing_else():
    """While a task holds the wire, everything that would take another key or the wire again is Reentry, at once."""
    for rig in rigs(SHAPES):
        bus = rig.bus
        device, other = bus.device(A), bus.device(B)
        # A key that somebody else holds is refused at once as well, and not waited for.
        task = asyncio.create_task(use_key(other, 40))
        await turns()
        async with device.hold(wire=True) as session:
            start = clock.now()
            for make in (
                lambda: other.read_register(0, 1),
                lambda: other.write_register(0, 1),
                lambda: other.read(1),
                lambda: other.probe(),
                lambda: other.wait_register(0, 0, 0),
                lambda: bus.read_register(B, 0, 1),
                lambda: bus.read_register(NOBODY, 0, 1),
                lambda: bus.call(B, print),
                lambda: bus.scan(),
                lambda: enter(other.hold()),
                lambda: enter(other.hold(wire=True)),
                lambda: enter(bus.hold(B)),
                lambda: enter(bus.hold(B, EXPANDER)),
                lambda: enter(bus.hold_all()),
                lambda: enter(hold(other)),
                lambda: bus.aclose(),
            ):
                error = await raises_async(Reentry, make())
                assert "i2c" in str(error)
            assert clock.now() - start < 5
            assert await session.read_register(1, 1) == b"\x01"
            assert await device.read_register(1, 1) == b"\x01"
        assert not task.done()
        await task
        # Nor can it use a session of another device that it holds.
        async with other.hold() as its, device.hold(wire=True):
            await raises_async(Reentry, its.read_register(0, 1))
            await raises_async(Reentry, its.write(1))
        rig.check()


async def test_nobody_else_gets_the_wire():
    """A hold with wire=True keeps all others off the bus, whatever they do; they go on when it ends."""
    for rig in rigs(SHAPES):
        bus = rig.bus
        log = []

        async def holder():
            async with bus.device(A).hold(wire=True) as session:
                for _ in range(5):
                    await session.read_register(0, 1)
                    await sleep(2)
                log.append("holder")

        async def other(n, operation):
            await operation
            log.append(n)

        tasks = [asyncio.create_task(holder())]
        await turns()
        for n, operation in enumerate(
            (
                bus.device(B).read_register(0, 1),
                bus.read_register(EXPANDER, 0, 1),
                bus.device(MEMORY).probe(),
                bus.call(0x48, lambda: None),
                bus.scan(),
                bus.recover(),
            )
        ):
            tasks.append(asyncio.create_task(other(n, operation)))
        await asyncio.gather(*tasks)
        assert log[0] == "holder"
        assert sorted(log[1:]) == list(range(6))
        rig.check()


async def test_the_wire_is_waited_for_with_the_timeout():
    """timeout_ms covers the wait for the wire too; LockTimeout names the bus and who has it."""
    for rig in rigs(SHAPES):
        bus = rig.bus

        async def display():
            async with bus.device(A).hold(wire=True):
                await sleep(45)

        task = asyncio.create_task(display())
        await turns()
        for operation in (
            bus.device(B).read_register(0, 1, timeout_ms=5),
            bus.read_register(B, 0, 1, timeout_ms=5),
            bus.device(B).probe(timeout_ms=5),
            bus.call(B, print, timeout_ms=5),
            bus.scan(timeout_ms=5),
            enter(bus.device(B).hold(wire=True, timeout_ms=5)),
            enter(bus.hold(B, EXPANDER, wire=True, timeout_ms=5)),
        ):
            start = clock.now()
            error = await raises_async(LockTimeout, operation)
            assert clock.now() - start == 5
            assert "i2c" in str(error) and "display" in str(error), error
            assert len(bus._table) == 1
        await task
        rig.check()


async def test_keys_and_wire_share_one_timeout():
    """The time spent waiting for the key is not granted again for the wire."""
    for rig in rigs(SHAPES):
        bus = rig.bus
        tasks = asyncio.create_task(use_wire(bus.device(A), 45)), asyncio.create_task(use_key(bus.device(B), 6))
        await turns(2)
        start = clock.now()
        await raises_async(LockTimeout, bus.read_register(B, 0, 1, timeout_ms=10))
        assert clock.now() - start == 10
        start = clock.now()
        await raises_async(LockTimeout, enter(bus.device(EXPANDER).hold(wire=True, timeout_ms=10)))
        assert clock.now() - start == 10
        tasks += (asyncio.create_task(use_key(bus.device(B), 6)),)
        await turns(2)
        start = clock.now()
        await raises_async(LockTimeout, enter(bus.device(B).hold(wire=True, timeout_ms=10)))
        assert clock.now() - start == 10
        await asyncio.gather(*tasks)
        rig.check()


async def test_a_child_that_needs_its_parents_key():
    """A task whose parent holds the key waits for it; its LockTimeout names the parent and says: pass the session."""
    for rig in rigs(SHAPES):
        device = rig.bus.device(A)

        async def parent():
            async with device.hold():
                await asyncio.create_task(device.read_register(0, 1, timeout_ms=5))

        text = str(await raises_async(LockTimeout, asyncio.create_task(parent())))
        for part in ("i2c/0x10", "parent", "pass the session"):
            assert part in text, text
        rig.check()


async def test_two_devices_taken_crosswise():
    """Two tasks that each hold one device and want the other's: one is told, and names the cycle; the other goes on."""
    for rig in rigs(SHAPES):
        bus = rig.bus
        results = []

        async def user(mine, other):
            async with bus.device(mine).hold():
                await turns(2)
                try:
                    results.append(await bus.read_register(other, 1, 1))
                except WouldDeadlock as error:
                    results.append(error)

        await asyncio.gather(user(A, B), user(B, A))
        assert len(results) == 2
        told = [result for result in results if isinstance(result, WouldDeadlock)]
        assert len(told) == 1
        assert "i2c/0x10" in str(told[0]) and "i2c/0x11" in str(told[0])
        rig.check()


# Several devices of one bus


async def test_hold_of_several_devices():
    """bus.hold(a, b) gives the operations with the device or its address first, and nobody else gets either device."""
    for rig in rigs(SHAPES):
        bus = rig.bus
        b = bus.device(B)
        async with bus.hold(A, b) as regs:
            others = [asyncio.create_task(bus.read_register(address, 0, 1)) for address in (A, B)]
            await turns(2)
            assert await bus.read_register(EXPANDER, 0, 1) == b"\xff"
            buf = bytearray(2)
            assert await regs.read_register(A, 1, 2) == b"\x01\x02"
            assert await regs.read_register(b, 1, 2) == b"\xfe\xfd"
            assert await regs.read_register(B, 0, 1, timeout_ms=5) == b"\xff"
            await regs.read_register_into(A, 4, buf)
            assert buf == b"\x04\x05"
            await regs.write_register(A, 0x80, b"\x11\x22")
            assert await regs.update_register(A, 0x80, 0x0F, 0x05) == 0x15
            assert await regs.wait_register(A, 0x80, 0x0F, 0x05) == 0x15
            await regs.write(A, 0x20)
            assert await regs.read(A, 1) == b"\x20"
            await regs.readinto(A, buf)
            assert buf == b"\x21\x22"
            assert await regs.write_then_read(A, b"\x07", 1) == b"\x07"
            assert await regs.probe(B) is True
            assert await b.read_register(0, 1) == b"\xff"
            assert not others[0].done() and not others[1].done()
        await asyncio.gather(*others)
        rig.check()


async def test_hold_of_several_devices_with_the_wire():
    """wire=True keeps the wire over all of them."""
    for rig in rigs(SHAPES):
        bus = rig.bus
        async with bus.hold(A, B, wire=True) as regs:
            other = asyncio.create_task(bus.read_register(EXPANDER, 0, 1))
            await turns(3)
            await regs.write_register(A, 0x80, await regs.read_register(B, 0, 4))
            await sleep(2)
            assert await regs.read_register(A, 0x80, 4) == b"\xff\xfe\xfd\xfc"
            assert not other.done()
        await other
        rig.check()


async def test_what_a_hold_does_not_cover():
    """Operations on a device that the hold does not cover: NotCovered, naming both; nothing is sent."""
    for rig in rigs(SHAPES):
        bus = rig.bus
        foreign = Rig(name="other").bus.device(A)
        async with bus.hold(A, B) as regs:
            rig.steps()
            for device in (EXPANDER, bus.device(MEMORY)):
                error = raises(NotCovered, regs.read_register, device, 0, 1)
                assert "i2c/0x10" in str(error)
            raises(NotCovered, regs.read_register, foreign, 0, 1)
            assert rig.steps() == []
        async with bus.hold_all() as regs:
            raises(NotCovered, regs.read_register, foreign, 0, 1)
        rig.check()


async def test_a_device_named_twice():
    """A device named twice, by object and by address, counts once."""
    for rig in rigs(SHAPES):
        device = rig.bus.device(A)
        async with rig.bus.hold(A, device, A) as regs:
            assert len(rig.bus._table) == 1
            assert await regs.read_register(A, 1, 1) == b"\x01"
        rig.check()


async def test_several_devices_in_any_order():
    """However the devices of a hold are ordered, tasks that hold several do not wait for each other for ever."""
    for rig in rigs(SHAPES):
        bus = rig.bus
        inside = []

        async def user(*addresses):
            for i in range(5):
                async with bus.hold(*addresses) as regs:
                    for address in addresses:
                        assert address not in inside
                        inside.append(address)
                    await turns(i % 3)
                    await regs.read_register(addresses[0], 0, 1)
                    for address in addresses:
                        inside.remove(address)

        await asyncio.gather(user(A, B), user(B, A), user(B, EXPANDER, A), user(EXPANDER, A), user(0x48, A))
        rig.check()


async def test_a_timeout_over_several_devices():
    """timeout_ms is for all of them; after LockTimeout none is held."""
    for rig in rigs(SHAPES):
        bus = rig.bus
        task = asyncio.create_task(use_key(bus.device(B), 30))
        await turns()
        start = clock.now()
        text = str(await raises_async(LockTimeout, enter(bus.hold(A, B, EXPANDER, timeout_ms=5))))
        assert clock.now() - start == 5
        assert "i2c/0x11" in text
        assert len(bus._table) == 1
        await task
        rig.check()


# The whole bus


async def test_hold_all():
    """hold_all waits for every holder, keeps everybody else out, and its operations reach every device."""
    for rig in rigs(SHAPES):
        bus = rig.bus
        log = []
        first = asyncio.create_task(use_key(bus.device(A), 5, log, "first"))
        await turns()

        async def everything():
            async with bus.hold_all() as regs:
                log.append("all")
                assert await regs.read_register(A, 1, 1) == b"\x01"
                assert await regs.read_register(bus.device(B), 1, 1) == b"\xfe"
                assert await regs.probe(NOBODY) is False
                await sleep(3)
                log.append("end")

        async def later(address):
            await bus.read_register(address, 0, 1)
            log.append(address)

        tasks = [asyncio.create_task(everything())]
        await turns()
        tasks += [asyncio.create_task(later(address)) for address in (B, A)]
        await asyncio.gather(first, *tasks)
        assert log == ["first", "all", "end", B, A]
        rig.check()


async def test_hold_all_times_out():
    """hold_all with a timeout: LockTimeout names a holder; those behind it go on."""
    for rig in rigs(SHAPES):
        bus = rig.bus

        async def display():
            async with bus.device(A).hold():
                await sleep(20)

        task = asyncio.create_task(display())
        await turns()
        every = asyncio.create_task(raises_async(LockTimeout, enter(bus.hold_all(timeout_ms=5))))
        await turns()
        later = asyncio.create_task(bus.read_register(B, 0, 1))
        assert "display" in str(await every)
        assert await later == b"\xff"
        await task
        rig.check()


async def test_a_holder_passes_a_waiting_hold_all():
    """A task that holds a key gets another one although hold_all waits: else both would wait for ever."""
    for rig in rigs(SHAPES):
        bus = rig.bus
        log = []

        async def holder():
            async with bus.device(A).hold():
                await turns(3)
                log.append(await bus.read_register(B, 0, 1))

        async def everything():
            async with bus.hold_all():
                log.append("all")

        task = asyncio.create_task(holder())
        await turns()
        await asyncio.gather(task, everything())
        assert log == [b"\xff", "all"]
        rig.check()


# Several buses


async def test_hold_over_two_buses():
    """hold(a, b) with devices of two buses: one block, the operations take the device, and both are free after it."""
    for ports in (("rp2", "rp2"), ("circuitpython", "soft")):
        one, two = Rig(ports[0], name="one"), Rig(ports[1], name="two")
        a, b = one.bus.device(A), two.bus.device(B)
        held = hold(b, a, one.bus.device(B))
        async with held as regs:
            assert held.held
            assert sorted(held.keys) == [A, B, B]
            others = [asyncio.create_task(device.read_register(0, 1)) for device in (a, b)]
            await turns(3)
            assert await regs.read_register(a, 1, 1) == b"\x01"
            assert await regs.read_register(b, 1, 1) == b"\xfe"
            await regs.write_register(a, 0x80, 1)
            assert await a.read_register(0x80, 1) == b"\x01"
            raises(NotCovered, regs.read_register, two.bus.device(A), 0, 1)
            # An address alone does not say which bus is meant.
            raises(TypeError, regs.read_register, A, 0, 1)
            assert not others[0].done() and not others[1].done()
        await asyncio.gather(*others)
        one.check()
        two.check()


async def test_buses_are_taken_in_one_order():
    """Tasks that name devices of two buses in opposite order never wait for each other for ever."""
    one, two = Rig(name="one"), Rig("circuitpython", name="two")
    a, b = one.bus.device(A), two.bus.device(A)
    inside = [0]

    async def user(*devices):
        for i in range(10):
            async with hold(*devices) as regs:
                inside[0] += 1
                assert inside[0] == 1
                await turns(i % 3)
                await regs.read_register(devices[0], 0, 1)
                inside[0] -= 1

    await asyncio.gather(user(a, b), user(b, a), user(a, b), user(b, a))
    one.check()
    two.check()


async def test_the_order_of_buses_is_that_of_their_making():
    """The bus that was made first is taken first: whoever waits for the second holds the first already."""
    one, two = Rig(name="one"), Rig(name="two")
    a, b = one.bus.device(A), two.bus.device(A)
    task = asyncio.create_task(use_key(b, 5))
    await turns()
    both = asyncio.create_task(enter(hold(b, a)))
    await turns(2)
    assert A in one.bus._table
    assert two.bus._table.waiters(A) == 1
    await task
    await both
    # The other way round nothing of the second is held while the first is waited for.
    task = asyncio.create_task(use_key(a, 5))
    await turns()
    both = asyncio.create_task(enter(hold(b, a)))
    await turns(2)
    assert A not in two.bus._table
    await task
    await both
    one.check()
    two.check()


async def test_a_timeout_or_cancel_over_two_buses():
    """A hold over two buses that times out or is cancelled in the wait for either leaves nothing on any."""
    for busy in (0, 1):
        one, two = Rig(name="one"), Rig(name="two")
        devices = one.bus.device(A), two.bus.device(A)
        task = asyncio.create_task(use_key(devices[busy], 20))
        await turns()
        start = clock.now()
        text = str(await raises_async(LockTimeout, enter(hold(*devices, timeout_ms=5))))
        assert clock.now() - start == 5
        assert ("one", "two")[busy] in text
        waiting = asyncio.create_task(enter(hold(*devices)))
        await turns(3)
        await cancel(waiting)
        assert len(one.bus._table) + len(two.bus._table) == 1
        await task
        one.check()
        two.check()


# Calls of drivers


async def test_call():
    """bus.call() gives a driver's synchronous function the key and the wire, passes arguments, returns its result."""
    for rig in rigs(SHAPES):
        bus = rig.bus
        log = []

        def driver(register, n=1):
            assert bus._wire.locked()
            assert A in bus._table
            log.append(register)
            raw = rig.made[0]
            if not rig.busio:
                return raw.readfrom_mem(A, register, n)
            while not raw.try_lock():
                raise AssertionError("the native lock is taken: this driver would spin for ever")
            buf = bytearray(n)
            raw.writeto_then_readfrom(A, bytes([register]), buf)
            raw.unlock()
            return bytes(buf)

        assert await bus.call(A, driver, 3) == b"\x03"
        assert await bus.call(bus.device(A), driver, 4, 2, timeout_ms=5) == b"\x04\x05"
        task = asyncio.create_task(use_wire(bus.device(B), 5))
        await turns()
        call = asyncio.create_task(bus.call(A, driver, 5))
        await turns(2)
        assert log == [3, 4]
        await task
        assert await call == b"\x05"
        rig.check()


async def test_a_call_that_raises():
    """What the driver raises goes to the caller as it is, and key and wire are free."""
    for rig in rigs(SHAPES):
        bus = rig.bus

        def fails(kind, *args):
            raise kind(*args)

        for kind, args in ((KeyError, ("mine",)), (OSError, (19, "no such device")), (ValueError, ())):
            error = await raises_async(kind, bus.call(A, fails, kind, *args))
            assert error.args == args
            rig.check()
        assert await bus.read_register(A, 1, 1) == b"\x01"
        rig.check()


async def test_a_call_under_the_wire_of_the_device():
    """In the block of a hold with wire=True a call of that device runs under it."""
    for rig in rigs(SHAPES):
        async with rig.bus.device(A).hold(wire=True):
            assert await rig.bus.call(A, lambda x: x + 1, 41) == 42
        async with rig.bus.hold_all():
            assert await rig.bus.call(B, lambda x: x + 1, 41) == 42
        rig.check()


async def test_max_waiters():
    """max_waiters bounds the line of each address: QueueFull at once for one more, others are not disturbed."""
    from buslock import QueueFull

    for rig in rigs(SHAPES, max_waiters=2):
        bus = rig.bus
        device = bus.device(A)
        tasks = [asyncio.create_task(use_key(device, 2))]
        await turns()
        tasks += [asyncio.create_task(device.read_register(0, 1)) for _ in range(2)]
        await turns()
        error = await raises_async(QueueFull, device.read_register(0, 1))
        assert "i2c/0x10" in str(error) and "max_waiters" in str(error)
        await raises_async(QueueFull, enter(device.hold()))
        assert await bus.read_register(B, 0, 1) == b"\xff"
        await asyncio.gather(*tasks)
        assert bus.stats()["rejections"] == 2
        rig.check()


async def test_a_holder_that_ended_is_named():
    """A task that ended without leaving its hold is named as such, and anybody may release the hold."""
    for rig in rigs(SHAPES):
        device = rig.bus.device(A)
        held = device.hold()

        async def forgetful():
            await held.__aenter__()

        await asyncio.create_task(forgetful())
        text = str(await raises_async(LockTimeout, device.read_register(0, 1, timeout_ms=5)))
        assert "forgetful" in text and "ended" in text
        held.release()
        assert await device.read_register(1, 1) == b"\x01"
        rig.check()
