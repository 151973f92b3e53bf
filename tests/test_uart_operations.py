"""Request and reply on a UART that tasks share: what each operation does, on the UARTs of every port."""

import asyncio

from buslock import LockTimeout, NoReply, NotCovered, NotHeld, Reentry, TransferError, UARTBus, hold
from buslock_sim import UART, Servo, UartLine
from support import clock
from support.small import SMALL
from support.turns import raises, raises_async, turns
from uart_rig import (
    CHAR_MS,
    PORTS,
    SOME,
    STREAMS,
    Liner,
    ReadChecked,
    Rig,
    answer,
    ask,
    cancel,
    rigs,
    sleep,
    use_key,
    use_line,
)

CLOCK = "virtual"
LEFT_OUT = {
    "pico": {
        "a desk tries them all; on a board there are two or three": ("test_the_lists_of_ports_are_complete",),
    }
}


async def test_exchange():
    """exchange sends a request and gives its reply as bytes, up to a length, to an end, or as a function finds it."""
    for rig in rigs():
        one, two = rig.bus.device(1), rig.bus.device(2)
        for _ in range(2):
            for node in (one, two):
                wanted = answer(node, b"hello")
                request = b"%d:hello\n" % node.address
                got = await node.exchange(request, nbytes=8)
                assert got == wanted
                assert isinstance(got, bytes)
                got = await node.exchange(bytearray(request), until=b"\n")
                assert got == wanted
                assert isinstance(got, bytes)
                assert await node.exchange(memoryview(request), until=b"lo\n") == wanted
                seen = []

                def frame(buf):
                    seen.append(bytes(buf))
                    return len(buf) == 8 or None

                got = await node.exchange(request, frame=frame)
                assert got == wanted
                assert isinstance(got, bytes)
                assert seen == [wanted[: n + 1] for n in range(8)]
        assert rig.a.asked == [b"hello"] * 8
        await rig.check()


async def test_write_and_read():
    """write sends, and nothing is answered; read takes what comes by itself, to a length, an end, or by a function."""
    for rig in rigs(nodes=lambda: (Liner(1), Liner(2, full_duplex=True))):
        node = rig.bus.device(7)
        assert await node.write(b"1:hello") is None
        assert await node.write(bytearray(b" world\n")) is None
        assert await node.read(until=b"\n", reply_ms=100) == b"1=hello world\n"
        assert rig.nodes[0].asked == [b"hello world"]
        rig.line.noise(b"abcdef", in_ms=3)
        assert await node.read(nbytes=2) == b"ab"
        assert await node.read(nbytes=1) == b"c"
        assert await node.read(frame=lambda buf: len(buf) == 3 or None) == b"def"
        await raises_async(NoReply, node.read(nbytes=1, reply_ms=5))
        await rig.check()


async def test_every_way_to_a_node():
    """Plain operations, sessions, groups and hold_all give the same answers, and plain ones run under the own hold."""
    for rig in rigs():
        one, two = rig.bus.device(1), rig.bus.device(2)
        for use in (use_key(one, 3), use_line(two, 3)):
            task = asyncio.create_task(use)
            await turns(3)
            assert await ask(one, b"w") == b"1=w\n"
            await task
        for wire in (False, True):
            async with one.hold(wire=wire) as session:
                assert await session.exchange(b"1:s\n", until=b"\n") == b"1=s\n"
                assert await ask(one, b"p") == b"1=p\n"
                await session.write(b"1:r\n")
                assert await session.read(until=b"\n", reply_ms=100) == b"1=r\n"
            await raises_async(NotHeld, session.exchange(b"1:s\n", until=b"\n"))
            await raises_async(NotHeld, session.write(b"1:s\n"))
            await raises_async(NotHeld, session.read(nbytes=1))
        async with rig.bus.hold(one, 2) as regs:
            assert await regs.exchange(one, b"1:g\n", until=b"\n") == b"1=g\n"
            assert await regs.exchange(2, b"2:g\n", until=b"\n") == b"2=g\n"
            raises(NotCovered, regs.exchange, 3, b"3:g\n", until=b"\n")
        async with rig.bus.hold_all() as regs:
            assert await regs.exchange(2, b"2:a\n", until=b"\n") == b"2=a\n"
            assert await ask(one, b"b") == b"1=b\n"
        async with hold(one, two) as regs:
            assert await regs.exchange(one, b"1:c\n", until=b"\n") == b"1=c\n"
        assert rig.bus.device(1) is one
        await rig.check()


