"""The driver enable of an RS-485 transceiver: active around a transmission, and idle again when its last bit is out."""

import asyncio

import buslock_sim
from buslock import ERRORS, NoAck, NoReply, NotHeld, TransferError, UARTBus
from buslock_sim import ModbusNode
from buslock_sim.crc import crc16
from support import clock
from support.small import few_ports, samples, some
from support.turns import raises_async, turns
from uart_rig import (
    SOME,
    STREAMS,
    WITH_DE,
    Liner,
    Rig,
    ask,
    cancel,
    go_on,
    record_calls,
    rigs,
    sleep,
    turning_points,
)

CLOCK = "virtual"

# One of each kind: flush() that is right, that is early, a write() that waits, and busio.
KINDS = few_ports("rp2", "rp2_1_23", "stm32", "esp8266", "circuitpython", "blinka")

assert set(KINDS) <= set(WITH_DE) and set(SOME) - set(STREAMS) <= set(KINDS)


async def all_is_well(rig):
    """The next exchange of either node is right, and the line is at rest after it, with DE idle."""
    one, two = rig.bus.device(1), rig.bus.device(2)
    assert await ask(two, b"fine") == b"2=fine\n"
    assert rig.de_idle()
    assert await ask(one, b"well") == b"1=well\n"
    assert rig.de_idle()
    await rig.check()


async def test_de_around_a_transmission():
    """Nothing that is sent is lost by a DE that drops too soon, nothing that comes by one that drops too late (F1)."""
    for port in WITH_DE:
        for de_active, baudrate in ((1, 1200), (0, 9600), (1, 115200)):
            rig = Rig(
                port,
                nodes=lambda: (Liner(1, delay_ms=4), Liner(2, delay_ms=4)),
                de=True,
                de_active=de_active,
                baudrate=baudrate,
            )
            one, two = rig.bus.device(1), rig.bus.device(2)
            for phase_us in range(0, 1600, 260):
                clock.busy_us(phase_us)
                assert await ask(one, b"hello") == b"1=hello\n"
                assert rig.de_idle()
                await one.write(b"9:x\n")
                assert rig.de_idle()
            assert await ask(two, b"0123456789" * 8) == b"2=" + b"0123456789" * 8 + b"\n"
            async with one.hold(wire=True) as session:
                assert await session.exchange(b"1:x\n", until=b"\n") == b"1=x\n"
                assert rig.de_idle()
            assert rig.line.lost == 0
            assert rig.line.deaf == 0
            await rig.check()


async def test_modbus_nodes_that_answer_at_once():
    """Nodes that answer after 3.5 characters, the least that Modbus allows, are heard from their first bit on (F1)."""
    for port in WITH_DE:
        for baudrate in (9600, 19200, 115200):
            nodes = [ModbusNode(n, {5: 256 * n + 7}, delay_ms=0) for n in (1, 2, 3)]
            rig = Rig(port, nodes=lambda: nodes, de=True, baudrate=baudrate, gap_ms=6)

            async def read(n):
                request = bytes([n, 3, 0, 5, 0, 1])
                reply = await rig.bus.device(n).exchange(request + crc16(request), nbytes=7, reply_ms=50)
                assert reply[:5] == bytes([n, 3, 2, n, 7])
                assert crc16(reply[:5]) == reply[5:]

            for phase_us in range(0, 2000, 260):
                clock.busy_us(phase_us)
                await asyncio.gather(read(1), read(2), read(3))
            assert [node.requests for node in nodes] == [8, 8, 8]
            assert rig.line.lost == rig.line.deaf == 0
            await rig.check()


