"""The operations that the tests of memory run out of it: coroutines of a case of memory_rig."""

import asyncio

from buslock import DeadlineExceeded, deadline, hold, wait_for_ms
from memory_rig import (
    BUF,
    I2C,
    LINE_FEED,
    SPI,
    TWO,
    UART,
    RawUART,
    TracedAwaitedSPI,
    TracedI2C,
    TracedSPI,
    TracedUART,
)


async def with_lock(case):
    async with case.lock:
        await asyncio.sleep_ms(0)


async def with_lock_hold(case):
    async with case.lock.hold(timeout_ms=1000):
        await asyncio.sleep_ms(0)


async def acquire(case):
    await case.lock.acquire(1000)
    case.lock.release()


async def with_key(case):
    async with case.table.hold("k"):
        await asyncio.sleep_ms(0)


async def with_shared_key(case):
    async with case.table.hold("k", 1000, True):
        await asyncio.sleep_ms(0)


async def with_keys(case):
    async with case.table.hold_many(("b", "k", "a")):
        await asyncio.sleep_ms(0)


async def with_table(case):
    async with case.table.hold_all():
        await asyncio.sleep_ms(0)


async def try_key(case):
    held = case.table.try_hold("free")
    held.release()


async def in_time(case):
    async with deadline(1000):
        async with case.lock:
            await asyncio.sleep_ms(0)


async def too_late(case):
    try:
        async with deadline(1):
            while True:
                await asyncio.sleep_ms(0)
    except DeadlineExceeded:
        pass


async def wait_in_time(case):
    await wait_for_ms(case.lock.acquire(), 1000)
    case.lock.release()


async def with_device(case):
    async with case.a.hold() as session:
        await session.read(2)
        await asyncio.sleep_ms(0)


async def with_wire(case):
    async with case.a.hold(wire=True) as session:
        await session.write(TWO)
        await asyncio.sleep_ms(0)


async def with_spi_wire(case):
    async with case.a.hold(wire=True) as session:
        case.cs[0](0)
        await session.write(TWO)
        case.cs[0](1)


async def with_devices(case):
    async with case.bus.hold(case.a, case.b) as regs:
        await regs.read(case.b, 2)


async def with_several(case):
    async with hold(case.a, case.b) as regs:
        await regs.read(case.b, 2)


async def with_bus(case):
    async with case.bus.hold_all() as regs:
        await regs.read(case.a, 2)


async def transaction(case):
    txn = case.bus.transaction()
    txn.read_register(case.a, 0, 2)
    txn.update_register(case.b, 0, 1, 1)
    txn.scan()
    assert len(await txn.execute()) == 3


async def transaction_of_two(case):
    txn = case.bus.transaction()
    txn.read_register(case.a, 0, 2)
    txn.update_register(case.b, 0, 1, 1)
    assert len(await txn.execute()) == 2


async def script(case):
    @case.bus.script(case.a)
    async def body(regs):
        await regs.write_register(case.a, 0, 1)

    await body()


async def open_write(case):
    async with case.a.hold() as session:
        await session.write(TWO, stop=False)
        await session.read(1)


async def select(case):
    async with case.a.select() as spi:
        await spi.write(TWO)
        await asyncio.sleep_ms(0)
        await spi.read(2)


async def select_in_session(case):
    async with case.a.hold() as session:
        async with session.select() as spi:
            await spi.write_then_read(TWO, 2)


async def node_hold(case):
    async with case.a.hold() as session:
        await session.exchange(b"?\n", until=LINE_FEED, reply_ms=2)


async def read_line(case):
    case.raw.reply = RawUART.REPLY
    await case.a.read(until=LINE_FEED, reply_ms=2)


async def on_channel(case):
    async with case.channel.hold(0x20, wire=True) as regs:
        await regs.read(0x20, 2)
        await regs.write_register(0x20, 0, 1)


async def close(case):
    await case.a.read(2)
    await case.bus.aclose()


# Drivers that know nothing of the library


def machine_i2c(case):
    i2c = case.bus.as_machine()
    i2c.readfrom_mem(0x10, 0, 2)
    i2c.writeto(0x10, TWO, False)
    i2c.readfrom_into(0x10, BUF)
    i2c.writeto(0x10, TWO, False)


def busio_i2c(case):
    i2c = case.bus.as_busio()
    assert i2c.try_lock()
    try:
        i2c.writeto(0x10, TWO)
        i2c.writeto_then_readfrom(0x10, TWO, BUF)
    finally:
        i2c.unlock()


def machine_spi(case):
    spi = case.a.as_machine()
    spi.init(baudrate=500000, polarity=1)
    spi.cs(0)
    spi.write(TWO)
    spi.readinto(BUF)
    spi.cs(1)


