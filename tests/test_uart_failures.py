"""Replies that do not come, come late, cut or noisy, and exchanges that are interrupted: the next one is right."""

import asyncio

from buslock import (
    ERRORS,
    BusClosed,
    DeadlineExceeded,
    LockTimeout,
    NoReply,
    NotHeld,
    TransferError,
    deadline,
)
from buslock_sim import ModbusNode
from support import clock, modbus
from support.small import sampled, samples
from support.turns import raises_async, turns
from uart_rig import (
    BUSIO,
    CPYTHON,
    MACHINE,
    PORTS,
    SOME,
    STREAMS,
    Liner,
    ReadChecked,
    Rig,
    answer,
    ask,
    cancel,
    go_on,
    record_calls,
    rigs,
    sleep,
    turning_points,
    use_key,
    use_line,
)

CLOCK = "virtual"
LEFT_OUT = {
    "pico": {
        "more memory than a Pico has: four seconds of noise, each character an object of the simulator": (
            "test_a_line_that_is_never_quiet",
        ),
    }
}


async def all_is_well(rig):
    """The next exchange of either node is right, and the line is at rest after it."""
    one, two = rig.bus.device(1), rig.bus.device(2)
    assert await ask(two, b"fine") == b"2=fine\n"
    assert rig.de_idle()
    assert await ask(one, b"well") == b"1=well\n"
    await rig.check()


async def test_silence():
    """A node that does not answer is NoReply, whose text says what to look at; the line is free (A8)."""
    for rig in rigs(name="rs485"):
        one = rig.bus.device(1)
        rig.a.fail("silent")
        start = clock.now()
        error = await raises_async(NoReply, ask(one, b"x", reply_ms=100))
        assert isinstance(error, OSError)
        assert isinstance(error.args[0], int)
        assert "rs485" in str(error) and "100 ms" in str(error)
        assert 100 <= clock.now() - start <= 112
        await all_is_well(rig)


async def test_a_dead_node_among_waiting_tasks():
    """Whoever stands in line behind a silent node comes when that one has given up, and loses nothing (A8)."""
    for rig in rigs():
        rig.a.fail("silent", times=3)
        results = await asyncio.gather(
            *[ask(rig.bus.device(1 + n % 2), b"%d" % n, reply_ms=60) for n in range(6)],
            return_exceptions=True,
        )
        assert [type(result) for result in results[0::2]] == [NoReply] * 3
        assert results[1::2] == [b"2=1\n", b"2=3\n", b"2=5\n"]
        await all_is_well(rig)


async def test_a_late_reply():
    """A reply that comes after reply_ms is over is never taken for the next one's, of whichever node that is."""
    for port in PORTS:
        for late_ms in (52, 60, 75, 85):
            for again in (1, 2):
                given = []
                rig = Rig(port, unsolicited=given.append)
                one = rig.bus.device(1)
                rig.a.fail("late", ms=late_ms)
                await raises_async(NoReply, ask(one, b"late", reply_ms=50))
                node = rig.bus.device(again)
                assert await ask(node, b"next", reply_ms=50) == answer(node, b"next")
                assert b"".join(given) == b"1=late\n"
                await all_is_well(rig)


async def test_a_reply_that_is_late_within_its_time():
    """A reply that comes before reply_ms is over is the reply, however late."""
    for rig in rigs():
        rig.a.fail("late", ms=40)
        assert await ask(rig.bus.device(1), b"x", reply_ms=50) == b"1=x\n"
        await all_is_well(rig)


async def test_a_reply_that_is_cut():
    """Part of a reply is no reply: NoReply after the silence, and the part is not found by the next one."""
    for rig in rigs():
        one = rig.bus.device(1)
        for cut_at in (1, 3, 6):
            for arguments in ({"until": b"\n"}, {"nbytes": 8}, {"frame": lambda buf: len(buf) == 8 or None}):
                rig.a.fail("cut", at=cut_at)
                error = await raises_async(NoReply, one.exchange(b"1:hello\n", reply_ms=30, **arguments))
                assert "%d bytes" % cut_at in str(error)
                assert await ask(one, b"next") == b"1=next\n"
        await all_is_well(rig)


