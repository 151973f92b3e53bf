"""Bad input to the operations of I2C: a clear error at the latest at the first await, nothing held, nothing sent."""

import asyncio

from buslock import LockTimeout, hold
from i2c_rig import A, B, Rig, rigs, sleep, use_key
from support.turns import raises, raises_async, turns

CLOCK = "virtual"

WRONG = (TypeError, ValueError)
REGISTERS = (-1, 256, 1 << 40, 1.0, 2.5, "3", None, b"\x03", (3,))
COUNTS = (0, -1, -(1 << 40), 2.0, "2", None, b"2")
NO_BUFFERS = (None, 5, 2.5, "abc", [1, 2], b"", bytearray(), memoryview(b""))
NOT_WRITABLE = (b"abc", memoryview(b"abc"), "abc")
NO_DATA = (None, -1, 256, 2.5, "abc", "", b"", bytearray(), memoryview(b""), [1, 2], object())
NO_BYTES = (None, -1, 256, 1.0, "a", b"a")
TIMES = (-1, 1 << 28, 1.5, "5", b"5", (5,))


def bad_calls(o):
    """(name, function that makes the coroutine) of all that `o`, a device or a session, has to refuse."""
    for reg in REGISTERS:
        yield "read_register(%r, 1)" % (reg,), lambda: o.read_register(reg, 1)
        yield "read_register_into(%r, buf)" % (reg,), lambda: o.read_register_into(reg, bytearray(1))
        yield "write_register(%r, 1)" % (reg,), lambda: o.write_register(reg, 1)
        yield "update_register(%r, 1, 1)" % (reg,), lambda: o.update_register(reg, 1, 1)
        yield "wait_register(%r, 0, 0)" % (reg,), lambda: o.wait_register(reg, 0, 0)
    for n in COUNTS:
        yield "read_register(0, %r)" % (n,), lambda: o.read_register(0, n)
        yield "read(%r)" % (n,), lambda: o.read(n)
        yield "write_then_read(b'a', %r)" % (n,), lambda: o.write_then_read(b"a", n)
    for buf in NO_BUFFERS + NOT_WRITABLE:
        yield "read_register_into(0, %r)" % (buf,), lambda: o.read_register_into(0, buf)
        yield "readinto(%r)" % (buf,), lambda: o.readinto(buf)
    for data in NO_DATA:
        yield "write_register(0, %r)" % (data,), lambda: o.write_register(0, data)
        yield "write(%r)" % (data,), lambda: o.write(data)
        yield "write(b'a', %r)" % (data,), lambda: o.write(b"a", data)
        yield "write_then_read(%r, 1)" % (data,), lambda: o.write_then_read(data, 1)
    yield "write()", lambda: o.write()
    for byte in NO_BYTES:
        yield "update_register(0, %r, 0)" % (byte,), lambda: o.update_register(0, byte, 0)
        yield "update_register(0, 0, %r)" % (byte,), lambda: o.update_register(0, 0, byte)
        yield "wait_register(0, %r, 0)" % (byte,), lambda: o.wait_register(0, byte, 0)
        yield "wait_register(0, 0, %r)" % (byte,), lambda: o.wait_register(0, 0, byte)
    for ms in TIMES:
        yield "read_register(timeout_ms=%r)" % (ms,), lambda: o.read_register(0, 1, timeout_ms=ms)
        yield "read_register_into(timeout_ms)", lambda: o.read_register_into(0, bytearray(1), timeout_ms=ms)
        yield "write_register(timeout_ms)", lambda: o.write_register(0, 1, timeout_ms=ms)
        yield "update_register(timeout_ms)", lambda: o.update_register(0, 1, 1, timeout_ms=ms)
        yield "wait_register(timeout_ms=%r)" % (ms,), lambda: o.wait_register(0, 0, 0, timeout_ms=ms)
        yield "read(timeout_ms)", lambda: o.read(1, timeout_ms=ms)
        yield "readinto(timeout_ms)", lambda: o.readinto(bytearray(1), timeout_ms=ms)
        yield "write(timeout_ms)", lambda: o.write(1, timeout_ms=ms)
        yield "write_then_read(timeout_ms)", lambda: o.write_then_read(b"a", 1, timeout_ms=ms)
        yield "probe(timeout_ms=%r)" % (ms,), lambda: o.probe(timeout_ms=ms)
    for ms in TIMES + (None,):
        yield "wait_register(every_ms=%r)" % (ms,), lambda: o.wait_register(0, 0, 0, every_ms=ms)


async def refused(name, make):
    """The error of a call that is to be refused, by TypeError or ValueError and by nothing else."""
    try:
        await make()
    except WRONG as error:
        return error
    except Exception as error:
        raise AssertionError("%s raised %r" % (name, error))
    raise AssertionError("%s was not refused" % name)


async def test_bad_arguments_of_a_device():
    """A device refuses every bad argument of every operation, in every shape of bus; nothing is sent."""
    for rig in rigs():
        for name, make in bad_calls(rig.bus.device(A)):
            await refused(rig.port + " " + name, make)
        assert rig.wire.messages == 0
        rig.check()