async def test_exchanges_never_mix():
    """Requests and replies of many tasks are whole: header and body of one are never cut by another's (A13)."""
    for rig in rigs(SOME):
        nodes = [rig.bus.device(n) for n in (1, 2)]

        async def user(n):
            node = nodes[n % 2]
            for i in range(4):
                text = b"%d-%d" % (n, i)
                if i % 2:
                    assert await ask(node, text) == answer(node, text)
                else:
                    async with node.hold() as session:
                        request = b"%d:%s\n" % (node.address, text)
                        assert await session.exchange(request, until=b"\n") == answer(node, text)
                        await turns(n)
                        assert await session.exchange(request, until=b"\n") == answer(node, text)

        await asyncio.gather(*[user(n) for n in range(5)])
        assert len(rig.a.asked) + len(rig.b.asked) == 30
        await rig.check()


async def test_first_come_first_served():
    """Tasks get the line in the order in which they asked (promise 2)."""
    for rig in rigs(SOME):
        log = []

        async def user(n):
            await ask(rig.bus.device(1 + n % 2), b"%d" % n)
            log.append(n)

        await ask(rig.bus.device(1), b"x")
        tasks = []
        for n in range(8):
            tasks.append(asyncio.create_task(user(n)))
            await turns()
        await asyncio.gather(*tasks)
        assert log == list(range(8))
        await rig.check()


async def test_exactly_one_reader():
    """From a request to its reply nobody but that task looks at the input, whoever waits (F7)."""
    for wire in (False, True):
        rig = Rig(wrap=ReadChecked)
        raw = rig.made[0]

        async def user(n):
            node = rig.bus.device(1 + n % 2)
            for _ in range(3):
                if n % 3:
                    assert await ask(node, b"hello") == answer(node, b"hello")
                else:
                    async with node.hold(wire=wire) as session:
                        request = b"%d:hello\n" % node.address
                        assert await session.exchange(request, until=b"\n") == answer(node, b"hello")

        await asyncio.gather(*[user(n) for n in range(6)])
        # Each of the 18 exchanges was read by one task from its beginning to its end.
        assert len(raw.readers) <= 18
        await rig.check()


async def test_one_session_used_by_two_tasks():
    """Any task may use a session: exchanges come one after the other, or with the line held are refused (F7)."""
    for rig in rigs():
        one = rig.bus.device(1)

        async def use(session, n):
            assert await session.exchange(b"1:%d\n" % n, until=b"\n") == b"1=%d\n" % n

        async with one.hold() as session:
            await asyncio.gather(use(session, 5), use(session, 6), use(session, 7))
        async with one.hold(wire=True) as session:
            first = asyncio.create_task(use(session, 8))
            await turns(3)
            error = await raises_async(Reentry, use(session, 9))
            assert "use" in str(error)
            await raises_async(Reentry, ask(one, b"10"))
            await first
            await use(session, 11)
        assert rig.a.asked == [b"5", b"6", b"7", b"8", b"11"]
        await rig.check()


async def test_the_silence_counts_from_the_last_bit():
    """reply_ms begins when the last bit of the request is out, and anew with each byte of the reply."""
    # Nobody knows when that is with a pair of streams.
    for rig in rigs([port for port in PORTS if port not in STREAMS]):
        node = rig.bus.device(1)
        rig.a.delay_ms = 40
        text = b"x" * 50
        request_ms = 53 * CHAR_MS
        start = clock.now()
        assert await ask(node, text, reply_ms=50) == answer(node, text)
        assert clock.now() - start + 1 >= 2 * request_ms + 40
        rig.a.delay_ms = 60
        start = clock.now()
        await raises_async(NoReply, ask(node, text, reply_ms=50))
        assert request_ms + 50 - 1 <= clock.now() - start <= request_ms + 58
        await rig.check()


