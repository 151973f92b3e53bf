"""A pair of asyncio streams in the place of a UART, on CPython: real sockets, with a node at the other end."""

import asyncio
import socket

from buslock import NoReply, TransferError, UARTBus
from support.turns import raises_async, turns
from uart_rig import answer, ask, cancel, sleep

CLOCK = "virtual"
RUNTIMES = ("cpython",)


class Line:
    """A pair of sockets: `bus` has one end, and a node that answers lines has the other."""

    def __init__(self, **bus):
        self.near, self.far = socket.socketpair()
        self.silent = 0
        self.asked = []
        self.made = []
        self.bus = UARTBus(self.open, **bus)
        self.task = None

    async def open(self):
        streams = await asyncio.open_connection(sock=self.near)
        self.made.append(streams)
        if self.task is None:
            self.task = asyncio.create_task(self.node())
        return streams

    async def node(self):
        self.reader, self.writer = await asyncio.open_connection(sock=self.far)
        while True:
            line = await self.reader.readline()
            if not line:
                return
            self.asked.append(line)
            await sleep(2)
            if self.silent:
                self.silent -= 1
            else:
                self.writer.write(line.replace(b":", b"="))

    async def end(self):
        await self.bus.aclose()
        assert len(self.bus._table) == 0
        assert not self.bus._wire.locked()
        assert self.made[-1][1].is_closing()
        self.writer.close()
        await cancel(self.task)
        await turns(2)


async def test_exchanges():
    """Tasks share a pair of streams: each gets its own reply, by every way of telling where that ends."""
    line = Line()
    nodes = [line.bus.device(n) for n in (1, 2)]

    async def user(n):
        node = nodes[n % 2]
        for i in range(5):
            text = b"%d-%d" % (n, i)
            assert await ask(node, text) == answer(node, text)
            request = b"%d:%s\n" % (node.address, text)
            assert await node.exchange(request, nbytes=len(request)) == answer(node, text)
            assert await node.exchange(request, frame=lambda buf: buf[-1:] == b"\n" or None) == answer(node, text)
            async with node.hold(wire=True) as session:
                await session.write(request)
                assert await session.read(until=b"\n") == answer(node, text)

    await asyncio.gather(*[user(n) for n in range(4)])
    assert len(line.asked) == 4 * 5 * 4
    await line.end()


async def test_stale_input():
    """What waits in the reader, and in the operating system, is drained before a request, however much it is."""
    given = []
    line = Line(unsolicited=given.append)
    one = line.bus.device(1)
    assert await ask(one, b"a") == b"1=a\n"
    line.writer.write(b"1=stale\n" * 100)
    # No turn of the loop in between: it is in the operating system's buffer.
    assert await ask(one, b"b") == b"1=b\n"
    line.writer.write(b"1=stale\n" * 100)
    await sleep(5)
    assert await ask(one, b"c") == b"1=c\n"
    await one.write(b"1:d\n")
    assert await one.read(nbytes=2) == b"1="
    line.writer.write(b"1=stale\n")
    await sleep(5)
    assert await ask(one, b"e") == b"1=e\n"
    assert b"".join(given) == b"1=stale\n" * 200 + b"d\n" + b"1=stale\n"
    await line.end()


async def test_silence_and_cancellation():
    """A silent node, and an exchange that is cancelled: the late reply is not the next one's."""
    line = Line()
    one, two = line.bus.device(1), line.bus.device(2)
    assert await ask(one, b"a") == b"1=a\n"
    line.silent = 1
    await raises_async(NoReply, ask(one, b"x", reply_ms=20))
    assert await ask(two, b"b") == b"2=b\n"
    for ms in range(4):
        task = asyncio.create_task(ask(one, b"cancelled", reply_ms=20))
        await turns(3)
        await sleep(ms)
        await cancel(task)
        assert await ask(two, b"c") == b"2=c\n"
        assert await ask(one, b"d") == b"1=d\n"
    await line.end()


async def test_a_stream_that_is_closed():
    """When the other end is closed an exchange is a TransferError, again and again; nothing is held."""
    line = Line()
    one = line.bus.device(1)
    assert await ask(one, b"a") == b"1=a\n"
    line.writer.close()
    await turns(3)
    for _ in range(3):
        await raises_async(TransferError, ask(one, b"x", reply_ms=20))
        await raises_async(TransferError, one.read(nbytes=1, reply_ms=20))
    assert len(line.bus._table) == 0
    await line.end()


async def test_a_new_stream_after_a_broken_one():
    """After aclose() the factory opens new streams, and the nodes are there again."""
    line = Line()
    one = line.bus.device(1)
    assert await ask(one, b"a") == b"1=a\n"
    line.writer.close()
    await turns(3)
    await raises_async(TransferError, ask(one, b"x", reply_ms=20))
    await line.bus.aclose()
    await cancel(line.task)
    line.task = None
    line.near, line.far = socket.socketpair()
    await turns(2)
    assert await ask(one, b"b") == b"1=b\n"
    assert len(line.made) == 2
    await line.end()


async def test_a_ready_pair():
    """A pair of streams that is open already is used as it is, and left open by aclose()."""
    line = Line()
    streams = await line.open()
    await turns(2)
    bus = UARTBus(streams)
    assert await ask(bus.device(1), b"a") == b"1=a\n"
    await bus.aclose()
    assert not streams[1].is_closing()
    assert await ask(bus.device(1), b"b") == b"1=b\n"
    line.bus = bus
    streams[1].close()
    await line.end()
