"""Many exchanges over nodes that lose, delay, cut and spoil some of their replies: never a wrong answer."""

import asyncio
import random

from buslock import NoReply, TransferError
from buslock_sim import ModbusNode
from buslock_sim.crc import crc16
from support.small import SMALL
from support.turns import turns
from uart_rig import Rig

CLOCK = "virtual"
SLOW = ("test_10000_exchanges", "test_10000_exchanges_on_busio")
TIME_LIMIT = 300

REPLY_MS = 25
SOME = 100 if SMALL else 500
KINDS = ("silent", "late", "cut", "noise")


def value_of(address, register):
    """What the register of that node holds: no two are the same."""
    return address * 1000 + register * 7


def check_frame(address, count):
    """The frame function of a Modbus master for a read of so many registers."""

    def frame(buf):
        if buf[0] != address or len(buf) > 1 and buf[1] != 3 or len(buf) > 2 and buf[2] != 2 * count:
            return False
        if len(buf) < 5 + 2 * count:
            return None
        return crc16(bytes(buf[:-2])) == bytes(buf[-2:])

    return frame


async def exchanges(port, n, users=5):
    """n exchanges by several tasks over four nodes; how many were right, wrong, and failed."""
    registers = range(40)
    nodes = [ModbusNode(a, {r: value_of(a, r) for r in registers}, delay_ms=1) for a in (1, 2, 3, 4)]
    for i, node in enumerate(nodes):
        for j, kind in enumerate(KINDS):
            # Late replies come while the line is cleaned, or just in time.
            node.fail(kind, times=None, chance=0.05, seed=100 * i + j + 1, ms=(17, 28, 36, 44)[i])
    rig = Rig(port, nodes=lambda: nodes, de=True, baudrate=115200, gap_ms=3)
    counts = {"right": 0, "wrong": 0, "failed": 0}
    left = [n]
    rng = random
    rng.seed(n)

    async def user():
        while left[0] > 0:
            left[0] -= 1
            address = rng.randrange(4) + 1
            register = rng.randrange(30)
            count = rng.randrange(1, 4)
            request = bytes([address, 3, 0, register, 0, count])
            request += crc16(request)
            try:
                reply = await rig.bus.device(address).exchange(
                    request, frame=check_frame(address, count), reply_ms=REPLY_MS
                )
            except (NoReply, TransferError):
                counts["failed"] += 1
            else:
                got = [reply[3 + 2 * i] << 8 | reply[4 + 2 * i] for i in range(count)]
                if got == [value_of(address, register + i) for i in range(count)]:
                    counts["right"] += 1
                else:
                    counts["wrong"] += 1
            if rng.randrange(4) == 0:
                await turns()

    await asyncio.gather(*[user() for _ in range(users)])
    await rig.check()
    return counts


async def check_exchanges(port, n):
    counts = await exchanges(port, n)
    assert counts["wrong"] == 0
    assert counts["right"] + counts["failed"] == n
    # Of four kinds at 5 % each, the late ones of the first node come in time.
    assert 0.70 * n < counts["right"] < 0.92 * n


async def test_500_exchanges():
    """500 exchanges over four nodes, with 5 % each of the replies lost, late, cut and noisy: no wrong answer."""
    await check_exchanges("rp2", SOME)


async def test_500_exchanges_on_busio():
    """The same on busio.UART."""
    await check_exchanges("circuitpython", SOME)


async def test_10000_exchanges():
    """10,000 exchanges over four nodes, with 5 % each of the replies lost, late, cut and noisy: no wrong answer."""
    await check_exchanges("rp2", 10000)


async def test_10000_exchanges_on_busio():
    """The same on busio.UART."""
    await check_exchanges("circuitpython", 10000)
