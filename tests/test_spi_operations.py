"""What each operation of an SPI device does and returns, on the buses of every port."""

import asyncio

from buslock import LockTimeout, NotCovered, SPIBus, hold
from buslock_sim import SPI, BusioSPI, Pin, SpiWire
from spi_rig import PINS, PORTS, SOME, SYNC, AwaitedSPI, Echo, Rig, rigs, sleep, use_key, use_wire
from support.turns import raises, raises_async, turns

CLOCK = "virtual"
LEFT_OUT = {
    "pico": {
        "a desk tries them all; on a board there are two or three": ("test_the_lists_of_ports_are_complete",),
    }
}


async def every_way(rig, operate):
    """`operate(operations)` with the device free, and waiting for the key and for the wire, and under holds."""
    device, other = rig.devices()
    await operate(device)
    for use in (use_key(device, 2), use_wire(other, 2)):
        task = asyncio.create_task(use)
        await turns(3)
        await operate(device)
        await task
    async with device.hold() as session:
        await operate(device)
        await operate(session)
    async with rig.bus.hold_all():
        await operate(device)
    async with hold(device, other) as regs:
        await operate(Of(regs, device))
    async with rig.bus.hold(device, other) as regs:
        await operate(Of(regs, device))
    rig.check()


class Of:
    """The operations of one device of a group."""

    def __init__(self, regs, device):
        self.regs = regs
        self.device = device

    def __getattr__(self, name):
        return lambda *args, **kwargs: getattr(self.regs, name)(self.device, *args, **kwargs)


async def test_write():
    """write sends any number of buffers of any kind in one section, and returns None."""
    for rig in rigs():

        async def operate(device):
            rig.a.listen()
            assert await device.write(b"\x01\x02\x03") is None
            await device.write(b"\x04", bytearray(b"\x05\x06"), memoryview(b"\x07\x08\x09")[1:])
            assert rig.a.listen() == [b"\x01\x02\x03", b"\x04\x05\x06\x08\x09"]

        await every_way(rig, operate)


async def test_read():
    """read gives so many bytes, as bytes, and sends the byte it is told, or 0."""
    for rig in rigs():

        async def operate(device):
            rig.a.listen()
            got = await device.read(2)
            assert got == b"\x5a\x5a"
            assert isinstance(got, bytes)
            assert await device.read(1, 0xFF) == b"\xa5"
            assert await device.read(1, write=0x0A) == b"\x50"
            assert rig.a.listen() == [b"\x00\x00", b"\xff", b"\x0a"]

        await every_way(rig, operate)


async def test_readinto():
    """readinto fills the buffer it is given, also a part of a larger one, and returns None."""
    for rig in rigs():

        async def operate(device):
            rig.a.listen()
            buf = bytearray(4)
            assert await device.readinto(memoryview(buf)[1:3]) is None
            assert buf == b"\x00\x5a\x5a\x00"
            await device.readinto(buf, write=0xF0)
            assert buf == b"\xaa" * 4
            assert rig.a.listen() == [b"\x00\x00", b"\xf0" * 4]

        await every_way(rig, operate)


async def test_write_readinto():
    """write_readinto sends one buffer while it fills another, or the same one, and returns None."""
    for rig in rigs():

        async def operate(device):
            rig.a.listen()
            into = bytearray(3)
            assert await device.write_readinto(b"\x01\x02\x03", into) is None
            assert into == b"\x5b\x58\x59"
            same = bytearray(b"\x00\x5a")
            await device.write_readinto(same, same)
            assert same == b"\x5a\x00"
            assert rig.a.listen() == [b"\x01\x02\x03", b"\x00\x5a"]

        await every_way(rig, operate)


async def test_write_then_read():
    """write_then_read writes and then reads in one section, and gives bytes."""
    for rig in rigs():

        async def operate(device):
            rig.a.listen()
            got = await device.write_then_read(b"\x9f", 3)
            assert got == b"\x5a\x5a\x5a"
            assert isinstance(got, bytes)
            assert rig.a.listen() == [b"\x9f\x00\x00\x00"]

        await every_way(rig, operate)


