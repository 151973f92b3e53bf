"""What each operation of an I2C device does and returns, on the buses of every port."""

import asyncio

from buslock import DeadlineExceeded, I2CBus, NotCovered
from buslock_sim import EEPROM, I2C, RegisterFile, Wire
from i2c_rig import BUSIO, EXPANDER, MACHINE, MEMORY, NOBODY, PORTS, A, B, Rig, rigs, sleep, use_key
from support import clock
from support.turns import raises, raises_async, turns

CLOCK = "virtual"
LEFT_OUT = {
    "pico": {
        "a desk tries them all; on a board there are two or three": ("test_the_lists_of_ports_are_complete",),
    }
}


async def every_way(rig, address, operate):
    """`operate(operations)` with the device, free and waiting, under its own hold, and with a session."""
    device = rig.bus.device(address)
    await operate(device)
    task = asyncio.create_task(use_key(device, 2))
    await turns()
    await operate(device)
    await task
    async with device.hold() as session:
        await operate(device)
        await operate(session)
    async with device.hold(wire=True) as session:
        await operate(device)
        await operate(session)
    async with rig.bus.hold_all():
        await operate(device)
    rig.check()


async def test_read_register():
    """read_register gives the bytes from that register on, as bytes, by whatever way it goes."""

    async def operate(device):
        got = await device.read_register(3, 4)
        assert got == b"\x03\x04\x05\x06"
        assert isinstance(got, bytes)
        assert await device.read_register(0, 1) == b"\x00"
        assert await device.read_register(255, 1) == b"\xff"

    for rig in rigs():
        await every_way(rig, A, operate)


async def test_read_register_into():
    """read_register_into fills the buffer it is given, also a part of a larger one, and returns None."""

    async def operate(device):
        buf = bytearray(6)
        assert await device.read_register_into(7, memoryview(buf)[1:4]) is None
        assert buf == b"\x00\x07\x08\x09\x00\x00"
        await device.read_register_into(1, buf)
        assert buf == b"\x01\x02\x03\x04\x05\x06"

    for rig in rigs():
        await every_way(rig, A, operate)


async def test_write_register():
    """write_register writes an int or any buffer from that register on, and returns None."""

    async def operate(device):
        for data, expected in (
            (0x5A, b"\x5a"),
            (0, b"\x00"),
            (b"\x01\x02", b"\x01\x02"),
            (bytearray(b"\x03\x04\x05"), b"\x03\x04\x05"),
            (memoryview(b"\x06\x07\x08")[1:], b"\x07\x08"),
        ):
            assert await device.write_register(0x80, data) is None
            assert await device.read_register(0x80, len(expected)) == expected

    for rig in rigs():
        await every_way(rig, A, operate)


async def test_update_register():
    """update_register changes the bits of the mask alone, and gives the new value."""

    async def operate(device):
        await device.write_register(0x90, 0b10100101)
        assert await device.update_register(0x90, 0b00001111, 0b00111010) == 0b10101010
        assert await device.read_register(0x90, 1) == b"\xaa"

    for rig in rigs():
        await every_way(rig, A, operate)


async def test_read_and_write_without_register():
    """read, readinto and write(*bufs) make one transfer each, with no register address of their own."""

    async def operate(device):
        assert await device.write(b"\x20") is None
        got = await device.read(3)
        assert got == b"\x20\x21\x22"
        assert isinstance(got, bytes)
        buf = bytearray(2)
        assert await device.readinto(buf) is None
        assert buf == b"\x23\x24"
        await device.write(0x90, b"\x01\x02", bytearray(b"\x03"))
        assert await device.read_register(0x90, 3) == b"\x01\x02\x03"
        await device.write(0x30)
        assert await device.read(1) == b"\x30"

    for rig in rigs():
        await every_way(rig, A, operate)


async def test_write_then_read():
    """write_then_read writes and then reads without a STOP in between, as one call for up to four bytes."""

    async def operate(device):
        assert await device.write_then_read(b"\x05", 2) == b"\x05\x06"
        assert await device.write_then_read(0x06, 1) == b"\x06"
        assert await device.write_then_read(bytearray(b"\x90\x00\x00"), 2) == b"\x92\x93"
        assert await device.write_then_read(memoryview(b"\x94\x00\x00\x00"), 2) == b"\x97\x98"

    for rig in rigs():
        await every_way(rig, A, operate)
        rig.steps()
        await rig.bus.device(B).write_then_read(b"\x80\x01\x02\x03", 2)
        assert rig.steps() == [("START", B), ("write", B), ("RESTART", B), ("read", B), ("STOP", B)]
        rig.check()