def busio_spi(case):
    spi = case.a.as_busio()
    assert spi.try_lock()
    try:
        spi.configure(baudrate=500000, polarity=1)
        spi.cs.value = False
        spi.write(TWO)
        spi.write_readinto(TWO, BUF)
        spi.cs.value = True
    finally:
        spi.unlock()


def machine_uart(case):
    uart = case.a.as_machine()
    uart.init(timeout=2)
    uart.write(b"?\n")
    assert uart.readline() == RawUART.REPLY


def busio_uart(case):
    uart = case.a.as_busio()
    uart.timeout = 0.002
    uart.write(b"?\n")
    assert uart.read(3) == RawUART.REPLY


def with_driver(driver):
    """The driver under call(), in a hold with the wire, and without either: that only where nobody has the wire."""

    async def in_hold(case):
        async with case.a.hold(wire=True):
            driver(case)
            await asyncio.sleep_ms(0)

    async def alone(case):
        driver(case)

    return {"call": lambda case: case.bus.call(case.a, driver, case), "hold": in_hold, "alone": alone}


LOCKS = (
    with_lock,
    with_lock_hold,
    acquire,
    with_key,
    with_shared_key,
    with_keys,
    with_table,
    try_key,
    in_time,
    wait_in_time,
    too_late,
)
OF_I2C = {
    "read_register": lambda case: case.a.read_register(0, 2),
    "read_register in time": lambda case: case.a.read_register(0, 2, 1000),
    "short form": lambda case: case.bus.read_register(0x10, 0, 2),
    "read_register_into": lambda case: case.a.read_register_into(0, BUF),
    "write_register": lambda case: case.a.write_register(0, 5),
    "update_register": lambda case: case.a.update_register(0, 1, 1),
    "wait_register": lambda case: case.a.wait_register(0, 0xFF, 0),
    "write_then_read": lambda case: case.a.write_then_read(TWO, 2),
    "write_then_read long": lambda case: case.a.write_then_read(b"123456", 2),
    "read": lambda case: case.a.read(2),
    "readinto": lambda case: case.a.readinto(BUF),
    "write": lambda case: case.a.write(TWO, 5),
    "probe": lambda case: case.a.probe(),
    "scan": lambda case: case.bus.scan(),
    "recover": lambda case: case.bus.recover(),
    "mux": lambda case: case.behind.read_register(0, 2),
    "mux scan": lambda case: case.channel.scan(),
    "call": lambda case: case.bus.call(case.a, len, BUF),
    "hold": with_device,
    "hold wire": with_wire,
    "hold devices": with_devices,
    "hold several": with_several,
    "hold all": with_bus,
    "transaction": transaction,
    "transaction of two": transaction_of_two,
    "script": script,
    "open write": open_write,
}
OF_CHANNEL = {
    "channel read": lambda case: case.channel.read_register(0x20, 0, 2),
    "channel write": lambda case: case.behind.write(TWO),
    "channel update": lambda case: case.behind.update_register(0, 1, 1),
    "channel call": lambda case: case.channel.call(case.behind, len, BUF),
    "channel hold": on_channel,
}
OF_SPI = {
    "write": lambda case: case.a.write(TWO, TWO),
    "read": lambda case: case.a.read(2),
    "readinto": lambda case: case.a.readinto(BUF),
    "write_readinto": lambda case: case.a.write_readinto(TWO, BUF),
    "write_then_read": lambda case: case.a.write_then_read(TWO, 2),
    "select": select,
    "select in a session": select_in_session,
    "hold": with_device,
    "hold wire": with_spi_wire,
    "call": lambda case: case.bus.call(case.a, len, BUF),
    "hold all": with_bus,
}
OF_UART = {
    "until": lambda case: case.a.exchange(b"?\n", until=LINE_FEED, reply_ms=2),
    "nbytes": lambda case: case.a.exchange(b"?\n", nbytes=3, reply_ms=2),
    "frame": lambda case: case.a.exchange(b"?\n", frame=lambda buf: len(buf) == 3 or None, reply_ms=2),
    "write": lambda case: case.a.write(b"x"),
    "read": read_line,
    "hold": node_hold,
    "call": lambda case: case.bus.call(case.a, len, BUF),
}


LOOKS = (
    (I2C, machine_i2c),
    (I2C, busio_i2c),
    (SPI, machine_spi),
    (SPI, busio_spi),
    (UART, machine_uart),
    (UART, busio_uart),
    (TracedI2C, machine_i2c),
    (TracedSPI, busio_spi),
    (TracedUART, machine_uart),
)
TRACED = (
    (TracedI2C, OF_I2C),
    (TracedSPI, OF_SPI),
    (TracedAwaitedSPI, OF_SPI),
    (TracedUART, OF_UART),
)
MADE = {"first use": OF_I2C["read_register"], "close": close, "recover": OF_I2C["recover"], "hold": with_device}