async def test_a_reply_that_is_too_long():
    """More than max_reply bytes without an end are invalid, and what is still to come is thrown away."""
    for port in PORTS:
        rig = Rig(port, max_reply=20)
        one = rig.bus.device(1)
        text = b"0123456789abcdefg"
        assert await ask(one, text) == answer(one, text)  # 20 bytes with address and end
        for n in (18, 60):
            error = await raises_async(TransferError, ask(one, b"x" * n, reply_ms=150))
            assert "20" in str(error)
            assert await ask(one, b"next") == b"1=next\n"
        await all_is_well(rig)


async def test_an_invalid_reply():
    """What the frame function calls invalid is a TransferError at once; the rest of it is thrown away."""
    for port in PORTS:
        given = []
        rig = Rig(port, unsolicited=given.append)
        one = rig.bus.device(1)

        def frame(buf):
            if not b"1=".startswith(bytes(buf[:2])):
                return False
            return buf.endswith(b"\n") or None

        rig.a.fail("garbage", seed=7)
        start = clock.now()
        await raises_async(TransferError, one.exchange(b"1:hello\n", frame=frame, reply_ms=1000))
        assert clock.now() - start < 40
        start = clock.now()
        assert await one.exchange(b"1:next\n", frame=frame, reply_ms=1000) == b"1=next\n"
        # An answer has come, so there is no late one to wait for: only for quiet.
        assert clock.now() - start < 150
        assert b"".join(given).endswith(b"1=hello\n"[-3:])
        await all_is_well(rig)


async def test_a_frame_function_that_raises():
    """What the frame function raises goes to the caller, and the rest of that reply is thrown away."""
    for rig in rigs():

        def frame(buf):
            raise KeyError(len(buf))

        await raises_async(KeyError, rig.bus.device(1).exchange(b"1:hello\n", frame=frame))
        await all_is_well(rig)


def read_register(node, register, **arguments):
    return node.exchange(modbus.request(node.address, register), frame=modbus.frame(node.address), **arguments)


async def test_wrong_check_sums():
    """Replies with a wrong CRC, or a wrong bit anywhere, are never returned; the next one is right."""
    for port in PORTS:
        rig = Rig(port, nodes=lambda: (ModbusNode(1, {5: 0x1234}), ModbusNode(2, {5: 0x4321})), gap_ms=6)
        one, two = rig.bus.device(1), rig.bus.device(2)
        for kind, at in (("crc", None), ("noise", 0), ("noise", 1), ("noise", 2), ("noise", 3), ("noise", 6)):
            rig.a.fail(kind, at=at)
            await raises_async((TransferError, NoReply), read_register(one, 5, reply_ms=30))
            assert (await read_register(two, 5, reply_ms=100))[3:5] == b"\x43\x21"
            assert (await read_register(one, 5, reply_ms=100))[3:5] == b"\x12\x34"
        await rig.check()


async def test_a_line_that_is_never_quiet():
    """Draining ends, even where somebody talks for ever: the next exchange begins in bounded time."""
    for port in SOME:
        rig = Rig(port, nodes=lambda: (Liner(1), Liner(2, full_duplex=True)))
        one = rig.bus.device(1)
        await ask(one, b"x")
        rig.line.noise(b"#" * 4000)  # more than four seconds
        start = clock.now()
        await raises_async(TransferError, one.exchange(b"1:hello\n", frame=lambda buf: False, reply_ms=100))
        sent = asyncio.create_task(one.write(b"1:more\n"))
        while not sent.done():
            await sleep(5)
        assert clock.now() - start < 1600
        await sent
        await sleep(4000)
        await all_is_well(rig)


