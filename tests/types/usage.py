"""What the type checker makes of programs that use the library. Never run: checked by the command `test`.

Each line of the API is here, with the type that it must have. What must be refused stands with the rule that refuses
it, and an ignore that is not needed is an error: a mistake that is no longer found fails the check.
"""

# pyright: reportUnnecessaryTypeIgnoreComment=error, reportUnnecessaryComparison=error, reportUnusedCoroutine=error

import asyncio
from collections.abc import Awaitable, Coroutine
from typing import Any, Literal

import buslock
from buslock import (
    ERRORS,
    BusClosed,
    BusError,
    BusStuck,
    DeadlineExceeded,
    I2CBus,
    Lazy,
    Lock,
    LockTable,
    LockTimeout,
    NoAck,
    NoReply,
    NotCovered,
    NotHeld,
    QueueFull,
    Reentry,
    Trace,
    TransactionError,
    TransferError,
    WouldDeadlock,
    deadline,
    hash_tag,
    hold,
    wait_for_ms,
)
from buslock.channel import Channel
from buslock.gate import AllHold
from buslock.groups import SeveralHold
from buslock.i2c import I2CDevice
from buslock.lockhold import LockHold
from buslock.mux import Mux
from buslock.peripherals import (
    BusioI2C,
    BusioSPI,
    BusioUART,
    DigitalPin,
    MachineI2C,
    MachinePin,
    MachineSPI,
    MachineUART,
)
from buslock.regs import Regs, ScriptRegs
from buslock.session import I2CSession
from buslock.spi import SPIBus, SPIDevice
from buslock.spisession import SPISession
from buslock.table import KeyHold
from buslock.tablemore import ManyHold
from buslock.uart import UARTBus, UARTNode
from buslock.uartsession import UARTSession
from buslock_sim.busio import BusioI2C as SimulatedBusioI2C
from buslock_sim.i2c import I2C as SimulatedI2C
from buslock_sim.pin import Pin
from buslock_sim.wire import Wire
from typing_extensions import assert_type

assert_type(buslock.__version__, str)


async def locks() -> None:
    lock = Lock()
    lock = Lock("display", 3)
    lock = Lock(name=None, max_waiters=None)
    assert_type(await lock.acquire(), Literal[True])
    assert_type(await lock.acquire(timeout_ms=50), Literal[True])
    assert_type(lock.try_acquire(), bool)
    assert_type(lock.release(), None)
    assert_type(lock.locked(), bool)
    assert_type(lock.waiters, int)
    async with lock:
        pass
    async with lock.hold(timeout_ms=50) as held:
        assert_type(held, LockHold)
        assert_type(held.held, bool)
        held.release()
    # What asyncio takes: coroutines.
    await asyncio.wait_for(lock.acquire(), 1)
    asyncio.create_task(lock.acquire())
    await asyncio.gather(lock.acquire(), lock.acquire(5))

    Lock(max_waiters="3")  # pyright: ignore[reportArgumentType]
    await lock.acquire(timeout_ms=0.5)  # pyright: ignore[reportArgumentType]
    lock.waiters = 3  # pyright: ignore[reportAttributeAccessIssue]
    with lock:  # pyright: ignore[reportGeneralTypeIssues]
        pass


async def tables() -> None:
    table = LockTable()
    table = LockTable("accounts", max_waiters=100, tag=hash_tag)
    async with table.hold("{7}.balance") as one:
        assert_type(one, KeyHold)
    async with table.hold(0x48, timeout_ms=50, shared=True) as one:
        assert_type(one.keys[0].__hash__(), int)
        assert_type(one.shared, bool)
        one.release()
    async with table.hold_many(["a", "b"], timeout_ms=50, shared=True) as many:
        assert_type(many, ManyHold)
        for key in many.keys:
            hash(key)
    async with table.hold_all(timeout_ms=50) as every:
        assert_type(every, AllHold)
        assert_type(every.held, bool)
    tried = table.try_hold("a", shared=True)
    assert_type(tried, KeyHold | None)
    if tried is not None:
        tried.release()
    assert_type(len(table), int)
    assert_type("a" in table, bool)
    assert_type(table.waiters("a"), int)
    assert_type(table.stats(), dict[str, Any])
    assert_type(hash_tag("{7}.balance"), str)
    assert_type(hash_tag(7), int)

    table.hold(["a"])  # pyright: ignore[reportArgumentType]
    table.hold_many(7)  # pyright: ignore[reportArgumentType]
    table.try_hold("a", 50, True)  # pyright: ignore[reportCallIssue]
    table.hold_al()  # pyright: ignore[reportAttributeAccessIssue]
    tried.release()  # pyright: ignore[reportOptionalMemberAccess]
    LockTable(tag="hash_tag")  # pyright: ignore[reportArgumentType]


