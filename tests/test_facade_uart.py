"""Look-alikes of UART for drivers that know nothing of the line."""

import asyncio

from buslock import BusStuck, NoReply, NotCovered, TransferError
from support import clock
from support.turns import raises_async
from uart_rig import MACHINE, STREAMS, WITH_DE, Rig, answer, ask, rigs, sleep, use_key, use_line

CLOCK = "virtual"
LEFT_OUT = {
    "pico": {
        "deeper calls than a Pico's stack has room for: a driver, its look-alike, the simulated line and its node": (
            "test_a_driver_that_raises_leaves_the_line_usable",
            "test_both_shapes_work_over_every_port",
        ),
    }
}


def refusal(function, *args):
    """The text of its NotCovered."""
    try:
        function(*args)
    except NotCovered as error:
        return str(error)
    raise AssertionError("it went through")


def raised(kind, function, *args):
    try:
        function(*args)
    except kind as error:
        return error
    raise AssertionError("it went through")


def poll(uart, request):
    """What drivers of MicroPython do: write, and ask any() until a line is there."""
    assert uart.write(request) == len(request)
    got = b""
    for _ in range(100):
        if uart.any():
            got += uart.read()
        if got[-1:] == b"\n":
            return got
        clock.busy_us(1000)
    raise AssertionError("silence")


def block(uart, request):
    """What those of CircuitPython do: write, and a read that waits."""
    assert uart.write(request) == len(request)
    return uart.readline()


async def test_both_shapes_work_over_every_port():
    for de in (False, True):
        for rig in rigs(WITH_DE, de=de):
            node = rig.bus.device(1)
            assert await rig.bus.call(1, poll, node.as_machine(), b"1:hello\n") == b"1=hello\n", rig.port
            assert await rig.bus.call(1, block, node.as_busio(), b"1:there\n") == b"1=there\n"
            assert rig.de_idle()
            assert await ask(node, b"again") == answer(node, b"again")
            assert rig.a.asked == [b"hello", b"there", b"again"]
            await rig.check()


async def test_results_are_those_of_the_ports():
    for rig in rigs(WITH_DE):
        machine = rig.bus.device(1).as_machine()
        busio = rig.bus.device(1).as_busio()
        assert machine.any() == busio.in_waiting == 0
        assert machine.read() is None and machine.read(3) is None and machine.readline() is None
        assert machine.readinto(bytearray(2)) is None
        assert machine.txdone() is True
        assert machine.flush() is None
        raised(OSError, machine.sendbreak)
        assert "interrupt" in refusal(machine.irq, None)
        busio.timeout = 0.01
        assert busio.read(1) is None and busio.readline() is None
        assert busio.baudrate == 9600
        busio.baudrate = 9600
        assert "all nodes" in str(raised(ValueError, setattr, busio, "baudrate", 19200))

        for request in (b"1:abc\n", b"1:de\n"):
            machine.write(request)
            clock.busy_us(50000)
        assert machine.any() == busio.in_waiting == 11
        assert machine.read(3) == b"1=a"
        buf = bytearray(3)
        assert machine.readinto(buf, 1) == 1 and buf == b"b\x00\x00"
        assert machine.readline() == b"c\n"
        assert busio.readinto(buf) == 3 and buf == b"1=d"
        assert busio.read(1) == b"e"
        busio.reset_input_buffer()
        assert machine.any() == 0
        await rig.check()


async def test_a_read_with_a_time_out_waits_for_silence():
    for rig in rigs(WITH_DE):
        machine = rig.bus.device(1).as_machine()
        machine.init(9600, timeout=30)
        machine.write(b"1:abc\n")
        assert machine.read(6) == b"1=abc\n"
        start = clock.now_us()
        assert machine.read(6) is None
        assert 25000 < clock.now_us() - start < 60000
        busio = rig.bus.device(1).as_busio()
        busio.timeout = 0.03
        busio.write(b"1:abc\n")
        assert busio.read() == b"1=abc\n"  # all until the silence
        await rig.check()