async def test_read_none():
    """A read() of the port that gives None although something was there is no data, and no error (F5)."""

    class Hesitant(ReadChecked):
        reads = 0

        def read(self, n):
            self.reads += 1
            return self.uart.read(n) if self.reads % 3 == 0 else None

    rig = Rig(wrap=Hesitant)
    for n in range(5):
        assert await ask(rig.bus.device(1), b"%d" % n) == b"1=%d\n" % n
    rig.a.fail("silent")
    await raises_async(NoReply, ask(rig.bus.device(1), b"x", reply_ms=20))
    assert rig.made[0].reads > 10
    await all_is_well(rig)


def every_operation(rig):
    """(a coroutine function, whether it asks node 1)"""
    one = rig.bus.device(1)

    async def in_a_session():
        async with one.hold() as session:
            await session.exchange(b"1:a\n", until=b"\n", reply_ms=40)
            await session.write(b"9:b\n")

    async def with_the_line():
        async with one.hold(wire=True) as session:
            await session.exchange(b"1:a\n", until=b"\n", reply_ms=40)
            await session.write(b"9:b\n")

    return (
        lambda: ask(one, b"hello", reply_ms=40),
        lambda: one.write(b"9:hello\n"),
        in_a_session,
        with_the_line,
    )


OPERATIONS = 4


async def test_cancelled_at_every_step():
    """An exchange cancelled at any step of its way leaves the line usable: the next one, of any node, is right."""
    turn = 0
    for port in PORTS:
        for n in range(OPERATIONS if port in SOME else 2):
            for obstacle in (None, use_key, use_line) if port in SOME else (None,):
                turn += 1
                if not sampled(turn):
                    continue
                for step in samples(0, 3 if port in SOME else 7):
                    rig = Rig(port)
                    if obstacle is None:
                        before = None
                    else:
                        before = asyncio.create_task(obstacle(rig.bus.device(1), 1))
                        await turns(3)
                    task = asyncio.create_task(every_operation(rig)[n]())
                    await go_on(step)
                    done = task.done()
                    await cancel(task)
                    if before is not None:
                        await before
                    await all_is_well(rig)
                    if done:
                        break
                assert step > 5


async def test_timed_out_at_every_step():
    """The same with a deadline around it: DeadlineExceeded, and the next exchange is right."""
    for port in SOME:
        for n in range(OPERATIONS):
            for ms in samples(0, 3):
                rig = Rig(port)
                try:
                    async with deadline(ms):
                        await every_operation(rig)[n]()
                    done = True
                except DeadlineExceeded:
                    done = False
                await all_is_well(rig)
                if done:
                    break
            assert ms > 0


async def test_cancelled_behind_a_failure():
    """A task that is cancelled while it cleans up after somebody else's failure leaves the cleaning to the next one."""
    for port in PORTS:
        for ms in (0, 10, 25, 45):
            rig = Rig(port)
            one, two = rig.bus.device(1), rig.bus.device(2)
            rig.a.fail("late", ms=70)
            await raises_async(NoReply, ask(one, b"late", reply_ms=50))
            task = asyncio.create_task(ask(one, b"impatient"))
            await turns(3)
            await sleep(ms)
            await cancel(task)
            assert await ask(two, b"x") == b"2=x\n"
            assert await ask(one, b"y") == b"1=y\n"
            await all_is_well(rig)


async def test_a_read_cut_off_in_a_frame():
    """A read() that is cancelled, or gives up, in the middle of a sentence: its rest is not the next one's reply."""
    for port in PORTS:
        for way in ("cancelled", "silence"):
            given = []
            rig = Rig(port, nodes=lambda: (Liner(1), Liner(2)), unsolicited=given.append)
            one = rig.bus.device(1)
            await ask(one, b"x")
            rig.line.noise(b"$GPRMC,")
            rig.line.noise(b"1=2\n", in_ms=30)
            if way == "cancelled":
                task = asyncio.create_task(one.read(until=b"\n"))
                await sleep(15)
                await cancel(task)
            else:
                await raises_async(NoReply, one.read(until=b"\n", reply_ms=10))
            assert await ask(one, b"y") == b"1=y\n"
            await all_is_well(rig)


