"""Modbus RTU over RS-485: a task for each node, all on one line. Nodes 17, 18 and 19, 9600 baud 8N1.

The driver enable goes active around each request only. A reply that is lost, late or has a wrong check sum costs its own
task a second try; nobody is ever given the reply to somebody else's request.
"""

import asyncio

from buslock import LockTimeout, NoReply, TransferError, UARTBus

import boards

NODES = (17, 18, 19)
READ_HOLDING = 3
WRITE_ONE = 6

board = boards.this_board()
if board.NAME == "sim":
    from buslock_sim import ModbusNode

    board.uart_line.attach(ModbusNode(19, {i: 1900 + i for i in range(10)}))
    board.nodes[0].fail("crc")
    board.nodes[1].fail("silent")

# 3.5 characters of silence end a frame: 4 ms at 9600 baud.
bus = UARTBus(board.uart, name="rs485", de=board.UART_DE, gap_ms=5)


class ModbusError(Exception):
    """The node has understood, and refuses."""


def crc16(data):
    crc = 0xFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0xA001 if crc & 1 else 0)
    return bytes((crc & 0xFF, crc >> 8))


def reply_of(address, function):
    """Looks at what has come so far: True for a whole reply, None for more to come, False for what is none of it."""

    def frame(buf):
        if buf[0] != address or len(buf) > 1 and buf[1] & 0x7F != function:
            return False
        if len(buf) < 3:
            return None
        length = 5 if buf[1] & 0x80 else 5 + buf[2] if function == READ_HOLDING else 8
        if len(buf) < length:
            return None
        return crc16(buf[:-2]) == buf[-2:]

    return frame


async def ask(node, function, first, value):
    request = bytes((node.address, function, first >> 8, first & 0xFF, value >> 8, value & 0xFF))
    request += crc16(request)
    reply = await node.exchange(request, frame=reply_of(node.address, function), reply_ms=100, timeout_ms=2000)
    if reply[1] & 0x80:
        raise ModbusError("node %d refuses function %d with code %d" % (node.address, function, reply[2]))
    return reply


async def read_registers(node, first, count):
    reply = await ask(node, READ_HOLDING, first, count)
    return [reply[i] << 8 | reply[i + 1] for i in range(3, 3 + 2 * count, 2)]


async def watch(address):
    node = bus.device(address)
    for n in range(3):
        try:
            await ask(node, WRITE_ONE, 9, n)
            print("node", address, await read_registers(node, 0, 3), await read_registers(node, 9, 1))
        except (LockTimeout, ModbusError, NoReply, TransferError) as error:
            print("node", address, "failed:", error.args[-1])
        await asyncio.sleep(0)


async def main():
    await asyncio.gather(*[watch(address) for address in NODES])
    stats = bus.stats()
    print("silences %d, invalid replies %d" % (stats["silences"], stats["errors"]))
    await bus.aclose()


asyncio.run(main())
