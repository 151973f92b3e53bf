"""What a traced UARTBus tells: an exchange is one transfer from request to reply; the drive is enabled while it sends."""

import asyncio

from buslock import NoReply
from support.turns import gather_all, raises_async, turns
from trace_rig import Dump, told, traced
from uart_rig import PORTS, STREAMS, Rig, answer, ask, cancel, sleep, use_line

CLOCK = "virtual"

WIRE = "uart0 wire main"
NODE = "uart0/node 1 main"


async def ready(port="rp2", **arguments):
    """A rig after its first exchange, and the node 1 of it."""
    trace, rig = traced(Rig, port=port, name="uart0", **arguments)
    node = rig.bus.device(1)
    assert await ask(node, b"hello") == answer(node, b"hello")
    found = told(trace)
    return trace, rig, node, found


async def test_exchanges():
    """The first one, too, whoever has made the peripheral; on every port."""
    for port in PORTS:
        for factory in (None, "sync", "async"):
            trace, rig, node, first = await ready(port, factory=factory)
            exchange = ["start %s 8" % WIRE, "end %s 0" % WIRE]
            assert first[-6:] == ["grant " + NODE, "grant " + WIRE] + exchange + ["release " + WIRE, "release " + NODE]
            await node.write(b"1:xyz\n")
            exchange[0] = "start %s 6" % WIRE
            assert told(trace) == ["grant " + NODE, "grant " + WIRE] + exchange + ["release " + WIRE, "release " + NODE]
            assert (await node.read(until=b"\n", reply_ms=1000)) == b"1=xyz\n"
            found = told(trace)
            assert found[2:4] == ["start %s 0" % WIRE, "end %s 0" % WIRE]
            await rig.check()


async def test_streams():
    for port in STREAMS:
        trace, rig, node, first = await ready(port)
        assert first[-4:-2] == ["start %s 8" % WIRE, "end %s 0" % WIRE]
        await rig.check()


async def test_the_drive():
    """Enabled after the start, and disabled before the end: at a request, and at a plain write."""
    for port in PORTS:
        for active in () if port in STREAMS else (0, 1):
            trace, rig, node, _ = await ready(port, de=True, de_active=active)
            drive = ["enable uart0 main", "disable uart0 main"]
            await ask(node, b"x")
            found = told(trace)
            assert found[2:6] == ["start %s 4" % WIRE] + drive + ["end %s 0" % WIRE]
            await node.write(b"abc")
            assert told(trace)[2:6] == ["start %s 3" % WIRE] + drive + ["end %s 0" % WIRE]
            assert rig.de_idle()


async def test_silence():
    """NoReply is the result of the exchange."""
    trace, rig, node, _ = await ready()
    error = await raises_async(NoReply, rig.bus.device(7).exchange(b"7:x\n", nbytes=3, reply_ms=20))
    assert told(trace)[2:4] == ["start %s 4" % WIRE, "end %s %d" % (WIRE, error.args[0])]
    await ask(node, b"x")
    await rig.check()


async def test_a_cancelled_exchange():
    """It ends with -1; the drive is released before."""
    trace, rig, node, _ = await ready(de=True)

    async def exchange():
        await ask(node, b"y" * 100)

    task = asyncio.create_task(exchange())
    await sleep(10)
    await cancel(task)
    found = told(trace, "wire", "bus")
    assert found == [
        "grant uart0 wire exchange",
        "start uart0 wire exchange 103",
        "enable uart0 exchange",
        "disable uart0 exchange",
        "end uart0 wire exchange -1",
        "release uart0 wire exchange",
    ]
    await sleep(2000)
    await ask(node, b"x")


async def test_waiting_for_the_line():
    trace, rig, node, _ = await ready()

    async def first():
        await ask(node, b"x")

    async def second():
        await ask(rig.bus.device(2), b"x")

    await gather_all(first(), second())
    found = [text.split(" ")[0] for text in told(trace, "wire")]
    assert found == ["grant", "start", "wait", "end", "release", "grant", "start", "end", "release"]
    await use_line(node, 1)
    assert [text.split(" ")[0] for text in told(trace)] == ["grant", "grant", "release", "release"]
    await rig.check()


async def test_sessions():
    trace, rig, node, _ = await ready()
    async with node.hold() as session:
        await session.exchange(b"1:x\n", until=b"\n")
    transfer = ["grant " + WIRE, "start %s 4" % WIRE, "end %s 0" % WIRE, "release " + WIRE]
    assert told(trace) == ["grant " + NODE] + transfer + ["release " + NODE]
    await rig.check()


async def test_a_driver_with_a_look_alike():
    """What it writes is a transfer, also after a reset, which makes another port."""
    for reset in (False, True):
        trace, rig, node, _ = await ready(de=True)
        if reset:
            rig.bus.reset()
            await ask(node, b"x")
            told(trace)
        uart = node.as_machine()
        uart.init(9600, timeout=200)

        def driver(uart=uart):
            uart.write(b"1:x\n")
            return uart.readline()

        assert await rig.bus.call(node, driver) == b"1=x\n"
        dump = Dump(trace)
        names = [name for _, name, _, _, _ in dump.events]
        assert names == ["grant", "grant", "enable", "start", "end", "disable", "block", "release", "release"]
        assert dump.events[3][4] == 4
        await rig.check()


async def test_reset_in_an_exchange():
    """The drive is released by reset(), and the exchange ends."""
    trace, rig, node, _ = await ready(de=True)

    async def exchange():
        await ask(node, b"y" * 30)

    task = asyncio.create_task(exchange())
    await sleep(5)
    told(trace)
    rig.bus.reset()
    found = [text.split(" ")[0] for text in told(trace)]
    assert sorted(found) == ["disable", "release", "release"]
    # Another transfer, which takes nothing, before the exchange of then has found out.
    rig.bus._trace.start(1)
    rig.bus._trace.end()
    assert [text.split(" ")[0] for text in told(trace)] == ["grant", "start", "end", "release"]
    await gather_all(task)
    assert [text.split(" ")[0] for text in told(trace)] == ["end"]
    await turns(2)
    await sleep(2000)
    await ask(node, b"x")
