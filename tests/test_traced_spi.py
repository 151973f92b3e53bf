"""What a traced SPIBus tells: chip selects, transfers, and that CS is idle before the wire is free."""

import asyncio

from buslock import SPIBus, Trace, TransferError
from buslock_sim import SPI, AsyncSPI, Pin, SpiWire
from spi_rig import BUSIO, PORTS, SYNC, Echo, Rig, cancel, drive, sleep, use_wire
from support.turns import gather_all, raises_async, turns
from trace_rig import Dump, events, told, traced

CLOCK = "virtual"
LEFT_OUT = {
    "pico": {
        "deeper calls than a Pico's stack has room for, with a driver, its look-alike and a simulated bus": (
            "test_a_driver_with_look_alikes",
        ),
    }
}


def shape(found):
    """The events without their keys, tasks and values."""
    return [text.split(" ")[0] for text in found]


TRANSFER = ["start", "end"]
OPERATION = ["grant", "grant", "select"] + TRANSFER + ["deselect", "release", "release"]


async def ready(rig):
    """Both devices, after their first operations: configurations and first levels of the pins are not of interest."""
    a, b = rig.devices()
    for device in (a, b, a):
        await device.write(b"x")
    return a, b


async def test_operations():
    """Key, wire, CS, transfers, CS idle, wire, key: on every kind of port."""
    for port in PORTS:
        trace, rig = traced(Rig, port=port, name="spi0")
        a, _ = await ready(rig)
        told(trace)
        for operation, transfers, length in (
            (lambda: a.write(b"abc"), 1, 3),
            (lambda: a.write(b"ab", b"c"), 2, 2),
            (lambda: a.read(4), 1, 4),
            (lambda: a.readinto(bytearray(5)), 1, 5),
            (lambda: a.write_readinto(b"xy", bytearray(2)), 1, 2),
            (lambda: a.write_then_read(b"x", 3), 2, 1),
        ):
            await operation()
            dump = Dump(trace)
            trace.clear()
            names = [name for _, name, _, _, _ in dump.events]
            assert names == OPERATION[:3] + TRANSFER * transfers + OPERATION[5:], port
            assert dump.events[3][4] == length
            keys = [key for _, name, key, _, _ in dump.events]
            assert keys[1] == keys[3] == "wire spi0 wire"
            assert keys[0] == keys[2] == keys[-1] == keys[-3] and keys[0].startswith("key spi0/")
            assert {task for _, _, _, task, _ in dump.events} == {"main"}
        rig.check()


async def test_selections():
    """CS stays active over awaits: one select, one deselect, before the wire is free."""
    for port in PORTS:
        trace, rig = traced(Rig, port=port, name="spi0")
        a, _ = await ready(rig)
        told(trace)
        async with a.select() as spi:
            await spi.write(b"abc")
            await sleep(1)
            await spi.read(2)
        assert shape(told(trace)) == ["grant", "grant", "select"] + TRANSFER * 2 + ["deselect", "release", "release"]
        async with a.hold() as session:
            async with session.select() as spi:
                await spi.write(b"abc")
        assert shape(told(trace)) == OPERATION
        rig.check()


async def test_waiting_for_a_selection():
    """The other device's wait is one for the wire."""
    trace, rig = traced(Rig, name="spi0")
    a, b = await ready(rig)
    told(trace)

    async def display():
        async with a.select() as spi:
            await sleep(5)
            await spi.write(b"abc")

    async def card():
        await b.write(b"x")

    await gather_all(display(), card())
    found = told(trace, "wire")
    assert shape(found) == ["grant", "wait"] + TRANSFER + ["release", "grant"] + TRANSFER * (len(found) // 2 - 3) + [
        "release"
    ]
    assert found[1] == "wait spi0 wire card 0"
    rig.check()


async def test_a_cancelled_selection():
    """CS is idle, and told so, before the hold ends."""
    for port in PORTS:
        trace, rig = traced(Rig, port=port, name="spi0")
        a, _ = await ready(rig)
        told(trace)

        async def select(a=a):
            async with a.select():
                await sleep(50)

        task = asyncio.create_task(select())
        await sleep(2)
        await cancel(task)
        assert shape(told(trace)) == ["grant", "grant", "select", "deselect", "release", "release"]
        rig.check()


async def test_failures():
    """A transfer that fails has its errno."""
    for port in SYNC:
        trace, rig = traced(Rig, port=port, name="spi0")
        a, _ = await ready(rig)
        told(trace)
        below = rig.bus._backend.spi
        real = below.spi if port in BUSIO else below

        def broken(*args, **kwargs):
            raise OSError(77, "mine")

        if port in BUSIO:
            below.spi = Wrapped(real, broken)
        else:
            rig.bus._backend.spi = Wrapped(real, broken)
        await raises_async(TransferError, a.write(b"x"))
        found = [event for event in Dump(trace).events if event[1] == "end"]
        assert found[-1][4] == 77
        assert shape(told(trace))[-3:] == ["deselect", "release", "release"]
        rig.bus._backend.spi = real if port not in BUSIO else below
        if port in BUSIO:
            below.spi = real


