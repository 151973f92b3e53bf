"""What hardly any program does: the lines that no other test reaches."""

import asyncio
import sys

import i2c_rig
import spi_rig
import uart_rig
from buslock import BusClosed, Lazy, NotCovered, Reentry, TransferError
from i2c_rig import A, B
from support.turns import raises, raises_async, turns

CLOCK = "virtual"
CPYTHON = sys.implementation.name == "cpython"


async def test_names_that_there_are_not():
    """AttributeError names the class; names of Python's own protocols are not looked for in other modules."""
    lazy = Lazy(object)
    bus = i2c_rig.Rig().bus
    for thing, name in ((lazy, "nonsense"), (lazy, "__nonsense__"), (bus, "nonsense"), (bus, "__nonsense__")):
        assert not hasattr(thing, name)
        text = str(raises(AttributeError, getattr, thing, name))
        assert text == "%s has no %s" % (type(thing).__name__, name)


def test_a_lazy_that_another_loop_is_closing():
    """CPython can leave a loop alone for a while: what is being closed there is not forgotten by another one."""
    if not CPYTHON:
        return  # one loop only
    release = []

    async def close(thing):
        while not release:
            await asyncio.sleep(0.01)

    async def begin():
        await lazy.get()
        task = asyncio.create_task(lazy.aclose())
        await turns(2)
        return task

    async def finish(task):
        release.append(1)
        await task

    lazy = Lazy(object, close)
    first, second = asyncio.new_event_loop(), asyncio.new_event_loop()
    task = first.run_until_complete(begin())
    second.run_until_complete(raises_async(BusClosed, lazy.get()))
    first.run_until_complete(finish(task))
    assert second.run_until_complete(lazy.get()) is lazy.peek()
    first.close()
    second.close()


async def test_a_close_that_closes_its_own_bus():
    """Reentry, and the bus is closed all the same."""

    async def close(i2c):
        await rig.bus.aclose()

    rig = i2c_rig.Rig(factory="sync", close=close)
    await rig.bus.read_register(A, 0, 1)
    await raises_async(Reentry, rig.bus.aclose())
    rig.check()
    assert await rig.bus.read_register(A, 1, 1) == b"\x01"


async def test_call_of_something_to_await():
    """call() refuses a function whose result is to be awaited, whether that can be closed or not."""
    rig = i2c_rig.Rig()

    async def coroutine():
        pass

    task = asyncio.create_task(coroutine())
    for function in (coroutine, lambda: task):
        assert "synchronous" in str(await raises_async(TypeError, rig.bus.call(A, function)))
    await task
    rig.check()


async def test_scan_that_fails():
    """A scan that the port breaks off is a TransferError, and the next one works."""
    for port in ("rp2", "esp32", "circuitpython"):
        rig = i2c_rig.Rig(port)
        scan = rig.made[0].scan

        def fail():
            raise OSError(110, "timed out")

        rig.made[0].scan = fail
        error = await raises_async(TransferError, rig.bus.scan())
        rig.made[0].scan = scan
        assert "i2c" in str(error)
        assert A in await rig.bus.scan()
        rig.check()


async def test_a_script_that_names_nothing():
    """A script whose devices are computed has to name one; and it may name one alone, without a list."""
    rig = i2c_rig.Rig()

    @rig.bus.script(lambda *addresses: addresses)
    async def first_bytes(regs, *addresses):
        read = []
        for address in addresses:
            read.append(await regs.read_register(address, 1, 1))
        return read

    @rig.bus.script(lambda address: address)
    async def first_byte(regs, address):
        return await regs.read_register(address, 1, 1)

    assert "named no device" in str(await raises_async(ValueError, first_bytes()))
    assert await first_bytes(A, B) == [b"\x01", b"\xfe"]
    assert await first_byte(A) == b"\x01"
    rig.check()


async def test_a_transaction_under_a_hold_of_less():
    """A task that holds one device cannot run what wants the whole bus: NotCovered names both."""
    rig = i2c_rig.Rig()

    @rig.bus.script()
    async def everything(regs):
        return await regs.scan()

    async with rig.bus.device(A).hold():
        text = str(await raises_async(NotCovered, everything()))
        assert "all of i2c is wanted" in text and "i2c/0x10" in text, text
    assert A in await everything()
    rig.check()


async def test_constants_of_look_alikes():
    """They are those of the port, also before anybody has used the bus."""
    rig = spi_rig.Rig("rp2", factory="sync")
    spi = rig.devices()[0].as_machine()
    assert (spi.MSB, spi.LSB) == (rig.make().MSB, rig.make().LSB)
    raises(AttributeError, getattr, spi, "NONSENSE")
    rig.check()
    rig = uart_rig.Rig("rp2", factory="sync")
    uart = rig.bus.device(1).as_machine()
    raises(AttributeError, getattr, uart, "NONSENSE")  # of the port's own object
    assert len(rig.made) == 1
    rig.made[0].INV_TX = 1
    assert uart.INV_TX == 1
    raises(AttributeError, getattr, uart, "nonsense")
    await rig.check()


async def test_a_chip_select_in_the_ways_of_drivers():
    """All names under which drivers move CS; `with` and the rest leave it idle."""
    for port in ("rp2", "circuitpython"):
        rig = spi_rig.Rig(port)
        a, _ = rig.devices()
        machine, busio = a.as_machine().cs, a.as_busio().cs
        level = rig.wire.line(rig.names[0]).level

        def drive():
            for idle, active in (
                (machine.on, machine.off),
                (machine.high, machine.low),
                (lambda: machine.value(1), lambda: machine.value(0)),
                (lambda: machine.init(machine.OUT, value=1), lambda: machine.init(machine.OUT, value=0)),
            ):
                active()
                assert level() == machine.value() == 0 and busio.value is False
                idle()
                assert level() == machine.value() == 1 and busio.value is True
            machine.init(machine.OUT)
            with busio as cs:
                for leave in (cs.switch_to_output, cs.switch_to_input, cs.deinit):
                    cs.value = False
                    assert level() == 0
                    leave()
                    assert level() == 1
                cs.value = False
            assert level() == 1

        await rig.bus.call(a, drive)
        rig.check()
    rig = spi_rig.Rig("rp2")
    cs = rig.bus.device(None).as_machine().cs
    cs.off()
    assert cs.value() == 0  # there is none