class Sensor:
    celsius = 21.5

    async def close(self) -> None: ...


def make() -> Sensor:
    return Sensor()


async def make_slowly() -> Sensor:
    return Sensor()


async def lazies() -> None:
    lazy = Lazy(make)
    assert_type(lazy, Lazy[Sensor])
    lazy = Lazy(make_slowly, close=Sensor.close, factory_ms=1000, retry_ms=100)
    assert_type(lazy, Lazy[Sensor])
    assert_type(await lazy.get(), Sensor)
    assert_type((await lazy.get(timeout_ms=50)).celsius, float)
    assert_type(lazy.peek(), Sensor | None)
    assert_type(lazy.state, Literal["empty", "starting", "ready", "failed"])
    assert_type(await lazy.aclose(timeout_ms=50), None)
    assert_type(lazy.stats(), dict[str, Any])

    print((await lazy.get()).kelvin)  # pyright: ignore[reportAttributeAccessIssue]
    Lazy(Sensor())  # pyright: ignore[reportArgumentType, reportCallIssue]
    Lazy(make, close=len)  # pyright: ignore[reportArgumentType, reportCallIssue]
    if lazy.state == "redy":  # pyright: ignore[reportUnnecessaryComparison]
        pass


async def times() -> None:
    async with deadline(100):
        await asyncio.sleep(1)
    async with deadline(None) as nothing:
        assert_type(nothing, None)
    assert_type(await wait_for_ms(make_slowly(), 100), Sensor)

    with deadline(100):  # pyright: ignore[reportGeneralTypeIssues]
        pass
    deadline(0.1)  # pyright: ignore[reportArgumentType]
    await wait_for_ms(make(), 100)  # pyright: ignore[reportArgumentType]


def buses(i2c: MachineI2C, busio: BusioI2C, scl: MachinePin, sda: MachinePin) -> I2CBus:
    def made() -> MachineI2C:
        return i2c

    async def made_slowly() -> BusioI2C:
        return busio

    def close_machine(i2c: MachineI2C) -> None: ...

    async def close_busio(i2c: BusioI2C) -> None: ...

    I2CBus(i2c)
    I2CBus(busio)
    I2CBus(made, "sensors", close=close_machine, scl=scl, sda=sda, max_waiters=10)
    I2CBus(made_slowly, close=close_busio, scl=5, sda=4)
    I2CBus(lambda: i2c, trace=None)
    trace = Trace(capacity=100)
    I2CBus(i2c, trace=trace)
    I2CBus(i2c, trace=True)  # pyright: ignore[reportArgumentType]
    trace.name("display")
    trace.mark("frame")
    trace.dump()
    with open("trace.txt", "w") as file:
        trace.dump(file)
    assert_type(len(trace), int)
    trace.clear()

    I2CBus(5)  # pyright: ignore[reportArgumentType]
    I2CBus()  # pyright: ignore[reportCallIssue]
    I2CBus(make)  # pyright: ignore[reportArgumentType]
    I2CBus(made, close=close_busio)  # pyright: ignore[reportArgumentType]
    return I2CBus(i2c)


def simulated() -> None:
    wire = Wire()
    I2CBus(SimulatedI2C(wire), scl=Pin(wire.scl), sda=Pin(wire.sda))
    I2CBus(lambda: SimulatedBusioI2C(wire), close=SimulatedBusioI2C.deinit)