async def test_one_section_for_one_operation():
    """CS goes active once and idle once for each operation, and nothing else happens in between (E6)."""
    into = bytearray(2)
    for rig in rigs():
        device, _ = rig.devices()
        for operate, inside in (
            (lambda: device.write(b"\x01"), ["write"]),
            (lambda: device.write(b"\x01", b"\x02"), ["write", "write"]),
            (lambda: device.read(2), ["read"]),
            (lambda: device.readinto(into), ["read"]),
            (lambda: device.write_readinto(b"\x01\x02", into), ["write", "read"]),
            (lambda: device.write_then_read(b"\x01", 2), ["write", "read"]),
        ):
            await operate()
            wanted = [("select", "a")] + [(operation, "a") for operation in inside] + [("deselect", "a")]
            assert rig.sections() == wanted, rig.port
        rig.check()


async def test_chip_selects_of_every_kind():
    """A Pin, its number, a DigitalInOut and a pin of board all work as a chip select, with either active level."""
    for pins in PINS:
        for active in (0, 1):
            rig = Rig(pins=pins, active=active)
            a, b = rig.devices(cs_active=active)
            assert await a.read(1) == b"\x5a"
            assert await b.read(1) == b"\xa5"
            async with b.select() as spi:
                assert rig.wire.selected() == [rig.names[1]]
                assert await spi.read(2) == b"\xa5\xa5"
            assert await a.read(1) == b"\x5a"
            rig.check()


async def test_devices_of_two_kinds_of_chip_select():
    """Devices whose chip selects are given in different forms, and with different levels, share a bus."""
    wire = SpiWire()
    wire.attach("a", Echo(1))
    wire.attach("b", Echo(2), active=1)
    rig = Rig()
    bus = SPIBus(SPI(wire))
    rig.pins = "digital"
    rig.wire = wire
    devices = [bus.device(Pin(wire.line("a"))), bus.device(rig.cs("b"), cs_active=1)]
    for _ in range(2):
        assert await devices[0].read(1) == b"\x01"
        assert await devices[1].read(1) == b"\x02"
    rig.bus = bus
    rig.check()


async def refused(operations, bad):
    for name, args, errors in bad:
        await raises_async(errors, getattr(operations, name)(*args))


BAD = (
    ("write", (), ValueError),
    ("write", (b"",), ValueError),
    ("write", (b"\x01", b""), ValueError),
    ("write", (b"\x01", "text"), TypeError),
    ("write", (None,), TypeError),
    ("write", (5,), TypeError),
    ("read", (0,), ValueError),
    ("read", (-1,), ValueError),
    ("read", (None,), TypeError),
    ("read", (1.0,), TypeError),
    ("read", ("1",), TypeError),
    ("read", (1, 256), ValueError),
    ("read", (1, -1), ValueError),
    ("read", (1, None), TypeError),
    ("readinto", (bytearray(0),), ValueError),
    ("readinto", (b"\x01",), TypeError),
    ("readinto", (None,), TypeError),
    ("readinto", (bytearray(1), 256), ValueError),
    ("readinto", (bytearray(1), "1"), TypeError),
    ("write_readinto", (b"\x01", bytearray(2)), ValueError),
    ("write_readinto", (b"", bytearray(0)), ValueError),
    ("write_readinto", (b"\x01", b"\x02"), TypeError),
    ("write_readinto", ("a", bytearray(1)), TypeError),
    ("write_readinto", (None, bytearray(1)), TypeError),
    ("write_readinto", (b"\x01", None), TypeError),
    ("write_then_read", (b"\x01", 0), ValueError),
    ("write_then_read", (b"\x01", None), TypeError),
    ("write_then_read", (b"", 1), ValueError),
    ("write_then_read", ("a", 1), TypeError),
    ("write_then_read", (None, 1), TypeError),
)


async def test_bad_arguments():
    """Bad buffers, lengths and bytes are refused before anything is driven, and nothing is held or broken by that."""
    for rig in rigs(SOME):
        device, _ = rig.devices()
        await refused(device, BAD)
        await device.write(b"\x01")
        calls = rig.wire.calls
        await refused(device, BAD)
        assert rig.wire.calls == calls, rig.port
        async with device.hold() as session:
            await refused(session, BAD)
            assert rig.wire.calls == calls, rig.port
            await refused(device, BAD)
        async with device.select() as spi:
            rig.a.listen()
            calls = rig.wire.calls
            await refused(spi, BAD)
            assert rig.wire.calls == calls, rig.port
            await spi.write(b"\x01")
        assert await device.read(1) == b"\x5a"
        rig.check()


