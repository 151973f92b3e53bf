"""Long writes in pieces: a display frame gives up the loop, and the wire where the device allows."""

import asyncio

from buslock import LockTimeout, TransferError
from spi_rig import PORTS, SOME, Echo, Rig, cancel, go_on, rigs, sleep, use_key
from support import clock
from support.turns import raises_async, turns

CLOCK = "virtual"

FRAME = bytes(range(100))


def pieces(rig):
    """The lengths of the writes to a that there were, one list for each selection."""
    found = []
    for operation, whom, data in rig.wire.transcript.steps():
        if whom != "a":
            continue
        if operation == "select":
            found.append([])
        elif operation == "write":
            found[-1].append(len(data))
    rig.wire.transcript.clear()
    return found


async def test_pieces_with_cs_kept():
    """chunk=n: pieces of n bytes with CS active throughout; others run in between, but nobody else gets the wire."""
    for rig in rigs():
        a = rig.bus.device(rig.cs("a"), chunk=32)
        b = rig.bus.device(rig.cs("b"))
        turns_of_others = []

        async def other():
            await b.write(b"\x01")
            assert len(rig.a.heard[0]) == 100

        async def ticker():
            while len(turns_of_others) < 20:
                turns_of_others.append(len(rig.a.heard[0]) if rig.a.heard else 0)
                await go_on(1)

        await b.write(b"\x00")
        pieces(rig)
        assert await asyncio.gather(a.write(FRAME), other(), ticker()) == [None, None, None]
        assert len(set(turns_of_others)) >= 4  # seen between the pieces
        assert rig.a.listen() == [FRAME]
        assert pieces(rig) == [[32, 32, 32, 4]]
        rig.check()


async def test_pieces_with_cs_idle_in_between():
    """chunk=(n, False): CS goes idle after each piece and others get the wire, but not the device."""
    for rig in rigs():
        a = rig.bus.device(rig.cs("a"), chunk=(40, False))
        b = rig.bus.device(rig.cs("b"))
        seen = []

        async def other():
            for _ in range(3):
                assert await b.read(1) == b"\xa5"
                seen.append(len(rig.a.heard))
                await turns()

        await b.write(b"\x00")
        pieces(rig)
        await asyncio.gather(a.write(FRAME), a.write(b"\xee"), other())
        assert rig.a.listen() == [FRAME[:40], FRAME[40:80], FRAME[80:], b"\xee"]
        assert pieces(rig) == [[40], [40], [20], [1]]
        assert len(set(seen)) > 1 and max(seen) < 4
        rig.check()


async def test_pieces_of_several_buffers():
    """Several buffers of any kind are cut each for itself; what is short goes in one piece; bad ones are refused."""
    for rig in rigs():
        a = rig.bus.device(rig.cs("a"), chunk=3)
        await a.write(b"\x01\x02\x03\x04", bytearray(b"\x05\x06"), memoryview(b"\x00\x07\x08\x09")[1:])
        assert rig.a.listen() == [b"\x01\x02\x03\x04\x05\x06\x07\x08\x09"]
        assert pieces(rig) == [[3, 1, 2, 3]]
        for bad, error in (((), ValueError), ((b"",), ValueError), ((b"\x01", "a"), TypeError), ((5,), TypeError)):
            await raises_async(error, a.write(*bad))
        await raises_async(ValueError, a.write(b"\x01", timeout_ms=-1))
        assert rig.a.listen() == []
        assert await a.write_then_read(b"\x01\x02\x03\x04", 4) == b"\x5a" * 4  # only writes are cut
        rig.check()


async def test_others_wait_for_one_piece_at_most():
    """With a frame of 320 ms cut into pieces of 20 ms, a task that wakes meanwhile and wants the bus soon has it (I4)."""
    for port in PORTS:
        rig = Rig(port)
        a = rig.bus.device(rig.cs("a"), baudrate=100_000, chunk=(250, False))
        b = rig.bus.device(rig.cs("b"))
        longest = []
        frame = asyncio.create_task(a.write(bytes(4000)))
        while not frame.done():
            wanted = clock.now_us() + 1000
            await sleep(1)
            assert await b.read(1) == b"\xa5"
            longest.append(clock.now_us() - wanted)
        await frame
        assert len(longest) > 4
        assert max(longest) < 65000  # three pieces: CPython's loop runs what is ready before it looks at its timers
        rig.check()