async def test_somebody_elses_line_is_refused_and_the_message_names_the_holder():
    for rig in rigs(WITH_DE):
        a, b = rig.bus.device(1), rig.bus.device(2)
        for shape in (a.as_machine(), a.as_busio()):
            for use in (use_key, use_line):
                holder = asyncio.create_task(use(a, 20))
                await sleep(2)
                assert use.__name__ in refusal(shape.write, b"x")
                assert use.__name__ in refusal(shape.read)
                await holder
            holder = asyncio.create_task(use_key(b, 20))
            await sleep(2)
            shape.write(b"1:free\n")  # another node's key
            clock.busy_us(50000)
            assert shape.readline() == b"1=free\n"
            await holder
        assert len(rig.a.asked) == 2
        await ask(b, b"still")
        await rig.check()


async def test_a_driver_that_raises_leaves_the_line_usable():
    for rig in rigs(WITH_DE, de=True):
        node = rig.bus.device(1)
        uart = node.as_machine()
        for error in (OSError(110, "its own"), ValueError("halfway")):

            def half(error):
                uart.write(b"1:late\n")
                raise error

            try:
                await rig.bus.call(1, half, error)
                raise AssertionError("nothing said")
            except (OSError, ValueError) as caught:
                assert caught.args == error.args
            assert rig.de_idle()
            assert await ask(node, b"after") == answer(node, b"after")
        await rig.check()


async def test_constants_are_those_of_the_port():
    for rig in rigs(MACHINE):
        uart = rig.bus.device(1).as_machine()
        type(rig.made[0]).INV_TX = 64
        assert uart.INV_TX == 64
        raised(AttributeError, getattr, uart, "nonsense")
        raised(AttributeError, getattr, uart, "NONSENSE")


async def test_streams_are_refused():
    for rig in rigs(STREAMS):
        node = rig.bus.device(1)
        assert await ask(node, b"hello") == answer(node, b"hello")
        for uart in (node.as_machine(), node.as_busio()):
            assert "streams" in str(raised(NotImplementedError, uart.write, b"x"))
        await rig.check()


async def test_blocking_time_is_in_stats():
    rig = Rig()
    await rig.bus.call(1, poll, rig.bus.device(1).as_machine(), b"1:hello\n")
    assert set(rig.bus.stats()) >= {"longest_call_ms", "longest_call_key"}
    await rig.check()


async def test_a_speed_alone_sets_no_time_out():
    """init() without timeout= leaves the one that was given before."""
    rig = Rig()
    node = rig.bus.device(1)
    uart = node.as_machine()
    uart.init(9600, timeout=200)
    uart.init(9600)
    assert await rig.bus.call(1, block, uart, b"1:hello\n") == b"1=hello\n"
    await rig.check()


async def test_a_drive_that_does_not_go_idle():
    """The driver is told, and nobody sends or listens until it is idle."""
    for rig in rigs(WITH_DE, de=True):
        a, b = rig.bus.device(1), rig.bus.device(2)
        await ask(a, b"warm")
        uart = a.as_machine()

        def write(uart=uart):
            uart.write(b"9:x\n")

        rig.line.fail_call(at=2, what="de", times=None)
        assert "drive-enable" in str(await raises_async(TransferError, rig.bus.call(a, write)))
        assert not rig.de_idle()
        await raises_async(TransferError, ask(b, b"y"))
        rig.line.works_again()
        assert await ask(b, b"z") == answer(b, b"z")
        assert rig.de_idle() and rig.b.asked == [b"z"]
        await rig.check()


async def test_a_line_where_something_may_still_come():
    """A look-alike cannot wait for the rest of an exchange that failed, and says who can."""
    for rig in rigs(WITH_DE):
        a = rig.bus.device(1)
        uart = a.as_machine()
        rig.a.fail("silent", times=2)
        await raises_async(NoReply, ask(a, b"x", reply_ms=20))
        assert "not clean" in refusal(uart.write, b"1:y\n")
        assert await rig.bus.call(a, poll, uart, b"2:z\n") == b"2=z\n"
        async with a.hold() as session:
            await raises_async(NoReply, session.exchange(b"1:x\n", nbytes=4, reply_ms=20))
            assert "not clean" in str(raised(BusStuck, uart.write, b"1:y\n"))
        assert await ask(a, b"well") == answer(a, b"well")
        assert rig.a.asked == [b"x", b"x", b"well"]
        await rig.check()