async def test_bad_timeouts():
    """timeout_ms is None or an int from 0, everywhere."""
    for rig in rigs(SOME):
        device, _ = rig.devices()
        async with device.hold() as session:
            for bad, error in ((-1, ValueError), ("1", TypeError), (1.5, TypeError), (1 << 28, ValueError)):
                for operations in (device, session):
                    await raises_async(error, operations.write(b"\x01", timeout_ms=bad))
                    await raises_async(error, operations.read(1, timeout_ms=bad))
                    await raises_async(error, operations.readinto(bytearray(1), timeout_ms=bad))
                    await raises_async(error, operations.write_readinto(b"\x01", bytearray(1), timeout_ms=bad))
                    await raises_async(error, operations.write_then_read(b"\x01", 1, timeout_ms=bad))
                    raises(error, operations.select, timeout_ms=bad)
                raises(error, device.hold, timeout_ms=bad)
        assert rig.a.listen() == []
        rig.check()


async def test_timeouts():
    """timeout_ms bounds the wait for the key and the wire together; 0 does not wait; the error names who has it."""
    for rig in rigs(SOME):
        device, other = rig.devices()
        operations = (
            lambda ms: device.write(b"\x01", timeout_ms=ms),
            lambda ms: device.read(1, timeout_ms=ms),
            lambda ms: device.readinto(bytearray(1), timeout_ms=ms),
            lambda ms: device.write_readinto(b"\x01", bytearray(1), timeout_ms=ms),
            lambda ms: device.write_then_read(b"\x01", 1, timeout_ms=ms),
            lambda ms: rig.bus.call(device, lambda: None, timeout_ms=ms),
        )
        await device.write(b"\x00")
        rig.a.listen()
        for use in (use_key(device, 12), use_wire(other, 12)):
            task = asyncio.create_task(use)
            await turns(3)
            for operate in operations:
                error = await raises_async(LockTimeout, operate(0))
                assert "spi" in str(error) and "use_" in str(error)
            await asyncio.gather(*[raises_async(LockTimeout, operate(10)) for operate in operations])
            assert not task.done()
            assert rig.a.listen() == []
            await operations[0](5)
            assert rig.a.listen() == [b"\x01"]
            await task
        for operate in operations:
            await operate(0)  # free
        rig.check()


async def test_first_come_first_served():
    """Tasks get one device in the order in which they asked, and the wire too (promise 2)."""
    for rig in rigs(SOME):
        device, other = rig.devices()
        tasks = [asyncio.create_task(use_key(device, 1))]
        await turns()
        for n in range(6):
            tasks.append(asyncio.create_task(device.write(bytes([n]))))
        await asyncio.gather(*tasks)
        assert rig.a.listen() == [bytes([n]) for n in range(6)]
        tasks = [asyncio.create_task(use_wire(other, 1))]
        await turns()
        for n in range(3):
            tasks.append(asyncio.create_task(rig.bus.call(device, lambda n: log.append(n), n)))
        log = []
        await asyncio.gather(*tasks)
        assert log == [0, 1, 2]
        rig.check()


async def test_operations_are_coroutines():
    """What an operation returns can be given to gather, create_task and wait_for, and closed unused."""
    for rig in rigs(SOME):
        device, other = rig.devices()
        into = bytearray(1)
        results = await asyncio.gather(
            device.write(b"\x01"),
            device.read(1),
            other.readinto(into),
            device.write_readinto(b"\x02", bytearray(1)),
            other.write_then_read(b"\x03", 1),
            rig.bus.call(other, lambda: 42),
        )
        assert results == [None, b"\x5a", None, None, b"\xa5", 42]
        assert into == b"\xa5"
        assert await asyncio.create_task(device.read(1)) == b"\x5a"
        assert await asyncio.wait_for(device.read(1), 1) == b"\x5a"
        rig.a.listen()
        unused = device.read(5)
        unused.close()
        assert rig.a.listen() == []
        rig.check()