async def devices(bus: I2CBus) -> None:
    async def configure(session: I2CSession) -> None:
        await session.write_register(0, 1)

    dev = bus.device(0x48)
    dev = bus.device(0x48, setup=configure, addrsize=16, retries=2, aliases=(0x49,), chunk=32)
    assert_type(dev, I2CDevice)
    assert_type(dev.address, int)
    buf = bytearray(2)
    assert_type(await dev.read_register(0, 2), bytes)
    assert_type(await dev.read_register(0, 2, timeout_ms=50), bytes)
    assert_type(await dev.read_register_into(0, buf), None)
    await dev.read_register_into(0, memoryview(buf)[1:], timeout_ms=50)
    assert_type(await dev.write_register(0, 0x80), None)
    await dev.write_register(0, b"\x01\x02", repeatable=True, timeout_ms=50)
    assert_type(await dev.update_register(0, 0x0F, 3, timeout_ms=50), int)
    assert_type(await dev.wait_register(0, 0x80, 0x80, every_ms=5, timeout_ms=500), int)
    assert_type(await dev.read(2, timeout_ms=50), bytes)
    assert_type(await dev.readinto(buf, timeout_ms=50), None)
    assert_type(await dev.write(b"\x01", buf, 7, timeout_ms=50), None)
    assert_type(await dev.write_then_read(b"\x01", 2, timeout_ms=50), bytes)
    assert_type(await dev.probe(timeout_ms=50), bool)
    await asyncio.gather(dev.read_register(0, 1), dev.probe())
    asyncio.create_task(dev.read(2))
    async with dev.hold(timeout_ms=50, wire=True) as session:
        assert_type(session, I2CSession)
        assert_type(await session.read_register(0, 2), bytes)
        await session.write_register(0, 1)
        await session.update_register(0, 1, 1)
        await session.wait_register(0, 1, 1)
        await session.write(b"\x01", stop=False)
        assert_type(await session.read(2), bytes)
        assert_type(await session.probe(), bool)

    bus.device("0x48")  # pyright: ignore[reportArgumentType]
    bus.device(0x48, addrsize=12)  # pyright: ignore[reportArgumentType]
    bus.device(0x48, setup=make)  # pyright: ignore[reportArgumentType]
    await dev.write_register(0, "on")  # pyright: ignore[reportArgumentType]
    await dev.read_register_into(0, b"12")  # pyright: ignore[reportArgumentType]
    await dev.write(b"\x01", stop=False)  # pyright: ignore[reportArgumentType]
    await dev.read_registr(0, 2)  # pyright: ignore[reportAttributeAccessIssue]
    dev.read_register(0, 2)[0]  # pyright: ignore[reportIndexIssue]
    dev.write(b"\x01")  # pyright: ignore[reportUnusedCoroutine]
    async with session.hold():  # pyright: ignore[reportAttributeAccessIssue]
        pass


class Display:
    def show(self, *, all: bool = True) -> None: ...


def draw(x: int, y: int, colour: int = 1) -> str: ...


async def whole_buses(bus: I2CBus, other: I2CBus) -> None:
    dev = bus.device(0x48)
    buf = bytearray(2)
    assert_type(bus.name, str)
    assert_type(await bus.read_register(0x48, 0, 2, timeout_ms=50), bytes)
    assert_type(await bus.read_register(dev, 0, 2), bytes)
    await bus.read_register_into(0x48, 0, buf, timeout_ms=50)
    await bus.write_register(0x48, 0, b"\x01", repeatable=True, timeout_ms=50)
    assert_type(await bus.update_register(0x48, 0, 1, 1, timeout_ms=50), int)
    async with bus.hold(dev, 0x49, timeout_ms=50, wire=True) as regs:
        assert_type(regs, Regs[int | I2CDevice])
        assert_type(await regs.read_register(0x49, 0, 2), bytes)
        assert_type(await regs.read_register(dev, 0, 2), bytes)
        await regs.write_register(dev, 0, 1)
        assert_type(await regs.update_register(0x49, 0, 1, 1), int)
        assert_type(await regs.probe(dev), bool)
    async with bus.hold_all(timeout_ms=50) as regs:
        assert_type(await regs.read_register(0x20, 0, 2), bytes)
    both = hold(dev, other.device(0x20), timeout_ms=50)
    assert_type(both, SeveralHold)
    async with both as pair:
        assert_type(await pair.read_register(dev, 0, 2), bytes)
    assert_type(await bus.call(dev, draw, 1, 2), str)
    assert_type(await bus.call(0x48, draw, 1, 2, 3, timeout_ms=50), str)
    assert_type(await bus.call(0x48, Display().show), None)
    assert_type(await bus.scan(timeout_ms=50), list[int])
    assert_type(await bus.recover(timeout_ms=50), None)
    assert_type(await bus.aclose(timeout_ms=50), None)
    assert_type(bus.reset(), None)
    assert_type(bus.stats(), dict[str, Any])

    await bus.read_register(0x48, 0)  # pyright: ignore[reportCallIssue]
    await regs.read_register(0, 2)  # pyright: ignore[reportCallIssue]
    await pair.read_register(0x20, 0, 2)  # pyright: ignore[reportArgumentType]
    await bus.call(dev, draw, "1", 2)  # pyright: ignore[reportArgumentType]
    await bus.call(dev, draw)  # pyright: ignore[reportArgumentType]
    hold(0x48)  # pyright: ignore[reportArgumentType]
    bus.hold("0x48")  # pyright: ignore[reportArgumentType]
    async with bus.hold(dev) as session:
        await session.read_register(0, 2)  # pyright: ignore[reportCallIssue]