async def test_de_is_released_before_other_tasks_have_their_turn():
    """A UART that tells when it has sent: a node that answers two characters and 0.2 ms after the last bit is heard."""
    for port in few_ports("rp2", "rp2_1_23", "esp32"):
        for baudrate in (9600, 19200, 57600, 115200):
            delay_ms = 20000 / baudrate + 0.2
            rig = Rig(port, nodes=lambda: (Liner(1, delay_ms=delay_ms),), de=True, baudrate=baudrate)  # noqa: B023
            one = rig.bus.device(1)

            async def others():
                while True:
                    clock.busy_us(700)
                    await sleep(1)

            task = asyncio.create_task(others())
            for phase_us in range(0, 2000, 260):
                clock.busy_us(phase_us)
                for text in (b"x", b"0123456789" * 3):
                    assert await ask(one, text, reply_ms=100) == b"1=" + text + b"\n"
            await cancel(task)
            assert rig.line.lost == rig.line.deaf == 0
            await rig.check()


async def test_de_with_a_clock_of_whole_milliseconds():
    """Where microseconds go on by a millisecond at a time, as CircuitPython's do, nothing is cut by a DE that drops too soon."""
    from buslock import uartports

    real = uartports.ticks_us, uartports.US_STEP_MS
    uartports.ticks_us, uartports.US_STEP_MS = lambda: clock.now_us() // 1000 * 1000, 1
    try:
        for port in few_ports("circuitpython", "blinka"):
            for baudrate in (9600, 115200):
                rig = Rig(port, nodes=lambda: (Liner(1, delay_ms=4),), de=True, baudrate=baudrate)
                for phase_us in range(0, 1000, 130):
                    clock.busy_us(phase_us)
                    for text in (b"x", b"0123456789" * 3):
                        assert await ask(rig.bus.device(1), text) == b"1=" + text + b"\n"
                assert rig.line.lost == rig.line.deaf == 0
                await rig.check()
    finally:
        uartports.ticks_us, uartports.US_STEP_MS = real


def test_a_time_that_the_ticks_cannot_tell_any_more():
    """What was sent before half of the ticks' period is out: a difference that is negative is no time to wait for."""
    from buslock import uartports

    now = clock.now_us()
    assert uartports.gone_ms(now - 1500) == 1.5
    assert uartports.gone_ms(now + 1000) > 1000000


async def test_a_speed_that_a_driver_has_set():
    """When a call() has changed the speed of the line, DE is kept as long as the slower characters take."""
    for port in KINDS:
        rig = Rig(port, de=True, baudrate=115200)
        one = rig.bus.device(1)
        uart = rig.made[0]

        def set_speed(baudrate):
            if rig.busio:
                uart.baudrate = baudrate
            else:
                uart.init(baudrate)

        rig.a.delay_ms = rig.b.delay_ms = 10
        for baudrate in (1200, 115200, 9600):
            await rig.bus.call(one, set_speed, baudrate)
            for _ in range(2):
                assert await ask(one, b"hello", reply_ms=200) == b"1=hello\n"
                await one.write(b"9:x\n")
        assert rig.line.lost == rig.line.deaf == 0
        await rig.check()


async def test_de_is_idle_from_the_first_use_on():
    """A DE that floats at its active level, or was left there, is idle before anything is heard or sent."""
    for port in WITH_DE:
        for de_active in (0, 1):
            rig = Rig(port, de=True, de_active=de_active)
            rig.line.de.pull = de_active
            rig.line._de_moved(rig.line.de)
            assert not rig.de_idle()
            node = rig.bus.device(1)
            task = asyncio.create_task(node.read(nbytes=2))
            await sleep(3)
            assert rig.de_idle()
            rig.line.noise(b"ab")
            assert await task == b"ab"
            await sleep(20)
            await all_is_well(rig)


async def test_making_a_bus_moves_no_pin():
    """Making a bus and its nodes drives nothing."""
    for port in KINDS:
        rig = Rig(port, de=True, factory="sync")
        rig.bus.device(1)
        assert rig.made == []
        assert rig.line.calls == 0
        await all_is_well(rig)


async def in_a_session(rig):
    async with rig.bus.device(1).hold() as session:
        await session.exchange(b"1:hello\n", until=b"\n", reply_ms=40)
        await session.write(b"9:hello\n")


async def with_the_line(rig):
    async with rig.bus.device(1).hold(wire=True) as session:
        await session.exchange(b"1:hello\n", until=b"\n", reply_ms=40)
        await session.write(b"9:hello\n")