async def test_wait_for_takes_an_operation_that_has_to_wait():
    """Under wait_for an operation waits in another task, times out like any, and leaves nothing held (A14)."""
    for rig in rigs(SOME):
        device, _ = rig.devices()
        task = asyncio.create_task(use_key(device, 20))
        await turns()
        await raises_async(asyncio.TimeoutError, asyncio.wait_for(device.read(1), 0.005))
        assert await asyncio.wait_for(device.read(1), 0.04) == b"\x5a"
        await task
        rig.check()


async def test_one_device_for_one_chip_select():
    """The same arguments give the same object; others on the same pin are refused, naming the device."""
    for pins in PINS:
        rig = Rig(pins=pins)
        cs = rig.cs(rig.names[0])
        device = rig.bus.device(cs, baudrate=500_000)
        assert rig.bus.device(cs, baudrate=500_000) is device
        for arguments in (
            {},
            {"baudrate": 400_000},
            {"baudrate": 500_000, "polarity": 1},
            {"baudrate": 500_000, "phase": 1},
            {"baudrate": 500_000, "bits": 9},
            {"baudrate": 500_000, "firstbit": 1},
            {"baudrate": 500_000, "cs_active": 1},
            {"baudrate": 500_000, "pre_clocks": 8},
            {"baudrate": 500_000, "post_clocks": 8},
            {"baudrate": 500_000, "chunk": 16},
            {"baudrate": 500_000, "setup": lambda session: None},
        ):
            error = raises(ValueError, rig.bus.device, cs, **arguments)
            assert device._label() in str(error)
        assert rig.bus.device(rig.cs(rig.names[1])) is not device
        assert await device.read(1) == b"\x5a"
        rig.check()


async def test_one_pin_by_two_names():
    """A number and its Pin are one chip select, whichever came first."""
    for first, then in (("number", "pin"), ("pin", "number")):
        rig = Rig(pins="number")
        ways = {"number": 5, "pin": rig.machine.Pin(5)}
        device = rig.bus.device(ways[first])
        assert rig.bus.device(ways[then]) is device
        raises(ValueError, rig.bus.device, ways[then], polarity=1)
        assert await rig.bus.call(ways[first], lambda: 7) == 7
        rig.check()


async def test_a_refused_declaration_changes_nothing():
    """Bad arguments of device() are refused at once, and the chip select can be declared rightly afterwards."""
    for pins in ("pin", "digital"):
        rig = Rig(pins=pins)
        cs = rig.cs("a")
        for arguments in (
            {"baudrate": 0},
            {"baudrate": -1},
            {"baudrate": None},
            {"baudrate": "1"},
            {"baudrate": 1e6},
            {"polarity": 2},
            {"polarity": None},
            {"phase": -1},
            {"phase": "0"},
            {"bits": 0},
            {"bits": None},
            {"bits": 33},
            {"cs_active": 2},
            {"cs_active": None},
            {"pre_clocks": 7},
            {"pre_clocks": -8},
            {"pre_clocks": None},
            {"post_clocks": 1.5},
            {"chunk": 0},
            {"chunk": -1},
            {"chunk": "1"},
            {"chunk": (0, False)},
            {"chunk": (4,)},
            {"setup": 5},
        ):
            raises((ValueError, TypeError), rig.bus.device, cs, **arguments)
        device = rig.bus.device(cs, polarity=0)
        assert await device.read(1) == b"\x5a"
        rig.check()
    for bad in (True, "5", 1.5, b"5"):
        raises((ValueError, TypeError), rig.bus.device, bad)


