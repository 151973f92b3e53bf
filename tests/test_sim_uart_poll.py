"""The simulator's UARTs in select.poll() and in asyncio's streams."""

import asyncio
import select

from buslock_sim import UART, BusioUART, Node, UartLine
from support.clock import advance

CLOCK = "virtual"
RUNTIMES = ("micropython", "micropython-adafruit", "pico")  # CPython polls file descriptors only


class Answerer(Node):
    """Two pieces, a pause between them, after each newline."""

    delay_ms = 3

    def __init__(self):
        super().__init__()
        self.heard = bytearray()

    def hear(self, byte, start_us, end_us):
        self.heard.append(byte)
        if byte == 10:
            self.answer(b"answer\n", end_us)
            self.answer(b"more", end_us, 30)


def test_poll():
    line = UartLine()
    uart = UART(line, baudrate=10000)
    poll = select.poll()
    poll.register(uart, select.POLLIN | select.POLLOUT)
    assert [flags for _, flags in poll.poll(0)] == [select.POLLOUT]
    line.noise(b"x")
    advance(2)
    assert [flags for _, flags in poll.poll(0)] == [select.POLLIN | select.POLLOUT]
    uart.read(1)
    uart.write(bytes(288))
    assert poll.poll(0) == []
    advance(2)
    assert [flags for _, flags in poll.poll(0)] == [select.POLLOUT]
    uart.deinit()
    assert poll.poll(0)


async def idle(ms):
    await asyncio.sleep_ms(ms)


async def test_streams_of_the_boards():
    for make in (lambda line: UART(line, baudrate=10000), lambda line: BusioUART(line, baudrate=10000, timeout=0)):
        line = UartLine()
        node = line.attach(Answerer())
        stream = asyncio.StreamReader(make(line))
        other = asyncio.create_task(idle(1000))  # the virtual clock needs something that it can move to
        stream.write(b"ab\n")
        await stream.drain()
        assert await stream.readline() == b"answer\n"
        assert await stream.readexactly(4) == b"more"
        assert node.heard == b"ab\n"
        line.check()
        await other