OPERATIONS = (
    lambda rig: ask(rig.bus.device(1), b"hello", reply_ms=40),
    lambda rig: rig.bus.device(1).write(b"9:0123456789012345678901234567890123456789\n"),
    in_a_session,
    with_the_line,
)


async def test_cancelled_at_every_step():
    """An exchange cancelled at any step leaves DE idle at once, and nothing that was under way is cut by that (F1)."""
    for port in KINDS:
        for operate in OPERATIONS if port in SOME else OPERATIONS[:2]:
            for step in samples(0, 2):
                rig = Rig(port, de=True)
                task = asyncio.create_task(operate(rig))
                await go_on(step, us=700)
                done = task.done()
                await cancel(task)
                assert rig.de_idle()
                rig.line.check()
                await all_is_well(rig)
                if done:
                    break
            assert step > 7 or port == "stm32"  # whose write() blocks


async def test_a_failing_call_at_every_place():
    """Each kind of call of the UART and of DE fails once, before or after it has done its work: DE is idle, and if that
    is what failed it is driven idle again before the next transmission; the next exchange is right (F1)."""
    for port in KINDS:
        for operate in OPERATIONS if port in SOME else OPERATIONS[:1]:
            await fail_everywhere(port, operate, None, ERRORS)


async def test_a_call_that_raises_something_else_at_every_place():
    """The same with what is no OSError, and with Ctrl-C: it goes to the caller as it is."""
    for error in (RuntimeError, KeyboardInterrupt):
        for port in ("rp2", "circuitpython"):
            await fail_everywhere(port, OPERATIONS[0], error, error)


async def fail_everywhere(port, operate, error, ours):
    rig = Rig(port, de=True)
    await ask(rig.bus.device(2), b"warm")
    names = record_calls(rig.line)
    await operate(rig)
    await rig.check()
    places = turning_points(names)
    assert len(places) > 3
    for after in (False, True):
        for at in some(places):
            rig = Rig(port, de=True)
            await ask(rig.bus.device(2), b"warm")
            rig.line.fail_call(at=at + 1, after=after, error=error)
            try:
                await operate(rig)
                failed = None
            except BaseException as caught:
                failed = caught
            rig.line.works_again()
            assert failed is None or isinstance(failed, ours), repr(failed)
            # The one thing that may leave DE active is a pin that does not do what it is told.
            assert rig.de_idle() or (names[at] == "de" and not after)
            await all_is_well(rig)


async def test_de_that_cannot_be_driven_idle():
    """While DE does not go idle nobody sends or listens; when it moves again it is driven idle first."""
    for port in KINDS:
        rig = Rig(port, de=True)
        one, two = rig.bus.device(1), rig.bus.device(2)
        await ask(one, b"x")
        rig.line.fail_call(at=2, what="de", times=None)
        error = await raises_async(TransferError, ask(one, b"y", reply_ms=40))
        assert "uart" in str(error)
        assert not rig.de_idle()
        asked = len(rig.b.asked)
        for operate in (ask(two, b"z", reply_ms=40), two.write(b"2:z\n"), two.read(nbytes=1, reply_ms=40)):
            await raises_async(TransferError, operate)
        assert len(rig.b.asked) == asked
        rig.line.works_again()
        await all_is_well(rig)


async def test_silence_and_late_replies_with_de():
    """A node that is silent, late or cut short is met with DE idle, and its late reply is heard and thrown away."""
    for port in KINDS:
        given = []
        rig = Rig(port, de=True, unsolicited=given.append)
        one, two = rig.bus.device(1), rig.bus.device(2)
        for kind in ("silent", "late", "cut"):
            rig.a.fail(kind, ms=60)
            await raises_async(NoReply, ask(one, b"late", reply_ms=50))
            assert rig.de_idle()
            assert await ask(two, b"next", reply_ms=50) == b"2=next\n"
        assert b"".join(given) == b"1=late\n"
        assert rig.line.deaf == 0
        await all_is_well(rig)