async def test_timeout_ms_is_for_the_queue():
    """timeout_ms bounds the wait for key and line, not the exchange; 0 does not wait; the error says who has it."""
    for rig in rigs():
        one, two = rig.bus.device(1), rig.bus.device(2)
        await ask(one, b"x")
        rig.a.delay_ms = 200
        assert await ask(one, b"slow", timeout_ms=5) == b"1=slow\n"
        assert await ask(one, b"slow", timeout_ms=0) == b"1=slow\n"
        for use in (use_key(one, 50), use_line(two, 50)):
            task = asyncio.create_task(use)
            await turns(3)
            for operate in (
                lambda ms: ask(one, b"no", timeout_ms=ms),
                lambda ms: one.write(b"no", timeout_ms=ms),
                lambda ms: one.read(nbytes=1, timeout_ms=ms),
                lambda ms: rig.bus.call(one, lambda: None, timeout_ms=ms),
            ):
                for ms in (0, 10):
                    start = clock.now()
                    error = await raises_async(LockTimeout, operate(ms))
                    assert ms <= clock.now() - start <= ms + 2
                    assert "uart" in str(error) and "use_" in str(error)
            await task
        assert rig.a.asked == [b"x", b"slow", b"slow"]
        await rig.check()


async def test_one_dead_node_of_several():
    """With a dead node the others' exchanges take longer to be begun, and none of them fails for that."""
    rounds = 2 if SMALL else 6
    for port in SOME:
        rig = Rig(port)
        done = []

        async def healthy(address):
            node = rig.bus.device(address)
            for i in range(rounds):
                assert await ask(node, b"%d" % i, reply_ms=20) == answer(node, b"%d" % i)
            done.append(address)

        async def dead():
            for _ in range(rounds):
                await raises_async(NoReply, ask(rig.bus.device(9), b"x", reply_ms=300))
            done.append(9)

        await asyncio.gather(healthy(1), dead(), healthy(2))
        assert sorted(done) == [1, 2, 9]
        stats = rig.bus.stats()
        assert stats["timeouts"] == 0
        await rig.check()


async def test_bad_arguments():
    """One of nbytes, until and frame must be right; requests are buffers that are not empty; nothing is sent."""
    for port in SOME:
        rig = Rig(port, max_reply=20)
        node = rig.bus.device(1)
        await ask(node, b"x")
        async with node.hold() as session:
            for operations in (node, session):
                for arguments, error in (
                    ({}, ValueError),
                    ({"nbytes": 1, "until": b"\n"}, ValueError),
                    ({"nbytes": 1, "frame": len}, ValueError),
                    ({"nbytes": 0}, ValueError),
                    ({"nbytes": -1}, ValueError),
                    ({"nbytes": 21}, ValueError),
                    ({"nbytes": "1"}, (ValueError, TypeError)),
                    ({"nbytes": 1.0}, (ValueError, TypeError)),
                    ({"until": b""}, ValueError),
                    ({"until": "\n"}, (ValueError, TypeError)),
                    ({"until": 10}, (ValueError, TypeError)),
                    ({"frame": 5}, TypeError),
                    ({"nbytes": 1, "reply_ms": -1}, ValueError),
                    ({"nbytes": 1, "reply_ms": "1"}, TypeError),
                    ({"nbytes": 1, "timeout_ms": -1}, ValueError),
                    ({"nbytes": 1, "timeout_ms": 1.5}, TypeError),
                ):
                    await raises_async(error, operations.exchange(b"1:x\n", **arguments))
                    await raises_async(error, operations.read(**arguments))
                for request, error in ((b"", ValueError), ("1:x\n", TypeError), (None, TypeError), (5, TypeError)):
                    await raises_async(error, operations.exchange(request, nbytes=1))
                    await raises_async(error, operations.write(request))
                await raises_async(ValueError, operations.write(b"x", timeout_ms=-1))
        assert rig.a.asked == [b"x"]
        assert await ask(node, b"y") == b"1=y\n"
        await rig.check()