async def test_bad_arguments_of_a_session():
    """A session refuses them as well, with and without the wire, and the hold stays usable."""
    for rig in rigs(("rp2", "circuitpython")):
        for wire in (False, True):
            async with rig.bus.device(A).hold(wire=wire) as session:
                for name, make in bad_calls(session):
                    await refused("session " + name, make)
                assert rig.wire.messages == 0
                assert await session.read_register(1, 1) == b"\x01"
                rig.wire.messages = 0
        rig.check()


async def test_bad_arguments_under_the_own_hold():
    """So does a plain operation under the own hold of the device."""
    for rig in rigs(("rp2", "circuitpython")):
        device = rig.bus.device(A)
        async with device.hold():
            for name, make in bad_calls(device):
                await refused("own hold " + name, make)
        assert rig.wire.messages == 0
        rig.check()


async def test_bad_arguments_are_refused_without_waiting():
    """While another task holds the device, a bad argument is told at once and not after the wait."""
    for rig in rigs(("rp2", "circuitpython")):
        device = rig.bus.device(A)
        task = asyncio.create_task(use_key(device, 40))
        await turns()
        for name, make in bad_calls(device):
            await refused("waiting " + name, make)
            assert not task.done(), name + " has waited"
        await task
        assert rig.wire.messages == 0
        rig.check()


async def test_bad_arguments_do_not_run_the_set_up():
    """A call that is refused does not start the device's set-up, and does not make the peripheral."""
    ran = []

    async def setup(session):
        ran.append(1)

    for rig in rigs(("rp2", "circuitpython"), factory="async"):
        device = rig.bus.device(A, setup=setup)
        for name, make in bad_calls(device):
            await refused("set-up " + name, make)
        assert ran == []
        assert rig.made == []
        rig.check()


async def test_bad_arguments_of_a_chunked_device():
    """A device whose transfers are cut refuses the same before the first piece is sent."""
    for rig in rigs(("rp2", "circuitpython")):
        device = rig.bus.device(A, chunk=4)
        for name, make in bad_calls(device):
            await refused("chunked " + name, make)
        async with device.hold() as session:
            for name, make in bad_calls(session):
                await refused("chunked session " + name, make)
        for make in (
            lambda: device.read_register(250, 10),
            lambda: device.read_register_into(250, bytearray(10)),
            lambda: device.write_register(250, b"0123456789"),
        ):
            await refused("past the last register", make)
        assert rig.wire.messages == 0
        rig.check()


async def test_bad_arguments_of_a_device_behind_a_multiplexer():
    """A channel's device refuses the same, and no channel is selected for it."""
    from buslock_sim import Multiplexer, RegisterFile

    for rig in rigs(("rp2", "circuitpython")):
        rig.wire.attach(0x70, Multiplexer()).channel(2).attach(0x30, RegisterFile())
        device = rig.bus.mux(0x70).channel(2).device(0x30)
        for name, make in bad_calls(device):
            await refused("mux " + name, make)
        assert rig.wire.messages == 0
        rig.check()