async def test_reset_while_sending():
    """reset() in the middle of a transmission leaves DE idle."""
    for port in KINDS:
        rig = Rig(port, de=True)
        one = rig.bus.device(1)
        await ask(one, b"warm")
        task = asyncio.create_task(one.write(b"9:0123456789012345678901234567890123456789\n"))
        await turns(3)
        await go_on(8, us=1000)
        rig.bus.reset()
        assert rig.de_idle()
        try:
            await task
        except Exception:  # it is dead, or was over
            pass
        await all_is_well(rig)


async def test_de_and_echo():
    """A transceiver whose receiver stays on while it sends: DE and echo together."""
    for rig in rigs(KINDS, de=True, echo=True):
        for _ in range(3):
            assert await ask(rig.bus.device(1), b"hello") == b"1=hello\n"
        await all_is_well(rig)


class Plain:
    """A machine.UART of a port that tells neither when the last bit is out nor waits for it."""

    def __init__(self, uart):
        self.baudrate = uart.baudrate
        self.any, self.read, self.write = uart.any, uart.read, uart.write


async def test_a_uart_that_does_not_tell_when_it_has_sent():
    """Without txdone() and flush() the time is counted: DE drops after the last bit, in every exit."""
    from buslock import uartports  # after the rig, whose time it is to have

    for wrap in (Plain, lambda uart: uart):
        for clock_us in (True, False):
            rig = Rig("rp2", de=True, wrap=wrap)
            one = rig.bus.device(1)
            real = uartports.time
            if not clock_us:
                uartports.time = Seconds()
            try:
                for text in (b"a", b"0123456789" * 4):
                    assert await ask(one, text) == b"1=" + text + b"\n"
                    assert rig.de_idle()
                for ms in (0, 3, 9, 20):
                    task = asyncio.create_task(one.write(b"9:0123456789\n"))
                    await turns(3)
                    await sleep(ms)
                    await cancel(task)
                    assert rig.de_idle()
                assert rig.line.lost == 0
                await all_is_well(rig)
            finally:
                uartports.time = real


class Seconds:
    """The module `time` of CPython and CircuitPython, which have sleep() alone."""

    def sleep(self, seconds):
        clock.busy_us(int(seconds * 1000000))


async def test_reset_while_sending_cannot_be_waited_for():
    """What flush() raises is no error of reset(): DE is idle, though that cuts what was sent, and the next is right."""
    rig = Rig("rp2", de=True)
    one = rig.bus.device(1)
    await ask(one, b"warm")
    task = asyncio.create_task(raises_async(NotHeld, one.write(b"9:" + b"x" * 40 + b"\n")))
    await turns(3)
    await go_on(3, us=1000)
    rig.line.fail_call(what="flush", error=RuntimeError)
    rig.bus.reset()
    assert rig.de_idle()
    await task
    assert len(buslock_sim.forget()) == len(rig.line.violations) == 1
    rig.line.violations.clear()
    await sleep(60)
    await all_is_well(rig)


async def test_a_drive_behind_another_bus():
    """DE on a pin of an I2C expander that does not answer: its error goes to the caller as it is, and nothing is sent."""

    class Far:
        OUT = 1
        fails = False

        def __init__(self, pin):
            self.pin = pin

        def init(self, mode, value):
            self.pin.init(self.pin.OUT, value=value)

        def __call__(self, *level):
            if self.fails:
                raise NoAck(19, "i2c0/0x20: no acknowledge")
            return self.pin(*level)

    rig = Rig("rp2", de=True)
    await ask(rig.bus.device(1), b"warm")
    await rig.bus.aclose()
    far = Far(rig.de)
    rig.bus = UARTBus(rig.made[0], de=far)
    one = rig.bus.device(1)
    assert await ask(one, b"x") == b"1=x\n"
    far.fails = True
    asked = len(rig.a.asked)
    for _ in range(2):
        error = await raises_async(NoAck, ask(one, b"y", reply_ms=20))
        assert error.args == (19, "i2c0/0x20: no acknowledge")
    assert len(rig.a.asked) == asked
    far.fails = False
    await all_is_well(rig)