async def test_arguments_of_the_bus():
    """What the bus is told is checked when it is made."""
    uart = UART(UartLine())
    for arguments, error in (
        ({"gap_ms": -1}, ValueError),
        ({"gap_ms": None}, (ValueError, TypeError)),
        ({"gap_ms": "1"}, TypeError),
        ({"max_reply": 0}, ValueError),
        ({"max_reply": None}, (ValueError, TypeError)),
        ({"unsolicited": 5}, TypeError),
        ({"de_active": 2}, ValueError),
        ({"de": "5"}, TypeError),
        ({"max_waiters": -1}, ValueError),
    ):
        raises(error, UARTBus, uart, **arguments)
    for wrong in (None, 5, object(), "uart0", (1, 2, 3)):
        raises(TypeError, UARTBus, wrong)
    bus = UARTBus(lambda: 5)
    await raises_async(TypeError, bus.device(1).write(b"x"))
    assert len(bus._table) == 0


async def test_addresses_of_nodes():
    """A node's address is an int or a string; asking again gives the same node; a line with one partner needs none."""
    rig = Rig()
    assert rig.bus.device() is rig.bus.device(0)
    assert rig.bus.device("gps") is rig.bus.device("gps")
    assert rig.bus.device(1) is not rig.bus.device("1")
    for wrong in (None, 1.5, [1], (1, 2)):
        raises((TypeError, ValueError), rig.bus.device, wrong)
    other = Rig(name="there")
    error = raises(NotCovered, rig.bus.hold, other.bus.device(1))
    assert "there" in str(error)
    await raises_async(NotCovered, rig.bus.call(other.bus.device(1), lambda: None))
    assert await rig.bus.device("gps").exchange(b"1:x\n", until=b"\n") == b"1=x\n"
    await rig.check()


async def test_one_bus_object_for_one_uart():
    """A second bus on the same UART is refused, for it would be a second reader (F7)."""
    rig = Rig(name="first")
    error = raises(ValueError, UARTBus, rig.made[0], name="second")
    assert "first" in str(error)
    assert await ask(rig.bus.device(1), b"x") == b"1=x\n"
    await rig.bus.aclose()
    second = UARTBus(rig.made[0])
    assert await ask(second.device(1), b"x") == b"1=x\n"
    await raises_async(ValueError, ask(rig.bus.device(1), b"x"))  # it is closed, and has no claim any more
    await second.aclose()
    assert await ask(rig.bus.device(1), b"x") == b"1=x\n"
    raises(ValueError, UARTBus, rig.made[0])
    await rig.check()


async def test_stale_input_is_drained():
    """What has come before a request is not taken for its reply: `unsolicited` gets it, or it is dropped, counted."""
    for port in PORTS:
        given = []
        for unsolicited in (None, given.append):
            rig = Rig(port, unsolicited=unsolicited)
            node = rig.bus.device(1)
            await ask(node, b"a")
            rig.line.noise(b"1=stale\n")
            await sleep(20)
            assert await ask(node, b"b") == b"1=b\n"
            rig.line.noise(b"more")
            await sleep(20)
            await node.write(b"1:c\n")
            assert await node.read(until=b"\n", reply_ms=100) == b"1=c\n"
            assert rig.bus.stats()["strays"] >= 2
            await rig.check()
        assert b"".join(given) == b"1=stale\nmore"
        assert all(isinstance(got, bytes) for got in given)


async def test_what_comes_after_a_reply():
    """Bytes that come right after a reply are not part of it: read() finds them, and a request drains them."""
    for port in PORTS:
        given = []
        rig = Rig(port, unsolicited=given.append)
        node = rig.bus.device(1)
        await node.write(b"1:one\n")
        await sleep(30)
        rig.line.noise(b"1=two\n")
        await sleep(30)
        assert await node.read(until=b"\n", reply_ms=10) == b"1=one\n"
        assert await node.read(nbytes=3, reply_ms=10) == b"1=t"
        assert given == []
        assert await ask(node, b"three") == b"1=three\n"
        assert b"".join(given) == b"wo\n"
        await rig.check()


async def test_what_unsolicited_raises():
    """An error of the `unsolicited` function ends that operation only, before it has sent anything."""
    for port in SOME:

        def unsolicited(got):
            raise KeyError(got)

        rig = Rig(port, unsolicited=unsolicited)
        node = rig.bus.device(1)
        await ask(node, b"a")
        rig.line.noise(b"x")
        await sleep(10)
        await raises_async(KeyError, ask(node, b"b"))
        assert await ask(node, b"c") == b"1=c\n"
        assert rig.a.asked == [b"a", b"c"]
        await rig.check()