async def test_pieces_under_the_own_hold():
    """A long plain write under the task's own hold, or in its own selection, is cut too; a session's write is not."""
    for port in PORTS:
        for chunk in (40, (40, False)):
            rig = Rig(port)
            a = rig.bus.device(rig.cs("a"), chunk=chunk)
            ran = [0]

            async def ticker():
                while True:
                    ran[0] += 1
                    await go_on(1)

            task = asyncio.create_task(ticker())
            async with a.hold() as session:
                before = ran[0]
                await a.write(FRAME)
                assert ran[0] >= before + 2
                heard = rig.a.listen()
                assert b"".join(heard) == FRAME
                assert len(heard) == (1 if chunk == 40 else 3)
                assert sum(pieces(rig), []) == [40, 40, 20]
                await session.write(FRAME)
                assert pieces(rig) == [[100]]
                async with session.select() as spi:
                    await spi.write(b"\x01")
                    await a.write(FRAME)
                    await spi.write(FRAME)
                assert pieces(rig) == [[1, 40, 40, 20, 100]]
            async with a.select() as spi:
                before = ran[0]
                await a.write(FRAME)
                assert ran[0] >= before + 2
                await spi.write(b"\x01")
            assert pieces(rig) == [[40, 40, 20, 1]]
            async with rig.bus.hold_all():
                await a.write(FRAME)
            assert sum(pieces(rig), []) == [40, 40, 20]
            await cancel(task)
            rig.check()


async def test_pieces_cancelled_at_every_step():
    """A long write cancelled at any step leaves CS idle and nothing held; what was sent so far is whole pieces."""
    for port in PORTS:
        for chunk in (40, (40, False)):
            step = 0
            seen = set()
            while True:
                rig = Rig(port)
                a = rig.bus.device(rig.cs("a"), chunk=chunk)
                b = rig.bus.device(rig.cs("b"))
                task = asyncio.create_task(a.write(FRAME))
                await go_on(step, us=50)
                done = task.done()
                await cancel(task)
                assert rig.wire.selected() == []
                seen.add(len(b"".join(rig.a.listen())))
                assert await b.read(1) == b"\xa5"
                await a.write(b"\x01")
                assert rig.a.listen() == [b"\x01"]
                rig.check()
                if done:
                    break
                step += 1
            assert {0, 40, 80, 100} <= seen or port == "awaited"
            assert seen <= {0, 40, 80, 100} or port == "awaited"


async def test_a_piece_that_fails():
    """A piece that fails ends the write: the error goes to the caller, CS is idle, the next write whole."""
    for port in PORTS:
        for chunk in (40, (40, False)):
            for skip in range(3):
                rig = Rig(port)
                a = rig.bus.device(rig.cs("a"), chunk=chunk)
                await a.write(b"\x00")
                rig.wire.fail_call(at=skip + 1, what="write")
                await raises_async(TransferError, a.write(FRAME))
                assert rig.wire.selected() == []
                rig.a.listen()
                await a.write(FRAME)
                assert b"".join(rig.a.listen()) == FRAME
                rig.check()


async def test_pieces_and_time():
    """timeout_ms bounds the wait for key and wire of a long write, not its transfer."""
    for port in SOME:
        for chunk in (100, (100, False)):
            rig = Rig(port)
            a = rig.bus.device(rig.cs("a"), baudrate=100_000, chunk=chunk)
            task = asyncio.create_task(use_key(a, 10))
            await turns(3)
            await raises_async(LockTimeout, a.write(FRAME, timeout_ms=0))
            await raises_async(LockTimeout, a.write(FRAME, timeout_ms=5))
            assert rig.a.listen() == []
            await a.write(FRAME * 5, timeout_ms=15)  # 40 ms
            await task
            assert b"".join(rig.a.listen()) == FRAME * 5
            rig.check()


async def test_two_long_writes():
    """Two tasks that write long frames to two devices by turns of pieces: both arrive whole."""
    for port in PORTS:
        rig = Rig(port, chips=(Echo(1), Echo(2)))
        a = rig.bus.device(rig.cs("a"), chunk=(30, False))
        b = rig.bus.device(rig.cs("b"), chunk=(30, False))
        await asyncio.gather(a.write(FRAME), b.write(FRAME), a.write(FRAME), b.write(FRAME))
        assert b"".join(rig.a.listen()) == FRAME + FRAME
        assert b"".join(rig.b.listen()) == FRAME + FRAME
        rig.check()