async def test_write_then_read_of_more_than_four_bytes():
    """Longer writes come to the same; only esp32's driver puts a STOP in between, whatever it is told."""
    for rig in rigs():
        got = await rig.bus.device(A).write_then_read(b"\x80abcdef", 2)
        assert got == b"\x86\x87"
        assert isinstance(got, bytes)
        assert (("RESTART", A) in rig.steps()) == (rig.port != "esp32")
        rig.check()


async def test_registers_of_two_bytes():
    """addrsize=16 sends the register's address high byte first in every register operation."""
    for rig in rigs():
        chip = rig.wire.attach(0x51, RegisterFile(size=1024, addrsize=16))
        device = rig.bus.device(0x51, addrsize=16)
        chip[0x123] = 0xF0
        assert await device.read_register(0x123, 2) == b"\xf0\x00"
        await device.write_register(0x124, 0x77)
        assert chip[0x124] == 0x77
        buf = bytearray(2)
        await device.read_register_into(0x123, buf)
        assert buf == b"\xf0\x77"
        assert await device.update_register(0x123, 0x0F, 0x05) == 0xF5
        assert await device.wait_register(0x123, 0xFF, 0xF5) == 0xF5
        async with device.hold() as session:
            assert await session.read_register(0x123, 1) == b"\xf5"
        rig.check()


async def test_wait_register():
    """wait_register polls until the bits are there, and returns what it read then; others use the bus meanwhile."""
    for rig in rigs():
        rig.a[0x40] = 0x81
        log = []

        async def poll(device):
            log.append(await device.wait_register(0x40, 0x0F, 0x03))

        async def reader():
            for _ in range(10):
                assert await rig.bus.read_register(B, 0, 1) == b"\xff"
                await sleep(1)
            rig.a[0x40] = 0x73

        start = clock.now()
        await asyncio.gather(poll(rig.bus.device(A)), reader())
        assert log == [0x73]
        assert clock.now() - start < 20
        async with rig.bus.device(A).hold() as session:
            assert await session.wait_register(0x40, 0xF0, 0x70) == 0x73
            assert await rig.bus.device(A).wait_register(0x40, 0xF0, 0x70, every_ms=5) == 0x73
        rig.check()


async def test_wait_register_keeps_the_key():
    """While wait_register polls, the device's key stays with it: nobody writes to the chip in between."""
    for rig in rigs():
        device = rig.bus.device(A)
        log = []

        async def poll():
            await device.wait_register(0x40, 0xFF, 0x99)
            log.append("polled")

        async def write():
            await device.write_register(0x40, 0x01)
            log.append("written")

        rig.a[0x40] = 0
        tasks = asyncio.create_task(poll()), asyncio.create_task(write())
        await sleep(5)
        assert log == []
        rig.a[0x40] = 0x99
        await asyncio.gather(*tasks)
        assert log == ["polled", "written"]
        rig.check()


async def test_wait_register_polls_at_its_pace():
    """every_ms is the time between two polls."""
    for every_ms, polls in ((1, 20), (5, 4)):
        rig = Rig()
        task = asyncio.create_task(rig.bus.device(A).wait_register(0x40, 0xFF, 0x99, every_ms=every_ms))
        await sleep(20)
        assert polls - 2 <= rig.a.starts / 2 <= polls + 2  # each poll is a write and a read
        rig.a[0x40] = 0x99
        await task
        rig.check()


async def test_wait_register_has_a_deadline():
    """DeadlineExceeded after timeout_ms in all; it tells the register, what was read and what was waited for."""
    for rig in rigs(("rp2", "circuitpython")):
        device = rig.bus.device(A)
        for operations in (device, None):
            start = clock.now()
            if operations is None:
                async with device.hold() as session:
                    error = await raises_async(DeadlineExceeded, session.wait_register(0x40, 0x0F, 0x03, timeout_ms=20))
            else:
                error = await raises_async(DeadlineExceeded, operations.wait_register(0x40, 0x0F, 0x03, timeout_ms=20))
            assert 19 <= clock.now() - start <= 22
            for part in ("i2c/0x10", "0x40", "20 ms", "0x03", "0x0f"):
                assert part in str(error), error
        # Waiting for the key counts as well.
        task = asyncio.create_task(use_key(device, 15))
        await turns()
        start = clock.now()
        await raises_async(DeadlineExceeded, device.wait_register(0x40, 0x0F, 0x03, timeout_ms=20))
        assert 19 <= clock.now() - start <= 22
        await task
        # 0 looks once.
        assert await device.wait_register(0x40, 0, 0, timeout_ms=0) == 0x40
        await raises_async(DeadlineExceeded, device.wait_register(0x40, 0x0F, 0x03, timeout_ms=0))
        rig.check()


