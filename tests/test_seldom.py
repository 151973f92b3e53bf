"""What hardly any program does: the lines that no other test reaches."""

import asyncio
import io
import sys

import buslock
import i2c_rig
import spi_rig
import uart_rig
from buslock import BusClosed, Lazy, NotCovered, Reentry, SPIBus, TransferError, UARTBus
from buslock_sim import SPI, Multiplexer, RegisterFile
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
    for name in ("nonsense", "_nonsense", "__nonsense__"):
        raises(AttributeError, getattr, buslock, name)


def test_a_module_that_cannot_be_imported():
    """What it lacks is said by its own ImportError, and the name is there when nothing is missing any more."""
    before = buslock.Trace, sys.modules.pop("buslock.trace"), sys.modules.get("array")
    del buslock.Trace
    sys.modules["array"] = object()
    try:
        assert "array" in str(raises(ImportError, getattr, buslock, "Trace"))
    finally:
        sys.modules.pop("buslock.trace", None)
        if before[2] is None:
            del sys.modules["array"]
        else:
            sys.modules["array"] = before[2]
    assert buslock.Trace is not before[0] and len(buslock.Trace(3)) == 0
    buslock.Trace, sys.modules["buslock.trace"] = before[0], before[1]


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


def test_a_bus_that_another_loop_is_closing():
    """As with a Lazy: it is being closed, and works when that is done."""
    if not CPYTHON:
        return  # one loop only
    release = []

    async def close(i2c):
        while not release:
            await asyncio.sleep(0.01)

    async def begin():
        await rig.bus.read_register(A, 0, 1)
        task = asyncio.create_task(rig.bus.aclose())
        await turns(2)
        return task

    async def finish(task):
        release.append(1)
        await task

    rig = i2c_rig.Rig(factory="sync", close=close)
    first, second = asyncio.new_event_loop(), asyncio.new_event_loop()
    task = first.run_until_complete(begin())
    error = second.run_until_complete(raises_async(BusClosed, rig.bus.read_register(A, 1, 1)))
    assert "being closed" in str(error)
    first.run_until_complete(finish(task))
    assert second.run_until_complete(rig.bus.read_register(A, 1, 1)) == b"\x01"
    assert len(rig.made) == 2
    rig.check()
    first.close()
    second.close()


async def test_peripherals_that_cannot_be_marked():
    """The ports' own objects have no room for another attribute: a second bus on one is refused all the same."""

    class Native:
        __slots__ = ("real",)

        def __init__(self, real):
            self.real = real

        def write(self, buf):
            self.real.write(buf)

        def read(self, nbytes, write):
            return self.real.read(nbytes, write)

        def write_readinto(self, out, into):
            self.real.write_readinto(out, into)

        def init(self, **settings):
            self.real.init(**settings)

    rig = spi_rig.Rig("rp2", peripheral=lambda wire: Native(SPI(wire)), name="first")
    other = spi_rig.Rig("rp2", peripheral=lambda wire: Native(SPI(wire)), name="other")
    assert "first" in str(raises(ValueError, SPIBus, rig.made[0], name="second"))
    assert "other" in str(raises(ValueError, SPIBus, other.made[0]))
    a, _ = rig.devices()
    assert await a.read(1) == b"\x5a"
    await rig.bus.aclose()
    rig.bus = SPIBus(rig.made[0], name="second")
    a, _ = rig.devices()
    assert await a.read(1) == b"\x5a"
    assert "second" in str(raises(ValueError, SPIBus, rig.made[0]))
    assert "other" in str(raises(ValueError, SPIBus, other.made[0]))
    rig.check()


async def test_a_native_object_has_one_bus_as_well():
    """Here it is the writer of a pair of streams."""
    writer = io.BytesIO()
    first = UARTBus((None, writer), name="first")
    assert "first" in str(raises(ValueError, UARTBus, (None, writer), name="second"))
    other = UARTBus((None, io.BytesIO()), name="other")
    await first.aclose()
    second = UARTBus((None, writer), name="second")
    assert "second" in str(raises(ValueError, UARTBus, (None, writer)))
    await second.aclose()
    await other.aclose()


async def test_a_stream_that_has_ended():
    """Whichever runtime's it is: it reads no bytes, and an exchange is a TransferError."""

    class Reader:
        async def read(self, n):
            return b""

    class Writer:
        def write(self, buf):
            written.append(bytes(buf))

        async def drain(self):
            pass

    written = []
    bus = UARTBus((Reader(), Writer()))
    for _ in range(2):
        assert "closed" in str(await raises_async(TransferError, bus.device(1).exchange(b"x", nbytes=1)))
        assert len(bus._table) == 0 and not bus._wire.locked()
    assert written == []
    assert bus.stats()["errors"] == 2