async def test_the_gap_between_exchanges():
    """gap_ms: so much silence before each request, after a reply or a write; a servo ignores what comes sooner (F3)."""

    def ping(number):
        body = bytes([number, 2, 1])
        return b"\xff\xff" + body + bytes([~sum(body) & 0xFF])

    for port in PORTS:
        # With streams the gap counts from when the bytes were handed over: 6 characters before the last bit.
        gap_ms = 14 if port in STREAMS else 7
        rig = Rig(port, nodes=lambda: (Servo(1, gap_ms=5), Servo(2, gap_ms=5)), gap_ms=gap_ms)
        nodes = [rig.bus.device(n) for n in (1, 2)]

        async def user(node):
            for _ in range(4):
                reply = await node.exchange(ping(node.address), nbytes=6, reply_ms=50)
                assert reply[2] == node.address
                await node.write(ping(9))

        await asyncio.gather(*[user(node) for node in nodes])
        assert [servo.ignored for servo in rig.nodes] == [0, 0]
        assert [servo.broken for servo in rig.nodes] == [0, 0]
        await rig.check()


async def test_no_gap_where_none_is_needed():
    """After a pause that was long enough anyway, gap_ms costs nothing."""
    for port in SOME:
        rig = Rig(port, gap_ms=50)
        node = rig.bus.device(1)
        await ask(node, b"a")
        start = clock.now()
        await ask(node, b"a")
        waited = clock.now() - start
        await sleep(60)
        start = clock.now()
        await ask(node, b"a")
        assert 45 <= waited - (clock.now() - start) <= 52
        await rig.check()


async def test_something_that_comes_in_the_gap():
    """A reply that is sent twice is over, and thrown away, before the next request: the gap is silence."""
    for port in PORTS:
        for gap_ms, again_ms in ((15, 10), (15, 1), (30, 25)):
            given = []
            rig = Rig(port, gap_ms=gap_ms, unsolicited=given.append)
            one, two = rig.bus.device(1), rig.bus.device(2)
            rig.a.fail("twice", ms=again_ms, times=2)
            assert await ask(one, b"first") == b"1=first\n"
            assert await ask(one, b"next") == b"1=next\n"
            assert await ask(two, b"other") == b"2=other\n"
            assert b"".join(given) == b"1=first\n1=next\n"
            await rig.check()


async def test_the_echo_is_removed():
    """On a single wire what is sent comes back: it is removed, checked, and no part of the reply."""
    for port in PORTS:
        rig = Rig(port, echo=True)
        one, two = rig.bus.device(1), rig.bus.device(2)
        for _ in range(2):
            assert await ask(one, b"hello") == b"1=hello\n"
            assert await two.exchange(b"2:x\n", nbytes=4) == b"2=x\n"
            await one.write(b"1:y\n")
            assert await one.read(until=b"\n", reply_ms=100) == b"1=y\n"
            async with one.hold(wire=True) as session:
                assert await session.exchange(b"1:z\n", until=b"\n") == b"1=z\n"
        assert rig.bus.stats()["strays"] == 0
        await rig.check()


async def test_a_long_echo():
    """A request longer than the receive buffer of the port does not lose its echo."""
    for port in PORTS:
        rig = Rig(port, echo=True)
        node = rig.bus.device(1)
        text = bytes([48 + n % 50 for n in range(200)])
        assert await ask(node, text) == answer(node, text)
        assert rig.line.overruns == 0
        await rig.check()


async def test_a_wrong_echo():
    """An echo that differs is a TransferError, a missing one too: somebody else talks. The next exchange is right."""
    for port in PORTS:
        rig = Rig(port, echo=True)
        one, two = rig.bus.device(1), rig.bus.device(2)
        await ask(one, b"x")
        rig.line.noise(b"\x00")  # on top of ours
        error = await raises_async(TransferError, ask(one, b"hello", reply_ms=50))
        assert "uart" in str(error) and "echo" in str(error)
        assert await ask(two, b"y") == b"2=y\n"
        rig.line.echo = False
        await raises_async((TransferError, NoReply), ask(one, b"hello", reply_ms=50))
        # Where nobody answers, it is certain that nothing came back.
        error = await raises_async(TransferError, one.write(b"9:nobody\n"))
        assert "echo" in str(error) and "cut" in str(error)
        rig.line.echo = True
        assert await ask(two, b"z") == b"2=z\n"
        await rig.check()


