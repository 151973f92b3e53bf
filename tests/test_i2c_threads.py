"""Interrupts in the middle of a transfer, other threads, and the second core (C13, group G)."""

import asyncio

from buslock import Reentry
from i2c_rig import A, B, Loops, Rig, in_thread, rigs, sleep
from support.small import few_ports
from support.turns import raises_async

CLOCK = "virtual"
LEFT_OUT = {
    "pico": {
        "deeper calls than a Pico's stack has room for: an operation in an interrupt in a simulated transfer": (
            "test_an_interrupt_in_a_transfer_is_refused",
        ),
    }
}

SHAPES = few_ports("rp2", "soft", "circuitpython")


def at_once(coroutine):
    """What an interrupt can do with an operation: one step. Its result or its exception."""
    try:
        coroutine.send(None)
    except StopIteration as done:
        return done.value
    except Exception as error:
        return error
    coroutine.close()
    return "it would have to wait"


class Interrupt:
    """Strikes in the middle of every transfer, after a byte, and tries to use the bus there."""

    def __init__(self, rig, make):
        self.results = []
        self.make = make
        self.busy = False
        rig.wire.on_byte = self

    def __call__(self):
        if not self.busy:
            self.busy = True
            self.results.append(at_once(self.make()))
            self.busy = False


async def test_an_interrupt_in_a_transfer_is_refused():
    """An operation called in an interrupt while a transfer runs is Reentry, no second START; the transfer goes on."""
    for rig in rigs(SHAPES):
        bus = rig.bus
        device = bus.device(A)
        for make in (
            lambda: bus.read_register(B, 0, 1),
            lambda: bus.read_register(A, 0, 1),
            lambda: bus.device(B).write_register(0, 1),
            lambda: bus.device(B).read(1),
            lambda: bus.device(B).probe(),
            lambda: bus.scan(),
        ):
            interrupt = Interrupt(rig, make)

            async def in_hold(wire):
                async with device.hold(wire=wire) as session:
                    await session.read_register(1, 1)
                    await session.write_register(0x80, 1)

            for operate in (
                lambda: device.read_register(1, 2),
                lambda: device.read_register_into(1, bytearray(2)),
                lambda: device.write_register(0x80, 1),
                lambda: device.update_register(0x80, 1, 1),
                lambda: device.read(2),
                lambda: device.write_then_read(b"\x01", 2),
                lambda: device.probe(),
                lambda: in_hold(False),
                lambda: in_hold(True),
            ):
                interrupt.results.clear()
                await operate()
                assert len(interrupt.results) > 0
                for result in interrupt.results:
                    assert isinstance(result, Reentry), (rig.port, result)
            rig.wire.on_byte = None
            rig.check()
            assert await bus.read_register(B, 1, 1) == b"\xfe"


async def test_after_an_error_it_is_no_interrupt():
    """A transfer that failed is over: the next operation is not taken for one of an interrupt."""
    for rig in rigs(SHAPES):
        device = rig.bus.device(A, retries=2)
        for kind in ("nack", "timeout", "arbitration"):
            for operate in (
                lambda: rig.bus.read_register(A, 1, 1),
                lambda: device.read_register_into(1, bytearray(1)),
                lambda: device.write_register(0x80, 1),
                lambda: device.write(1, repeatable=True),
                lambda: device.update_register(0x80, 1, 1),
                lambda: device.probe(),
            ):
                rig.a.fail(kind, times=None)
                try:
                    await operate()
                except OSError:
                    pass
                rig.a.recover()
                assert await rig.bus.read_register(B, 1, 1) == b"\xfe"
                assert await device.read_register(1, 1) == b"\x01"
        rig.check()


async def test_an_interrupt_between_transfers():
    """Between transfers, with the wire free, an interrupt that wakes a task is what is left: the flag is seen."""
    for rig in rigs(SHAPES):
        flag = []
        values = []

        async def worker():
            while not values:
                if flag:
                    values.append(await rig.bus.read_register(B, 1, 1))
                await sleep(1)

        task = asyncio.create_task(worker())
        rig.wire.on_byte = lambda: flag.append(1)
        await rig.bus.read_register(A, 0, 1)
        rig.wire.on_byte = None
        await task
        assert values == [b"\xfe"]
        rig.check()


async def test_another_thread_is_refused():
    """Use from another thread while the bus's own loop runs: a RuntimeError that says what to do, and nothing held."""
    for rig in rigs(("rp2", "circuitpython")):
        rig.bus.debug = True
        await rig.bus.read_register(A, 0, 1)
        messages = rig.wire.messages

        def use():
            return at_once(rig.bus.read_register(A, 0, 1))

        for _ in range(2):
            error = in_thread(use)
            assert isinstance(error, RuntimeError), error
            assert "thread" in str(error)
        assert rig.wire.messages == messages
        assert await rig.bus.read_register(A, 1, 1) == b"\x01"
        rig.check()


def test_a_program_that_goes_on_in_another_thread():
    """A bus whose loop does not run any more belongs to the next one, whichever thread that is in."""
    for shape in ("rp2", "circuitpython"):
        rig = Rig(shape)
        loops = Loops()
        read = lambda: loops.run(rig.bus.read_register(A, 1, 1, timeout_ms=9))  # noqa: E731
        for _ in range(2):
            assert read() == b"\x01"
            loops.new()
        assert in_thread(read) == b"\x01"
        rig.check()
        loops.close()


async def test_debug_does_not_change_results():
    """With debug every operation does the same as without."""
    for rig in rigs(SHAPES):
        rig.bus.debug = True
        device = rig.bus.device(A)
        assert await device.read_register(1, 2) == b"\x01\x02"
        await device.write_register(0x80, 7)
        async with device.hold() as session:
            assert await session.read_register(0x80, 1) == b"\x07"
            assert await device.update_register(0x80, 0xF0, 0x10) == 0x17
        async with rig.bus.hold_all() as regs:
            assert await regs.read_register(B, 1, 1) == b"\xfe"
        assert await rig.bus.scan() == [A, B, 0x20, 0x48, 0x50]
        await rig.bus.aclose()
        assert await device.read_register(1, 2) == b"\x01\x02"
        await raises_async(ValueError, device.read_register(1, 0))
        rig.check()