async def test_registers_of_other_sizes():
    """A register must fit the address size of its device; the message says which."""
    rig = Rig()
    for size in (8, 16, 24, 32):
        device = rig.bus.device(0x20 + size // 8, addrsize=size)
        for register in (1 << size, -1):
            error = await refused("register %d" % register, lambda: device.read_register(register, 1))
            assert "addrsize=%d" % size in str(error)
        await refused("write", lambda: device.write_register(1 << size, 1))
    rig.check()


async def test_bad_addresses():
    """An address is an int in 0..0x7F; short forms, device, hold and call say so, with the name of the bus."""
    rig = Rig(name="sensors")
    bus = rig.bus
    for addr in (-1, 0x80, 0x3FF, 0x400, 1.5, "0x48", None, b"\x48", (1,)):
        for name, function in (
            ("device", lambda: bus.device(addr)),
            ("hold", lambda: bus.hold(addr)),
            ("hold of two", lambda: bus.hold(A, addr)),
            ("mux", lambda: bus.mux(addr)),
        ):
            try:
                function()
            except WRONG as error:
                assert "sensors" in str(error), error
            else:
                raise AssertionError("%s(%r) was not refused" % (name, addr))
        for name, make in (
            ("read_register", lambda: bus.read_register(addr, 0, 1)),
            ("read_register_into", lambda: bus.read_register_into(addr, 0, bytearray(1))),
            ("write_register", lambda: bus.write_register(addr, 0, 1)),
            ("update_register", lambda: bus.update_register(addr, 0, 1, 1)),
            ("call", lambda: bus.call(addr, print)),
        ):

            async def call():
                await make()

            assert "sensors" in str(await refused(name + " of " + repr(addr), call))
    # An address that cannot be a key of anything
    for function in (bus.device, bus.hold):
        raises(TypeError, function, [1])
    assert rig.wire.messages == 0
    rig.check()


async def test_ten_bit_addresses_are_refused_clearly():
    """An address of more than seven bits: the error says that 10-bit addresses are not supported."""
    rig = Rig()
    for addr in (0x80, 0x178, 0x3FF):
        assert "10-bit" in str(raises(ValueError, rig.bus.device, addr))
    assert "10-bit" not in str(raises(ValueError, rig.bus.device, 0x400))
    rig.check()


async def test_what_is_no_device():
    """A channel, another kind of object, nothing at all: no device and no address."""
    rig = Rig()
    bus = rig.bus
    channel = bus.mux(0x70).channel(0)
    for wrong in (channel, bus, object(), rig.made[0]):
        raises(WRONG, bus.device, wrong)
        raises(WRONG, bus.hold, wrong)
        raises(WRONG, hold, wrong)
    raises(ValueError, bus.hold)
    raises(ValueError, channel.hold)
    raises(ValueError, hold)
    raises(TypeError, hold, A)
    rig.check()


async def test_bad_declarations():
    """bus.device() refuses bad arguments, and says which device and which."""
    rig = Rig(name="sensors")
    device = rig.bus.device
    for argument, values in (
        ("addrsize", (0, 7, 12, 40, "8", None, 8.5)),
        ("retries", (-1, 1.5, "2", None)),
        ("chunk", (0, -1, 1.5, "2")),
        ("setup", (5, "init")),
        ("aliases", (5, (0x80,), (-1,), ("x",), (None,), (A,), (A + 2, A + 2))),
    ):
        for value in values:
            try:
                device(A, **{argument: value})
            except WRONG:
                pass
            else:
                raise AssertionError("%s=%r was not refused" % (argument, value))
    raises(TypeError, device, A, timeout=5)
    # None of that has made 0x12 an alias.
    assert device(0x12, retries=1) is device(0x12)
    rig.check()


async def test_bad_times_of_the_bus():
    """The other waiting calls refuse a bad timeout_ms as well."""
    for rig in rigs(("rp2", "circuitpython")):
        bus = rig.bus
        device = bus.device(A)
        channel = bus.mux(0x70).channel(0)
        for ms in TIMES:
            for name, make in (
                ("scan", lambda: bus.scan(timeout_ms=ms)),
                ("channel scan", lambda: channel.scan(timeout_ms=ms)),
                ("recover", lambda: bus.recover(timeout_ms=ms)),
                ("aclose", lambda: bus.aclose(timeout_ms=ms)),
                ("call", lambda: bus.call(A, print, timeout_ms=ms)),
                ("short form", lambda: bus.read_register(A, 0, 1, timeout_ms=ms)),
                ("short write", lambda: bus.write_register(A, 0, 1, timeout_ms=ms)),
                ("short into", lambda: bus.read_register_into(A, 0, bytearray(1), timeout_ms=ms)),
                ("short update", lambda: bus.update_register(A, 0, 1, 1, timeout_ms=ms)),
            ):
                await refused("%s timeout_ms=%r" % (name, ms), make)
            for function in (device.hold, bus.hold_all):
                raises(WRONG, function, timeout_ms=ms)
            raises(WRONG, bus.hold, A, B, timeout_ms=ms)
            raises(WRONG, hold, device, timeout_ms=ms)
            async with device.hold(wire=True) as session:
                await refused("session under the wire", lambda: session.probe(timeout_ms=ms))
        assert rig.wire.messages == 0
        rig.check()


async def test_a_call_of_what_is_no_function():
    """bus.call() takes a synchronous function: TypeError for anything else, with nothing held afterwards."""
    for rig in rigs(("rp2", "circuitpython")):
        ran = []

        async def driver():
            ran.append(1)

        for wrong in (None, 5, "read", driver):
            await raises_async(TypeError, rig.bus.call(A, wrong))
            rig.check()
        assert ran == []
        assert await rig.bus.read_register(A, 1, 1) == b"\x01"
        rig.check()


async def test_timeout_0_never_waits():
    """timeout_ms=0 on any operation: done at once or LockTimeout, without a turn of the scheduler."""
    for rig in rigs(("rp2", "circuitpython")):
        bus = rig.bus
        device = bus.device(A)
        ran = []

        async def other():
            ran.append(1)

        def operations():
            return (
                device.read_register(0, 1, timeout_ms=0),
                device.read_register_into(0, bytearray(1), timeout_ms=0),
                device.write_register(0, 0, timeout_ms=0),
                device.update_register(0, 1, 0, timeout_ms=0),
                device.read(1, timeout_ms=0),
                device.readinto(bytearray(1), timeout_ms=0),
                device.write(0, timeout_ms=0),
                device.write_then_read(b"\x00", 1, timeout_ms=0),
                device.wait_register(0, 0, 0, timeout_ms=0),
                device.probe(timeout_ms=0),
                bus.read_register(A, 0, 1, timeout_ms=0),
                bus.call(A, lambda: 1, timeout_ms=0),
                bus.scan(timeout_ms=0),
            )

        task = asyncio.create_task(other())
        for operation in operations():
            await operation
        assert ran == []
        await task
        ran.clear()

        async def keep():
            async with device.hold(wire=True):
                await sleep(20)

        keeper = asyncio.create_task(keep())
        await turns()
        task = asyncio.create_task(other())
        for operation in operations():
            await raises_async(LockTimeout, operation)
        assert ran == []
        await task
        await keeper
        rig.check()