async def failing_at_every_call(port, n, after, error, ours):
    """Operation n with each kind of call of the UART failing in turn, before or after it has done its work."""
    rig = Rig(port)
    await ask(rig.bus.device(2), b"warm")
    names = record_calls(rig.line)
    await every_operation(rig)[n]()
    await rig.check()
    places = turning_points(names)
    for at in places:
        rig = Rig(port)
        await ask(rig.bus.device(2), b"warm")
        rig.line.fail_call(at=at + 1, after=after, error=error)
        try:
            await every_operation(rig)[n]()
            failed = None
        except BaseException as caught:
            failed = caught
        # A call whose failure does no harm may be swallowed, as that of flush(); what is raised is ours.
        assert failed is None or isinstance(failed, ours), repr(failed)
        rig.line.works_again()
        await all_is_well(rig)
    return len(places)


async def test_every_call_that_fails():
    """Each call of the UART fails once, before or after its work: the error is ours, and the next one is right."""
    faults = turn = 0
    for port in PORTS:
        for n in range(OPERATIONS if port in SOME else 1):
            for after in (False, True):
                turn += 1
                if not sampled(turn):
                    continue
                calls = await failing_at_every_call(port, n, after, None, ERRORS)
                assert calls > 0
                faults += calls
    print("faults: %d of UART's calls, OSError" % faults)


async def test_every_call_that_raises_something_else():
    """The same with what is no OSError, and with Ctrl-C: it goes to the caller as it is."""
    faults = turn = 0
    for error in (RuntimeError, KeyboardInterrupt):
        for port in SOME:
            for n in range(OPERATIONS):
                turn += 1
                if not sampled(turn):
                    continue
                faults += await failing_at_every_call(port, n, False, error, error)
    print("faults: %d of UART's calls, other errors" % faults)


async def test_reset_in_an_exchange():
    """reset() in the middle of an exchange: that task does not go on reading beside the next one (F7)."""
    for port in PORTS:
        # A stream of the boards takes a reply in one go when it has begun: UART.read() waits for the next character.
        for ms in (3, 14, 20, 25) if CPYTHON or port not in STREAMS else (3, 14):
            rig = Rig(port)
            one, two = rig.bus.device(1), rig.bus.device(2)
            await ask(two, b"x")
            start = clock.now()
            exchange = ask(one, b"0123456789", reply_ms=100)
            task = asyncio.create_task(raises_async((NotHeld, BusClosed), exchange))
            await turns(3)
            waiting = asyncio.create_task(raises_async(BusClosed, ask(two, b"w")))
            await turns(2)
            while clock.now() - start < ms:
                await sleep(1)
            assert not task.done()
            rig.bus.reset()
            assert await ask(two, b"y") == b"2=y\n"
            await waiting
            await task
            await all_is_well(rig)


async def test_aclose():
    """aclose() waits for the exchange under way, fails those who wait, and the next use makes the UART anew."""
    for port in PORTS:
        rig = Rig(port, factory="sync")
        one, two = rig.bus.device(1), rig.bus.device(2)
        await ask(one, b"x")
        task = asyncio.create_task(ask(one, b"hello"))
        await turns(3)
        waiting = asyncio.create_task(raises_async(BusClosed, ask(two, b"w")))
        await turns(3)
        closing = asyncio.create_task(rig.bus.aclose())
        await turns(2)
        late = asyncio.create_task(raises_async(BusClosed, ask(two, b"late")))
        await asyncio.gather(waiting, late)
        assert not closing.done()
        await closing
        assert await task == b"1=hello\n"
        assert len(rig.made) == 1
        assert await ask(two, b"again") == b"2=again\n"
        assert len(rig.made) == 2
        await all_is_well(rig)


