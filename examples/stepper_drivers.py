"""Four stepper drivers (TMC2209) on a single wire: TX through 1 kOhm, RX, and PDN_UART of all, at 115200 baud.

Whatever is sent comes back: echo=True removes it, and checks it. A driver answers within 70 us of the last bit, so nothing
may come between a request and its reply; and a write, which nothing answers, is looked for in the driver's counter.
"""

import asyncio

from buslock import NoReply, TransferError, UARTBus

import boards

IFCNT = 0x02  # counts the writes that have arrived
IOIN = 0x06  # the inputs, and the version in the highest byte
IHOLD_IRUN = 0x10

board = boards.this_board()
if board.NAME == "sim":
    from buslock_sim import StepperDriver, UartLine

    board.uart_line = UartLine("single wire", echo=True)
    drivers = [board.uart_line.attach(StepperDriver(n, {IOIN: 0x21000000 | n})) for n in range(4)]
    drivers[2].fail("noise", at=5)

bus = UARTBus(lambda: board.uart(115200), name="steppers", echo=True)


def crc8(data):
    """Of the TMC2209's data sheet, 4.2: polynomial x^8 + x^2 + x + 1, the lowest bit of each byte first."""
    crc = 0
    for byte in data:
        for _ in range(8):
            bit = crc >> 7 ^ byte & 1
            crc = crc << 1 & 0xFF ^ (0x07 if bit else 0)
            byte >>= 1
    return crc


def complete(buf):
    if len(buf) < 8:
        return None
    return buf[0] == 0x05 and crc8(buf[:7]) == buf[7]


async def read(driver, address, register):
    request = bytes((0x05, address, register))
    reply = await driver.exchange(request + bytes((crc8(request),)), frame=complete, reply_ms=20)
    return int.from_bytes(reply[3:7], "big")


async def write(driver, address, register, value):
    """The driver is held, so that nobody else writes to it between the two looks at its counter."""
    datagram = bytes((0x05, address, register | 0x80)) + value.to_bytes(4, "big")
    async with driver.hold() as session:
        before = await read(session, address, IFCNT)
        await session.write(datagram + bytes((crc8(datagram),)))
        if await read(session, address, IFCNT) != (before + 1) & 0xFF:
            raise TransferError(0, "driver %d has not heard the write" % address)


async def use(address):
    driver = bus.device(address)
    for current in (8, 16):
        try:
            await write(driver, address, IHOLD_IRUN, current << 8)
            version = await read(driver, address, IOIN) >> 24
            print("driver %d: version 0x%02x, current %d/32" % (address, version, current))
        except (NoReply, TransferError) as error:
            print("driver %d failed: %s" % (address, error.args[-1]))


async def main():
    await asyncio.gather(*[use(address) for address in range(4)])
    await bus.aclose()


asyncio.run(main())