class Wrapped:
    """A peripheral of which write() is another one's."""

    def __init__(self, real, write):
        self._real = real
        self.write = write

    def __getattr__(self, name):
        return getattr(self._real, name)


async def test_a_driver_with_look_alikes():
    """Its transfers, and what it does with the chip select that it was given."""
    for port in ("rp2", "circuitpython"):
        trace, rig = traced(Rig, port=port, name="spi0")
        a, _ = await ready(rig)
        spi = a.as_busio() if rig.busio else a.as_machine()
        told(trace)

        def driver(spi=spi, busio=rig.busio):
            drive(spi.cs, 0)
            drive(spi.cs, 0)  # it is active already: no event
            if busio:
                assert spi.try_lock()
            spi.write(b"ab")
            if busio:
                spi.unlock()
            drive(spi.cs, 1)

        await rig.bus.call(a, driver)
        found = shape(told(trace))
        assert found[:3] == ["grant", "grant", "select"]
        assert found[3:-4] == TRANSFER * (len(found[3:-4]) // 2)
        assert found[-4:] == ["deselect", "block", "release", "release"]
        rig.check()


async def test_a_device_alone():
    """Without a chip select there is none to tell of."""
    trace = Trace()
    wire = SpiWire()
    wire.attach(None, Echo(1))
    bus = SPIBus(lambda: SPI(wire), name="spi1", trace=trace)
    await bus.device(None).write(b"x")
    found = shape(events(trace))
    assert found[:2] == ["making", "ready"]
    assert found[-6:] == ["grant", "grant"] + TRANSFER + ["release", "release"]
    told(trace)
    await bus.device(None).write(b"x")
    assert shape(told(trace)) == ["grant", "grant"] + TRANSFER + ["release", "release"]
    await bus.aclose()


class Stubborn:
    """A chip select that cannot be driven idle while `fails`."""

    OUT = 1

    def __init__(self, pin):
        self.pin = pin
        self.fails = False

    def init(self, mode, value=0):
        self.pin.init(self.pin.OUT, value=value)

    def __call__(self, *level):
        if self.fails and level == (1,):
            raise OSError(5, "stuck")
        return self.pin(*level)


async def test_a_chip_select_that_fails():
    """The section is over; that it is driven idle later is no event of its own."""
    trace = Trace()
    wire = SpiWire()
    wire.attach("a", Echo(1))
    bus = SPIBus(SPI(wire), name="spi1", trace=trace)
    pin = Stubborn(Pin(wire.line("a")))
    device = bus.device(pin)
    await device.write(b"x")
    told(trace)
    pin.fails = True
    await raises_async(TransferError, device.write(b"x"))
    pin.fails = False
    assert shape(told(trace)) == OPERATION
    await device.write(b"x")
    assert shape(told(trace)) == ["grant", "release"] + OPERATION  # cleaned, with the wire


async def test_the_wire_for_a_driver():
    """hold(wire=True): the wire once; CS is the driver's."""
    trace, rig = traced(Rig, name="spi0")
    a, _ = await ready(rig)
    told(trace)
    await use_wire(a, 1)
    assert shape(told(trace)) == ["grant", "grant", "release", "release"]
    rig.check()


async def test_reset_in_a_selection():
    """The chip is deselected with the reset, and its holds end there."""
    trace, rig = traced(Rig, name="spi0")
    a, _ = await ready(rig)
    told(trace)

    async def select():
        async with a.select():
            await sleep(5)

    task = asyncio.create_task(select())
    await turns(2)
    told(trace)
    rig.bus.reset()
    assert sorted(shape(told(trace))) == ["deselect", "release", "release"]
    await gather_all(task)
    assert told(trace) == []
    await a.write(b"x")
    assert shape(told(trace))[-8:] == OPERATION
    rig.check()


async def test_async_spi():
    """CircuitPython's drafts have busio's names: their transfers are told alike, and their results are right."""
    for locked in ("task", "try_lock", "lock"):
        trace, rig = traced(
            Rig, port="awaited", name="spi0", peripheral=lambda wire, locked=locked: AsyncSPI(wire, locked=locked)
        )
        a, _ = await ready(rig)
        told(trace)
        into = bytearray(2)
        assert await a.read(2, 1) == b"\x5b\x5b"
        await a.readinto(into, 2)
        assert into == b"\x58\x58"
        await a.write_readinto(b"\x01\x02", into)
        assert into == b"\x5b\x58"
        assert shape(told(trace)) == OPERATION * 3
        rig.check()