async def test_aclose_gives_up():
    """aclose() with a time limit that is over leaves the bus open, and says who has the line."""
    for rig in rigs(SOME):
        one, two = rig.bus.device(1), rig.bus.device(2)
        await ask(one, b"x")
        task = asyncio.create_task(use_line(one, 30))
        await turns(3)
        error = await raises_async(LockTimeout, rig.bus.aclose(timeout_ms=5))
        assert "use_line" in str(error)
        assert await ask(two, b"y") == b"2=y\n"
        await task
        await all_is_well(rig)


async def test_a_node_that_comes_back():
    """A node that was switched off answers again when it is on; nothing of the time in between is left."""
    for rig in rigs():
        one = rig.bus.device(1)
        rig.line.detach(rig.a)
        for _ in range(3):
            await raises_async(NoReply, ask(one, b"x", reply_ms=20))
        rig.line.attach(rig.a)
        assert await ask(one, b"y") == b"1=y\n"
        await all_is_well(rig)


def test_the_lists_are_what_they_seem():
    """All operations are gone through, and streams are met where there are any."""
    assert len(every_operation(Rig())) == OPERATIONS
    assert set(STREAMS) <= set(PORTS)


async def test_a_failure_between_exchanges():
    """Receiving fails in the silence before a request, or while a late reply is waited for: the error is ours."""
    for port in MACHINE + BUSIO:
        look = "in_waiting" if port in BUSIO else "any"
        rig = Rig(port, gap_ms=20)
        one, two = rig.bus.device(1), rig.bus.device(2)
        for at in (1, 2, 4):
            await ask(one, b"x")
            rig.line.fail_call(at=at, what=look)
            error = await raises_async(TransferError, ask(one, b"y", reply_ms=50))
            assert "receiving failed" in str(error)
            assert len(rig.bus._table) == 0 and not rig.bus._wire.locked()
        rig.a.asked.clear()
        rig.a.fail("late", ms=60)
        await raises_async(NoReply, ask(one, b"late", reply_ms=50))
        for at in (1, 3):
            rig.line.fail_call(at=at, what=look)
            error = await raises_async(TransferError, ask(two, b"z", reply_ms=50))
            assert "receiving failed" in str(error)
        assert rig.b.asked == []
        await all_is_well(rig)


async def test_a_late_reply_takes_longer_than_there_is_time():
    """timeout_ms bounds the wait for it, too; the next one waits for what is left of it."""
    for port in PORTS:
        rig = Rig(port)
        one, two = rig.bus.device(1), rig.bus.device(2)
        rig.a.fail("late", ms=250)
        await raises_async(NoReply, ask(one, b"late", reply_ms=200))
        start = clock.now()
        error = await raises_async(LockTimeout, ask(two, b"x", timeout_ms=10))
        assert "still being waited for after 10 ms" in str(error)
        assert 10 <= clock.now() - start <= 12
        assert rig.bus._wire.waiters == 0 and not rig.bus._wire.locked()
        assert await ask(two, b"y") == b"2=y\n"
        assert clock.now() - start < 260
        await all_is_well(rig)


async def test_reset_while_a_late_reply_is_waited_for():
    """Who waits for it finds the bus reset, and gives nothing up that is another one's by then."""
    for port in PORTS:
        rig = Rig(port)
        one, two = rig.bus.device(1), rig.bus.device(2)
        rig.a.fail("silent")
        await raises_async(NoReply, ask(one, b"x", reply_ms=200))
        task = asyncio.create_task(raises_async(NotHeld, ask(two, b"y")))
        await sleep(50)
        rig.bus.reset()
        async with one.hold(wire=True) as session:
            assert task.done() or port in STREAMS
            await task
            assert rig.bus._wire.locked()
            await session.write(b"9:z\n")
        await all_is_well(rig)