async def test_probe():
    """probe tells whether the address is acknowledged."""

    async def operate(device):
        assert await device.probe() is True

    for rig in rigs():
        await every_way(rig, A, operate)
        nobody = rig.bus.device(NOBODY)
        assert await nobody.probe() is False
        async with nobody.hold() as session:
            assert await session.probe() is False
            assert await nobody.probe() is False
        rig.a.fail("nack")
        assert await rig.bus.device(A).probe() is False
        assert await rig.bus.device(A).probe() is True
        rig.check()


async def test_short_forms():
    """The short forms of the bus are those of the device with that address; a device passes for its address."""
    for rig in rigs():
        bus = rig.bus
        buf = bytearray(2)
        for key in (A, bus.device(A)):
            assert await bus.read_register(key, 1, 2) == b"\x01\x02"
            assert await bus.read_register_into(key, 3, buf) is None
            assert buf == b"\x03\x04"
            await bus.write_register(key, 0x80, b"\x12\x34")
            await bus.write_register(key, 0x81, 0x56, repeatable=True, timeout_ms=100)
            assert await bus.update_register(key, 0x80, 0x0F, 0x0A, timeout_ms=100) == 0x1A
            assert await bus.read_register(key, 0x80, 2, timeout_ms=100) == b"\x1a\x56"
        rig.check()


async def test_short_forms_use_the_declared_device():
    """A short form uses what was declared for the address: its register size, its retries."""
    for rig in rigs():
        bus = rig.bus
        rig.memory.memory[0x123] = 0x42
        bus.device(MEMORY, addrsize=16, retries=1)
        rig.memory.fail("nack")
        assert await bus.read_register(MEMORY, 0x123, 1) == b"\x42"
        rig.check()


async def test_one_object_for_one_address():
    """bus.device() gives the same object for an address, also when the short form was first."""
    rig = Rig()
    bus = rig.bus
    await bus.read_register(A, 0, 1)
    device = bus.device(A)
    assert bus.device(A) is device
    assert bus.device(device) is device
    assert device.address == A
    other = bus.device(B, addrsize=16, retries=3)
    assert other is not device
    assert bus.device(B, addrsize=16, retries=3) is other
    assert bus.device(B) is other
    rig.check()


async def test_declared_once():
    """Asking with other arguments for what is declared already raises, and names bus and address."""
    rig = Rig()
    bus = rig.bus

    async def setup(session):
        pass

    bus.device(A)
    bus.device(B, retries=3)
    for addr, arguments in (
        (A, {"addrsize": 16}),
        (A, {"setup": setup}),
        (B, {"retries": 2}),
        (B, {"retries": 3, "chunk": 8}),
        (B, {"retries": 3, "aliases": (0x12,)}),
    ):
        error = raises(ValueError, bus.device, addr, **arguments)
        assert "i2c/0x%02x" % addr in str(error)
    # What a short form has used first can still be declared.
    await bus.read_register(EXPANDER, 0, 1)
    assert bus.device(EXPANDER, retries=2) is bus.device(EXPANDER)
    rig.check()


async def test_a_refused_declaration_changes_nothing():
    """After a declaration that was refused the device is what it was before, and can be declared rightly."""
    rig = Rig()
    rig.bus.mux(0x70).channel(0).device(0x41)
    for arguments in (
        {"addrsize": 12},
        {"retries": -1},
        {"chunk": 0},
        {"aliases": (A,)},
        {"aliases": (0x80,)},
        {"aliases": (0x41,)},  # behind a multiplexer
        {"aliases": (0x12, 0x41)},
        {"aliases": (0x12,), "chunk": 0},
        {"setup": 5},
    ):
        for _ in range(2):
            raises((ValueError, TypeError), rig.bus.device, A, **arguments)
    rig.bus.device(0x12, retries=2)
    device = rig.bus.device(A, retries=1)
    assert await device.read_register(1, 1) == b"\x01"
    rig.check()


async def test_a_device_of_another_bus():
    """A device is used on its own bus only: NotCovered, naming both."""
    here, there = Rig(name="here"), Rig(name="there")
    device = there.bus.device(A)
    for function in (
        lambda: here.bus.device(device),
        lambda: here.bus.hold(device),
        lambda: here.bus.read_register(device, 0, 1),
    ):
        error = raises(NotCovered, function)
        assert "there/0x10" in str(error) and "here" in str(error)
    await raises_async(NotCovered, here.bus.call(device, lambda: None))
    here.check()
    there.check()