async def test_a_long_write_leaves_the_loop_to_others():
    """On UARTs with a buffer for it other tasks run while a long request is sent, and none of it is lost (F8)."""
    for port in ("rp2", "esp32") + STREAMS:
        rig = Rig(port)
        one = rig.bus.device(1)
        await ask(one, b"x")
        ticks = []

        async def ticker():
            while True:
                ticks.append(clock.now())
                await sleep(1)

        task = asyncio.create_task(ticker())
        text = b"0123456789" * 20
        assert await ask(one, text) == answer(one, text)
        longest = max(b - a for a, b in zip(ticks, ticks[1:]))
        assert longest < 10
        assert len(ticks) > 150
        await cancel(task)
        await rig.check()


class Small(ReadChecked):
    """A UART with room for 16 bytes; its write() takes what there is room for and says None for nothing, at once."""

    def write(self, buf):
        room = 16 - self.uart.line.waiting()
        return self.uart.write(buf[:room]) if room > 0 else None


async def test_a_buffer_that_is_full():
    """What a UART does not take at once is given to it again when it has sent some: nothing is lost, and others run."""
    for de in (False, True):
        rig = Rig("rp2", wrap=Small, de=de)
        one, two = rig.bus.device(1), rig.bus.device(2)
        text = b"0123456789" * 10
        task = asyncio.create_task(ask(one, text, reply_ms=100))
        turned = 0
        while not rig.a.asked:
            await sleep(2)
            turned += 1
        assert turned > 45  # of 108 ms
        assert await task == answer(one, text)
        # reset() in the middle of it: that task gives up at once, and the rest is not sent.
        task = asyncio.create_task(raises_async(NotHeld, ask(one, text, reply_ms=100)))
        await sleep(30)
        rig.bus.reset()
        await turns()
        await sleep(2)
        assert task.done()
        await sleep(40)
        assert await ask(two, b"y", reply_ms=100) == b"2=y\n"
        assert rig.a.asked == [text]
        await rig.check()


async def test_a_transaction_under_the_own_hold():
    """It runs under the hold that the task has: of the key, and of the line too."""
    for rig in rigs(SOME):
        one, two = rig.bus.device(1), rig.bus.device(2)
        txn = rig.bus.transaction()
        for n in range(3):
            txn.exchange(1, b"1:%d\n" % n, until=b"\n")
        for wire in (False, True):
            async with one.hold(wire=wire):
                waiting = asyncio.create_task(ask(two, b"other"))
                assert await txn.execute() == [b"1=0\n", b"1=1\n", b"1=2\n"]
                assert not wire or not waiting.done()
            assert await waiting == b"2=other\n"
        await rig.check()


async def test_operations_are_coroutines():
    """What an operation returns can be given to gather, create_task and wait_for, and closed unused."""
    for rig in rigs(SOME):
        one, two = rig.bus.device(1), rig.bus.device(2)
        results = await asyncio.gather(
            ask(one, b"a"), ask(two, b"b"), two.write(b"x\n"), rig.bus.call(one, lambda: 42), ask(one, b"c")
        )
        assert results == [b"1=a\n", b"2=b\n", None, 42, b"1=c\n"]
        assert await asyncio.create_task(ask(one, b"d")) == b"1=d\n"
        assert await asyncio.wait_for(ask(one, b"e"), 5) == b"1=e\n"
        unused = ask(one, b"f")
        unused.close()
        task = asyncio.create_task(use_key(one, 20))
        await turns()
        await raises_async(asyncio.TimeoutError, asyncio.wait_for(ask(one, b"g"), 0.005))
        await task
        assert rig.a.asked == [b"a", b"c", b"d", b"e"]
        await rig.check()