async def multiplexers(bus: I2CBus) -> None:
    mux = bus.mux(0x70, channels=4)
    assert_type(mux, Mux)
    channel = mux.channel(0)
    assert_type(channel, Channel)
    dev = channel.device(0x48, addrsize=16)
    assert_type(dev, I2CDevice)
    assert_type(await channel.scan(timeout_ms=50), list[int])
    assert_type(await channel.read_register(0x48, 0, 2), bytes)
    async with channel.hold(0x48, dev, timeout_ms=50) as regs:
        assert_type(await regs.read_register(0x48, 0, 2), bytes)
    assert_type(await channel.call(dev, draw, 1, 2, timeout_ms=50), str)
    assert_type(channel.mux(0x71).channel(1), Channel)

    mux.channel("0")  # pyright: ignore[reportArgumentType]


def spi_buses(spi: MachineSPI, busio: BusioSPI, cs: MachinePin, other_cs: DigitalPin) -> SPIBus:
    async def made() -> MachineSPI:
        return spi

    def close(spi: MachineSPI) -> None: ...

    SPIBus(busio, "displays", max_waiters=3, trace=None).device(other_cs)
    SPIBus(made, close=close)
    bus = SPIBus(spi)
    assert_type(bus.device(cs, baudrate=20_000_000, polarity=1, phase=1, bits=8, firstbit=0, cs_active=1), SPIDevice)
    bus.device(17, pre_clocks=80, post_clocks=8, chunk=512)
    bus.device(None, chunk=(512, False))

    SPIBus(5)  # pyright: ignore[reportArgumentType]
    bus.device(cs, mode=3)  # pyright: ignore[reportCallIssue]
    return bus


async def spi_devices(bus: SPIBus, dev: SPIDevice) -> None:
    buf = bytearray(4)

    async def reset(session: SPISession) -> None:
        await session.write(b"\xff")

    bus.device(5, setup=reset)
    assert_type(await dev.write(b"\x9f", buf, timeout_ms=50), None)
    assert_type(await dev.read(4, write=0xFF, timeout_ms=50), bytes)
    assert_type(await dev.readinto(buf, write=0xFF, timeout_ms=50), None)
    assert_type(await dev.write_readinto(b"1234", buf, timeout_ms=50), None)
    assert_type(await dev.write_then_read(b"\x9f", 3, timeout_ms=50), bytes)
    async with dev.select(timeout_ms=50) as spi:
        await spi.write(buf)
        assert_type(await spi.read(2), bytes)
    async with dev.hold(timeout_ms=50, wire=True) as session:
        assert_type(session, SPISession)
        async with session.select() as spi:
            await spi.write(buf)
    async with bus.hold(dev, timeout_ms=50) as regs:
        assert_type(await regs.read(dev, 4, write=0xFF), bytes)
        await regs.write(dev, buf, buf)
    assert_type(await bus.call(dev, draw, 1, 2), str)
    assert_type(await bus.aclose(), None)

    await dev.readinto(b"1234")  # pyright: ignore[reportArgumentType]
    await dev.write("text")  # pyright: ignore[reportArgumentType]
    await dev.write_then_read(b"\x9f", buf)  # pyright: ignore[reportArgumentType]
    await session.hold()  # pyright: ignore[reportAttributeAccessIssue]