async def test_operations_are_coroutines():
    """What an operation returns can be given to gather, create_task and wait_for, and closed unused."""
    for rig in rigs(("rp2", "circuitpython")):
        bus = rig.bus
        device = bus.device(A)
        results = await asyncio.gather(
            bus.read_register(A, 1, 1),
            device.read_register(2, 1),
            device.write_register(0x80, 1),
            device.update_register(0x81, 0, 0),
            device.wait_register(0, 0, 0),
            device.write(0x05),
            device.read(1),
            device.write_then_read(b"\x07", 1),
            device.probe(),
            bus.scan(),
            bus.call(device, lambda: 42),
        )
        assert results == [
            b"\x01", b"\x02", None, 0x81, 0, None, b"\x05", b"\x07", True,
            [A, B, EXPANDER, 0x48, MEMORY], 42,
        ]  # fmt: skip
        assert await asyncio.create_task(device.read_register(3, 1)) == b"\x03"
        assert await asyncio.wait_for(device.read_register(4, 1), 1) == b"\x04"
        messages = rig.wire.messages
        unused = device.read_register(5, 1)
        unused.close()
        assert rig.wire.messages == messages
        rig.check()


async def test_wait_for_takes_an_operation_that_has_to_wait():
    """Under wait_for an operation waits in another task, times out like any, and leaves nothing held."""
    for rig in rigs(("rp2", "circuitpython")):
        device = rig.bus.device(A)
        task = asyncio.create_task(use_key(device, 20))
        await turns()
        await raises_async(asyncio.TimeoutError, asyncio.wait_for(device.read_register(4, 1), 0.005))
        assert await asyncio.wait_for(device.read_register(4, 1), 0.04) == b"\x04"
        await task
        rig.check()


async def test_a_bus_made_outside_of_a_loop():
    """Making buses and devices needs no loop and touches no pin: both can stand at the top of a module."""
    rig = Rig(factory="sync", pins=True)
    assert rig.made == []
    rig.bus.device(A)
    assert await rig.bus.read_register(A, 9, 1) == b"\x09"
    assert len(rig.made) == 1
    rig.check()


def test_a_bus_is_made_without_a_loop():
    """The same, with no loop running at all; the first run then uses it."""
    rig = Rig(factory="async", pins=True)
    device = rig.bus.device(A, retries=1)
    assert rig.made == []
    assert asyncio.run(device.read_register(9, 1)) == b"\x09"
    assert len(rig.made) == 1
    rig.check()


async def test_what_is_no_i2c_is_refused():
    """A first argument that is neither a peripheral nor a function: TypeError, at construction or at first use."""
    raises(TypeError, I2CBus, None)
    for wrong in (object(), 5, "i2c0"):
        raises(TypeError, I2CBus, wrong)
    bus = I2CBus(lambda: 5)
    await raises_async(TypeError, bus.read_register(A, 0, 1))
    bus = I2CBus(lambda: None)
    await raises_async(TypeError, bus.read_register(A, 0, 1))
    assert len(bus._table) == 0


async def test_other_arguments_of_the_bus():
    """max_waiters is a number; scl and sda go together; close is a function."""
    i2c = I2C(Wire())
    raises(TypeError, I2CBus, i2c, max_waiters="many")
    raises(ValueError, I2CBus, i2c, max_waiters=-1)
    raises(ValueError, I2CBus, i2c, scl=5)
    raises(ValueError, I2CBus, i2c, sda=4)


async def test_stats():
    """stats() counts waits, errors, retries and recoveries, and keeps the worst line with its address."""
    for rig in rigs(("rp2", "circuitpython")):
        bus = rig.bus
        stats = bus.stats()
        for event in ("entries", "waits", "timeouts", "nacks", "errors", "retries", "recoveries", "wire_waits"):
            assert stats[event] == 0
        device = bus.device(A, retries=1)
        rig.a.fail("nack")
        await device.read_register(0, 1)
        rig.b.fail("timeout")
        await raises_async(OSError, bus.read_register(B, 0, 1))
        tasks = [asyncio.create_task(use_key(device, 1)) for _ in range(3)]
        await turns()
        await raises_async(asyncio.TimeoutError, device.read_register(0, 1, timeout_ms=0))
        await asyncio.gather(*tasks)
        stats = bus.stats()
        assert stats["entries"] == 0
        assert stats["nacks"] == 1
        assert stats["errors"] == 1
        assert stats["retries"] == 1
        assert stats["waits"] == 2
        assert stats["timeouts"] == 1
        assert stats["longest_queue"] == 2
        assert stats["longest_queue_key"] == A
        async with bus.device(B).hold(wire=True):
            task = asyncio.create_task(bus.read_register(A, 0, 1))
            await turns()
            assert bus.stats()["entries"] == 2
        await task
        assert bus.stats()["wire_waits"] == 1
        rig.check()


def test_the_lists_of_ports_are_complete():
    """Every habit of the simulator's ports is met by these tests, but for those that are doubles of another."""
    from buslock_sim import PORTS as KNOWN

    left_out = {"esp8266": "soft", "esp32_legacy": "esp32", "circuitpython_esp32": "circuitpython"}
    assert set(KNOWN) == set(PORTS) | set(left_out)
    assert set(MACHINE) | set(BUSIO) == set(PORTS)
    assert EEPROM().page == 32