async def test_a_device_alone():
    """cs=None is for a chip that is always selected: it must be alone, and gets each byte once and no other (E1)."""
    for port in SYNC:
        for mode in (0, 3):
            rig = Rig(port)
            wire = SpiWire()
            chip = wire.attach(None, Echo(0x11, modes=(mode,)))
            rig.wire = wire
            rig.bus = bus = SPIBus(rig.make())
            device = bus.device(None, polarity=mode // 2, phase=mode % 2)
            assert bus.device(None, polarity=mode // 2, phase=mode % 2) is device
            raises(ValueError, bus.device, None, baudrate=5000)
            raises(ValueError, bus.device, Pin(wire.line("x")))
            await device.write(b"\x01\x02")
            assert await device.read(1) == b"\x11"
            async with device.select() as spi:
                await spi.write(b"\x03")
            assert await rig.bus.call(None, lambda: 7) == 7
            assert chip.listen() == [b"\x01\x02\x00\x03"], port
            rig.check()
    bus = SPIBus(SPI(wire))
    bus.device(Pin(wire.line("x")))
    raises(ValueError, bus.device, None)


async def test_a_device_of_another_bus():
    """A device is used on its own bus only: NotCovered, naming both; what is no device of a bus is a TypeError."""
    here, there = Rig(name="here"), Rig(name="there")
    a, b = there.devices()
    mine, other = here.devices()
    for function in (lambda: here.bus.hold(a), lambda: here.bus.hold(mine, a)):
        error = raises(NotCovered, function)
        assert "there" in str(error) and "here" in str(error)
    await raises_async(NotCovered, here.bus.call(a, lambda: None))
    for wrong in (77, "a", None, 1.5):
        raises(TypeError, here.bus.hold, wrong)
        await raises_async(TypeError, here.bus.call(wrong, lambda: None))
    async with here.bus.hold(mine) as regs:
        assert await regs.read(mine, 1) == b"\x5a"
        raises(NotCovered, regs.read, other, 1)
    here.check()
    there.check()


async def test_what_is_no_spi_is_refused():
    """A first argument that is neither a peripheral nor a function: TypeError, at construction or at first use."""
    for wrong in (None, object(), 5, "spi0"):
        raises(TypeError, SPIBus, wrong)
    rig = Rig()
    for wrong in (5, None):
        bus = SPIBus(lambda: wrong)
        device = bus.device(rig.cs("a"))
        await raises_async(TypeError, device.read(1))
        assert len(bus._table) == 0
    raises(TypeError, SPIBus, SPI(rig.wire), max_waiters="many")
    raises(ValueError, SPIBus, SPI(rig.wire), max_waiters=-1)


async def test_one_bus_object_for_one_peripheral():
    """A second bus on the same SPI is refused and names the first; after aclose() of the first it is allowed (E1)."""
    for rig in rigs(SOME, name="first"):
        device, _ = rig.devices()
        error = raises(ValueError, SPIBus, rig.made[0], name="second")
        assert "first" in str(error) and "second" in str(error)
        late = SPIBus(lambda: rig.made[0], name="late")
        await raises_async(ValueError, late.device(Pin(rig.wire.line("b"))).read(1))
        assert await device.read(1) == b"\x5a"
        await rig.bus.aclose()
        second = SPIBus(rig.made[0], name="second")
        raises(ValueError, SPIBus, rig.made[0])
        assert await second.device(device._pin).read(1) == b"\x5a"
        await raises_async(ValueError, device.read(1))  # the first one is closed, and has no claim any more
        await second.aclose()
        assert await device.read(1) == b"\x5a"
        raises(ValueError, SPIBus, rig.made[0])
        rig.check()


async def test_a_bus_made_outside_of_a_loop():
    """Making a bus and its devices drives no pin and opens nothing: both can stand at the top of a module."""
    for rig in rigs(PORTS, factory="sync"):
        a, b = rig.devices()
        assert rig.made == []
        assert rig.wire.calls == 0
        assert await b.read(1) == b"\xa5"
        assert len(rig.made) == 1
        rig.check()


def test_a_bus_is_made_without_a_loop():
    """The same, with no loop running at all; the first run then uses it."""
    for port in ("rp2", "awaited"):
        rig = Rig(port, factory="async")
        device, _ = rig.devices()
        assert rig.made == []
        assert asyncio.run(device.read(1)) == b"\x5a"
        assert len(rig.made) == 1


async def test_one_peripheral_for_any_number_of_first_callers():
    """Several tasks at a bus that is made on first use: one call of the factory, and all get their answers."""
    for rig in rigs(PORTS, factory="async"):
        a, b = rig.devices()
        got = await asyncio.gather(a.read(1), b.read(1), a.write_then_read(b"\x01", 1), b.read(2))
        assert got == [b"\x5a", b"\xa5", b"\x5a", b"\xa5\xa5"]
        assert len(rig.made) == 1
        rig.check()


async def test_two_devices_never_mix():
    """Tasks that use two chips at the same time, switching wherever they can, each get their own answers (E7)."""
    for rig in rigs():
        devices = rig.devices()

        async def user(n):
            device = devices[n % 2]
            number = (0x5A, 0xA5)[n % 2]
            for i in range(6):
                buf = bytearray([n, i])
                await device.write_readinto(buf, buf)
                assert buf == bytes([n ^ number, i ^ number])
                async with device.select() as spi:
                    assert await spi.write_then_read(b"\x01", 1) == bytes([number])
                    await turns(i % 3)
                    assert await spi.read(1, 1) == bytes([1 ^ number])
                await turns(n % 2)

        assert await asyncio.gather(*[user(n) for n in range(5)], return_exceptions=True) == [None] * 5
        assert rig.wire.violations == []
        rig.check()


async def test_all_chip_selects_are_idle_before_the_first_transfer():
    """Chip selects that float, or were left active, are all driven idle before the first transfer (E3)."""
    for port in PORTS:
        for cs_active in (0, 1):
            rig = Rig(port)
            wire = rig.wire
            for name in ("c", "d", "e"):
                wire.attach(name, Echo(1), active=cs_active, pull=cs_active)
            devices = [rig.bus.device(rig.cs(name), cs_active=cs_active) for name in ("c", "d", "e")]
            assert len(wire.selected()) == 3
            await devices[1].write(b"\x01")
            assert wire.selected() == []
            wire.attach("f", Echo(1), active=cs_active, pull=cs_active)
            late = rig.bus.device(rig.cs("f"), cs_active=cs_active)
            await devices[2].write(b"\x02")
            await late.write(b"\x03")
            rig.check()


async def test_stats():
    """stats() counts waits, time-outs and errors, and keeps the worst line with its chip select."""
    for rig in rigs(SOME):
        bus = rig.bus
        a, b = rig.devices()
        stats = bus.stats()
        for event in ("entries", "waits", "timeouts", "nacks", "errors", "retries", "recoveries", "wire_waits"):
            assert stats[event] == 0
        rig.b.fail("error")
        await raises_async(OSError, b.read(1))
        tasks = [asyncio.create_task(use_key(a, 1)) for _ in range(3)]
        await turns()
        await raises_async(LockTimeout, a.read(1, timeout_ms=0))
        assert bus.stats()["entries"] == 1
        await asyncio.gather(*tasks)
        stats = bus.stats()
        assert stats["entries"] == 0
        assert stats["errors"] == 1
        assert stats["waits"] == 2
        assert stats["timeouts"] == 1
        assert stats["longest_queue"] == 2
        assert stats["longest_queue_key"] == a._key
        task = asyncio.create_task(use_wire(b, 1))
        await turns(3)
        await a.read(1)
        await task
        assert bus.stats()["wire_waits"] == 1
        rig.check()


async def test_transfers_that_fail_say_where():
    """An OSError of the port becomes a TransferError, an OSError with the same number, that names bus and device."""
    from buslock import TransferError

    for rig in rigs(name="spi1"):
        device, _ = rig.devices()
        for at in (None, 0, 2):
            rig.a.fail("error", at=at)
            error = await raises_async(TransferError, device.write(b"\x01\x02\x03"))
            assert error.args[0] == 5
            assert device._label() in str(error) and "spi1" in str(error)
            assert rig.wire.selected() == []
            assert await device.read(1) == b"\x5a"
        rig.check()


def test_the_lists_of_ports_are_complete():
    """Every habit of the simulator's ports is met by these tests."""
    from buslock_sim import spiports

    assert set(PORTS) == set(spiports.MACHINE) | set(spiports.BUSIO) | {"awaited"}
    assert AwaitedSPI.awaitable
    assert not hasattr(BusioSPI, "awaitable")
    assert sleep is not None