async def test_who_has_the_line_and_asks_for_more():
    """With the line held, everything else of that bus is Reentry, and names both."""
    for rig in rigs(SOME):
        one, two = rig.bus.device(1), rig.bus.device(2)
        async with one.hold(wire=True) as session:
            for operate in (
                lambda: ask(two, b"x"),
                lambda: two.write(b"x"),
                lambda: two.read(nbytes=1),
                lambda: use_key(two, 0),
                lambda: use_line(two, 0),
                lambda: use_line(one, 0),
                lambda: rig.bus.call(two, lambda: None),
                lambda: rig.bus.aclose(),
            ):
                error = await raises_async(Reentry, operate())
                assert "uart" in str(error)
            assert await session.exchange(b"1:x\n", until=b"\n") == b"1=x\n"
        async with two.hold() as other:
            async with one.hold(wire=True):
                await raises_async(Reentry, other.exchange(b"2:x\n", until=b"\n"))
                await raises_async(Reentry, ask(two, b"x"))
        assert rig.a.asked == [b"x"]
        assert rig.b.asked == []
        await rig.check()


async def test_a_driver_with_the_raw_uart():
    """call() and hold(wire=True) give the line to a driver that uses the raw UART, and keep the others off it."""
    for rig in rigs([port for port in PORTS if port not in STREAMS]):
        one, two = rig.bus.device(1), rig.bus.device(2)
        uart = rig.made[0]

        def driver(text):
            uart.write(b"1:" + text + b"\n")
            got = b""
            while not got.endswith(b"\n"):
                clock.advance(1)
                got += uart.read(20) or b""
            return got

        async def others():
            for _ in range(4):
                assert await ask(two, b"x") == b"2=x\n"

        async def mine():
            assert await rig.bus.call(one, driver, b"raw") == b"1=raw\n"
            async with one.hold(wire=True):
                assert driver(b"held") == b"1=held\n"
                await sleep(3)
                assert await rig.bus.call(one, driver, b"both") == b"1=both\n"
            for error in (KeyError("x"), OSError(5, "x")):

                def failing():
                    raise error

                assert await raises_async(type(error), rig.bus.call(one, failing)) is error
                assert await raises_async(type(error), fail_with_the_line(one, error)) is error

        await asyncio.gather(mine(), others(), others())
        await rig.check()


async def fail_with_the_line(node, error):
    async with node.hold(wire=True):
        raise error


async def test_a_bus_made_on_first_use():
    """Several tasks at a bus that is made on first use: one call of the factory, and all get their answers."""
    for port in PORTS:
        for factory in ("sync", "async"):
            rig = Rig(port, factory=factory)
            assert rig.made == []
            one, two = rig.bus.device(1), rig.bus.device(2)
            assert await asyncio.gather(ask(one, b"a"), ask(two, b"b"), ask(one, b"c")) == [
                b"1=a\n",
                b"2=b\n",
                b"1=c\n",
            ]
            assert len(rig.made) == 1
            await rig.check()


async def test_stats():
    """stats() counts waits, silences, errors and strays, and names the node with the longest line."""
    for rig in rigs(SOME):
        one, two = rig.bus.device(1), rig.bus.device(2)
        for event in ("entries", "waits", "timeouts", "errors", "wire_waits", "strays", "silences"):
            assert rig.bus.stats()[event] == 0
        await ask(one, b"x")
        tasks = [asyncio.create_task(ask(one, b"x")) for _ in range(4)]
        await turns(3)
        await raises_async(LockTimeout, ask(one, b"x", timeout_ms=0))
        await asyncio.gather(*tasks)
        rig.a.fail("silent")
        await raises_async(NoReply, ask(one, b"x", reply_ms=20))
        await raises_async(TransferError, two.exchange(b"2:x\n", frame=lambda buf: False))
        rig.line.noise(b"stray")
        await sleep(20)
        await ask(two, b"x")
        stats = rig.bus.stats()
        assert stats["entries"] == 0
        assert stats["waits"] == 3
        assert stats["timeouts"] == 1
        assert stats["silences"] == 1
        assert stats["errors"] == 1
        assert stats["strays"] >= 1
        assert stats["longest_queue"] == 3
        assert stats["longest_queue_key"] == 1
        await rig.check()


def test_the_lists_of_ports_are_complete():
    """Every habit of the simulator's ports is met by these tests."""
    from buslock_sim import uartports

    assert set(PORTS) == set(uartports.MACHINE) | set(uartports.BUSIO) | set(STREAMS)