async def test_numbers_of_pins_that_there_are_not():
    """A chip select that the board does not have is no device of the bus: TypeError says how to make one."""

    class Refusing:
        def Pin(self, number):
            raise ValueError("invalid pin")

    rig = spi_rig.Rig("rp2")
    a, _ = rig.devices()
    for machine in (Refusing(), object()):
        sys.modules["machine"] = machine
        assert "is no device of it" in str(await raises_async(TypeError, rig.bus.call(99, print)))
    sys.modules["machine"] = rig.machine
    assert "is no device of it" in str(await raises_async(TypeError, rig.bus.call(99, print)))
    assert await a.read(1) == b"\x5a"
    rig.check()


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
    # Under a hold of all it runs as it is; a name that is no operation is none there, either.
    async with rig.bus.hold_all():
        assert A in await everything()

    @rig.bus.script()
    async def mistaken(regs):
        await regs.nonsense()

    for _ in range(2):
        assert "a script has no nonsense" in str(await raises_async(AttributeError, mistaken()))
    assert len(rig.bus._table) == 0
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


async def test_what_is_no_uart():
    """TypeError names it; a pair of streams cannot have de=."""
    for thing in (5, (1,), (1, 2, 3)):
        bus = UARTBus(lambda: thing, name="line")
        text = str(await raises_async(TypeError, bus.device(1).write(b"a")))
        assert text == "line: %r is no machine.UART, busio.UART or pair of asyncio streams" % (thing,)
    rig = uart_rig.Rig("rp2", de=True)
    bus = UARTBus(lambda: (object(), object()), name="line", de=rig.de)
    assert "line: de= cannot go with a pair of streams" in str(
        await raises_async(ValueError, bus.device(1).write(b"a"))
    )
    await rig.check()


async def test_speed_of_a_uart_that_tells_it_in_words_only():
    """The baud rate is taken from its repr(); 9600 if that says nothing."""
    from buslock.uartports import character_ms

    class Told:
        def __init__(self, text):
            self.text = text

        def __repr__(self):
            return self.text

    for text, ms in (
        ("UART(0, baudrate=19200, bits=8)", 10000 / 19200),
        ("UART(baudrate=1200)", 10000 / 1200),
        ("UART(0, baudrate=?)", 10000 / 9600),
        ("UART(0)", 10000 / 9600),
    ):
        assert abs(character_ms(Told(text)) - ms) < 1e-6, text  # floats of a board have 30 bits


async def test_reset_of_a_uart_that_was_never_used():
    rig = uart_rig.Rig("rp2", factory="sync")
    rig.bus.reset()
    assert rig.made == []
    assert await uart_rig.ask(rig.bus.device(1), b"hello") == b"1=hello\n"
    await rig.check()


async def test_write_then_read_of_a_busio_driver():
    """A CircuitPython driver on a peripheral of MicroPython, with no, short and long writes before the read."""
    for port in ("rp2", "soft", "circuitpython"):
        rig = i2c_rig.Rig(port)
        look = rig.bus.as_busio()

        def drive():
            while not look.try_lock():
                pass
            try:
                for out in (b"\x05", b"\x05\x01", b"\x05\x01\x02\x03\x04\x05"):
                    into = bytearray(2)
                    look.writeto_then_readfrom(i2c_rig.MEMORY if len(out) == 2 else A, out, into)
                    yield out, bytes(into)
            finally:
                look.unlock()

        async with rig.bus.hold_all():
            found = list(drive())
        assert found[0] == (b"\x05", b"\x05\x06"), port
        assert len(found) == 3
        rig.check()


async def test_a_look_alike_of_spi_cleans_what_it_can():
    """After an error the look-alike drives chip selects home and sends the clocks that are owed, before its transfer."""
    for port in ("rp2", "circuitpython"):
        rig = spi_rig.Rig(port)
        a, b = rig.devices(post_clocks=8)
        spi = a.as_machine()
        out, into = b"\x01", bytearray(1)
        async with a.hold(wire=True):
            rig.bus._soil()
            a._away = a._owes = True
            spi.cs(0)
            spi.write_readinto(out, into)
            spi.cs(1)
        assert into == b"\x5b"
        assert not a._away and not a._owes and not rig.bus._dirty
        rig.check()


async def test_registers_of_a_multiplexer_itself():
    """Its own control register is read like any other; what it has open is not known then."""
    rig = i2c_rig.Rig("rp2")
    mux = rig.wire.attach(0x70, Multiplexer())
    mux.channel(1).attach(0x30, RegisterFile(b"abc"))
    channel = rig.bus.mux(0x70).channel(1)
    assert await channel.device(0x30).read_register(1, 1) == b"b"
    assert len(await rig.bus.device(0x70).read_register(0, 1)) == 1
    assert await channel.device(0x30).read_register(2, 1) == b"c"
    assert await channel.call(0x30, lambda: rig.made[0].readfrom_mem(0x30, 0, 1)) == b"a"
    await rig.bus.scan()  # which closes all channels
    # A device from before the multiplexer, called by way of the channel: that is open while its driver runs.
    assert await channel.call(rig.bus.device(A), lambda: rig.made[0].readfrom_mem(0x30, 1, 1)) == b"b"
    rig.check()


async def test_a_look_alike_of_a_bus_that_an_async_factory_makes():
    """NotCovered says that it has to be made first."""
    rig = i2c_rig.Rig("rp2", factory="async")
    look = rig.bus.as_machine()
    assert "bus.call" in str(raises(NotCovered, look.readfrom, A, 1))
    await rig.bus.read_register(A, 0, 1)
    async with rig.bus.device(A).hold():
        assert look.readfrom_mem(A, 0, 1) == b"\x00"
    rig.check()