def uart_buses(uart: MachineUART, busio: BusioUART, de: MachinePin) -> UARTBus:
    def late(data: bytes) -> None: ...

    async def streams() -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection("localhost", 4000)

    UARTBus(busio, name="gps", unsolicited=late)
    UARTBus(streams)
    return UARTBus(uart, de=de, de_active=0, echo=True, gap_ms=4, max_reply=64, max_waiters=4)


async def uart_nodes(bus: UARTBus) -> None:
    def frame(buf: bytearray) -> bool | None:
        return None if len(buf) < 4 else buf[0] == 1

    node = bus.device(17)
    assert_type(node, UARTNode)
    assert_type(await node.exchange(b"\x01\x03", nbytes=7, reply_ms=100, timeout_ms=500), bytes)
    assert_type(await node.exchange(b"AT\r\n", until=b"OK\r\n"), bytes)
    assert_type(await node.exchange(b"\x01", frame=frame), bytes)
    assert_type(await node.write(b"\x00", timeout_ms=50), None)
    assert_type(await node.read(until=b"\n", reply_ms=None, timeout_ms=50), bytes)
    async with node.hold(timeout_ms=50) as session:
        assert_type(session, UARTSession)
        assert_type(await session.exchange(b"\x01", nbytes=1), bytes)

    await node.exchange("AT\r\n", until=b"OK\r\n")  # pyright: ignore[reportArgumentType]
    await node.exchange(b"AT\r\n", until="OK\r\n")  # pyright: ignore[reportArgumentType]


async def transactions(bus: I2CBus, spi: SPIDevice) -> None:
    dev = bus.device(0x48)
    transaction = bus.transaction()
    transaction.read_register(dev, 0, 2)
    transaction.write_register(0x49, 0, 1)
    transaction.write(spi, b"\x9f")
    assert_type(len(transaction), int)
    assert_type(await transaction.execute(timeout_ms=50), list[Any])

    @bus.script(dev, 0x49)
    async def calibrate(regs: ScriptRegs, gain: int, fine: bool = False) -> float:
        data = await regs.read_register(dev, 0, 2)
        await regs.write_register(0x49, 0, gain)
        await regs.write(spi, data)
        return float(fine)

    @bus.script(readonly=True)
    async def find(regs: ScriptRegs) -> list[int]:
        return await regs.scan()

    def wanted(address: int) -> int:
        return address

    @bus.script(wanted)
    async def identify(regs: ScriptRegs, address: int) -> bytes:
        return await regs.read_register(address, 0xD0, 1)

    assert_type(await calibrate(3, True, timeout_ms=50), float)
    assert_type(await find(), list[int])
    assert_type(await identify(0x76), bytes)
    async with hold(dev, spi) as both:
        await both.write(spi, await both.read_register(dev, 0, 2))

    transaction.read_register(dev, 0)  # pyright: ignore[reportCallIssue]
    await transaction.read_register(dev, 0, 2)  # pyright: ignore[reportGeneralTypeIssues]
    await calibrate("3", True)  # pyright: ignore[reportArgumentType]
    await find(3)  # pyright: ignore[reportCallIssue]


async def errors(bus: I2CBus) -> None:
    try:
        await bus.read_register(0x48, 0, 2, timeout_ms=50)
    except LockTimeout as late:
        timeout: asyncio.TimeoutError = late
        exceeded: DeadlineExceeded = late
        print(timeout, exceeded)
    except (NoAck, BusStuck, TransferError, NoReply) as failed:
        assert_type(failed.errno, int | None)
        assert_type(failed.final, bool)
    except TransactionError as broken:
        assert_type(broken.index, int | None)
        print(len(broken.results))
    except (QueueFull, NotHeld, Reentry, WouldDeadlock, NotCovered, BusClosed) as refused:
        wrong: RuntimeError = refused
        print(wrong)
    except BusError as other:
        system: OSError = other
        print(system)
    try:
        await bus.scan()
    except ERRORS as error:
        print(error.args)


def coroutines(bus: I2CBus) -> list[Awaitable[object]]:
    one: Coroutine[Any, Any, bytes] = bus.read_register(0x48, 0, 2)
    two: Coroutine[Any, Any, bytes] = bus.device(0x48).read_register(0, 2)
    return [one, two]
