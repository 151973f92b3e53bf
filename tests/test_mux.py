"""Multiplexers: the same address on several channels, cached selection, topology, nesting."""

import asyncio

from buslock import BusError, I2CBus, LockTimeout, NoAck, NotCovered, Reentry, TransferError
from buslock_sim import I2C, BusioI2C, Multiplexer, RegisterFile, Thermometer, Wire, check
from i2c_rig import BUSIO, EXPANDER, A, B, Counter, Rig, cancel, outcome, rigs, sleep, use_key
from support.small import few_ports
from support.turns import raises, raises_async, turns

CLOCK = "virtual"

SHAPES = few_ports("rp2", "esp32", "soft", "circuitpython", "blinka")
MUX = 0x70
SENSOR = 0x30


def with_mux(shapes=SHAPES, channels=8, **arguments):
    """Rigs with a multiplexer, and behind each of its channels 0 to 2 a register file at SENSOR, full of n."""
    for rig in rigs(shapes, **arguments):
        rig.chip = rig.wire.attach(MUX, Multiplexer(channels))
        rig.sensors = []
        for n in range(3):
            sensor = Counter(bytes([n]) * 256)
            rig.sensors.append(rig.chip.channel(n).attach(SENSOR, sensor))
        rig.mux = rig.bus.mux(MUX, channels)
        rig.channels = [rig.mux.channel(n) for n in range(3)]
        yield rig


def selections(rig):
    """The control bytes that were written to the multiplexer since the last call."""
    steps = rig.wire.transcript.steps()
    rig.wire.transcript.clear()
    return [data[0] for operation, address, data in steps if operation == "write" and address == MUX]


async def test_the_same_address_on_several_channels():
    """Each channel's device reads its own chip, although all have one address (D4)."""
    for rig in with_mux():
        for n in (0, 1, 2, 1, 0):
            assert await rig.channels[n].device(SENSOR).read_register(5, 2) == bytes([n, n])
            await rig.channels[n].device(SENSOR).write_register(9, 100 + n)
        assert [sensor[9] for sensor in rig.sensors] == [100, 101, 102]
        rig.check()


async def test_every_operation_of_a_channels_device():
    """A device behind a channel does all that a device of the bus does, and so does its session."""
    for rig in with_mux():
        other = rig.channels[0].device(SENSOR)
        device = rig.channels[1].device(SENSOR)
        rig.channels[2].device(SENSOR)

        async def operate(o, select):
            await select()
            assert await o.read_register(0, 1) == b"\x01"
            buf = bytearray(1)
            await select()
            await o.read_register_into(0, buf)
            assert buf == b"\x01"
            await select()
            await o.write_register(0x40, b"\x11\x22")
            await select()
            assert await o.update_register(0x40, 0x0F, 0x05) == 0x15
            await select()
            assert await o.wait_register(0x40, 0xFF, 0x15) == 0x15
            await select()
            await o.write(0x40)
            await select()
            assert await o.read(2) == b"\x15\x22"
            await select()
            await o.readinto(buf)
            await select()
            assert await o.write_then_read(b"\x40", 2) == b"\x15\x22"
            await select()
            assert await o.write_then_read(b"\x40\x01\x02\x03\x04", 1) == b"\x01"
            await select()
            assert await o.probe() is True
            assert rig.sensors[0][0x40] == 0 and rig.sensors[2][0x40] == 2

        async def elsewhere():
            await other.read_register(0, 1)

        async def nothing():
            pass

        await operate(device, elsewhere)
        async with device.hold() as session:
            await operate(session, elsewhere)
            await operate(device, elsewhere)
        async with device.hold(wire=True) as session:
            await operate(session, nothing)
        assert await rig.bus.device(A).read_register(1, 1) == b"\x01"
        rig.check()


async def test_two_tasks_on_two_channels():
    """Two tasks whose sessions interleave behind one multiplexer each read their own chip, every time (D4)."""
    for rig in with_mux():
        ended = []
        changes = [0]

        async def user(n):
            device = rig.channels[n].device(SENSOR)
            async with device.hold() as session:
                for i in range(20):
                    assert await session.read_register(i, 2) == bytes([n, n])
                    await turns(i % 3)
                    await session.write_register(200, 10 + n)
                    changes[0] += len(selections(rig))
                    await turns()
                ended.append(n)

        await asyncio.gather(user(0), user(1), user(2))
        assert [sensor[200] for sensor in rig.sensors] == [10, 11, 12]
        assert len(ended) == 3
        # They did interleave: the channel was changed again and again.
        assert changes[0] > 20
        rig.check()


async def test_the_key_is_the_way_to_the_device():
    """Devices with one address on two channels have keys of their own, with names that tell the way."""
    for rig in with_mux(("rp2", "circuitpython")):
        zero, one = rig.channels[0].device(SENSOR), rig.channels[1].device(SENSOR)
        assert rig.channels[0].device(SENSOR) is zero
        assert zero is not one
        task = asyncio.create_task(use_key(zero, 20))
        await turns()
        assert await one.read_register(0, 1, timeout_ms=0) == b"\x01"
        text = str(await raises_async(LockTimeout, zero.read_register(0, 1, timeout_ms=2)))
        for part in ("i2c", "0x70", "0", "0x30"):
            assert part in text
        await cancel(task)
        rig.check()


async def test_the_channel_is_selected_when_it_changes():
    """A channel that is open already is not selected again; another one is, and closes the first."""
    for rig in with_mux(("rp2", "soft", "circuitpython")):
        zero, one = rig.channels[0].device(SENSOR), rig.channels[1].device(SENSOR)
        await zero.read_register(0, 1)
        selections(rig)
        await zero.read_register(0, 1)
        await zero.write_register(1, 1)
        await rig.bus.read_register(A, 0, 1)
        await zero.read_register(0, 1)
        assert selections(rig) == []
        await one.read_register(0, 1)
        assert selections(rig) == [1 << 1]
        await zero.read_register(0, 1)
        await one.read_register(0, 1)
        assert selections(rig) == [1 << 0, 1 << 1]
        rig.check()


async def test_select_and_transfer_are_one_step():
    """Nobody comes between the selection of a channel and the transfer behind it."""
    for rig in with_mux():
        await asyncio.gather(
            *[rig.channels[n % 3].device(SENSOR).read_register(n, 1) for n in range(9)],
            *[rig.bus.read_register((A, B)[n % 2], 0, 1) for n in range(9)],
        )
        users = rig.users()
        for n, address in enumerate(users):
            if address == MUX and n + 1 < len(users):
                assert users[n + 1] in (SENSOR, MUX)
        rig.check()


async def test_a_select_that_fails():
    """A multiplexer that does not answer: an error that names it, nothing held, and the next use selects anew (D1)."""
    for rig in with_mux():
        device = rig.channels[0].device(SENSOR)
        for kind, expected in (("nack", NoAck), ("timeout", TransferError)):
            for make in (
                lambda o: o.read_register(0, 1),
                lambda o: o.write_register(1, 1),
                lambda o: o.update_register(1, 1, 1),
                lambda o: o.read(1),
                lambda o: o.write(1),
                lambda o: o.write_then_read(b"\x00", 1),
                lambda o: o.probe(),
            ):
                await rig.channels[1].device(SENSOR).read_register(0, 1)
                rig.chip.fail(kind)
                error = await raises_async(expected, make(device))
                assert "0x70" in error.args[1] and "i2c" in error.args[1], error
                rig.check()
                if rig.busio:
                    assert rig.made[0].try_lock()
                    rig.made[0].unlock()
                assert await rig.bus.read_register(B, 0, 1) == b"\xff"
                selections(rig)
                assert await device.read_register(0, 1) == b"\x00"
                assert 1 in selections(rig)
        await raises_async(BusError, failing_scan(rig))
        rig.check()
        async with device.hold() as session:
            await rig.channels[1].device(SENSOR).read_register(0, 1)
            rig.chip.fail("nack")
            await raises_async(NoAck, session.read_register(0, 1))
            assert await session.read_register(0, 1) == b"\x00"
        rig.check()


async def test_a_control_byte_that_is_not_acknowledged():
    """A NACK of the control byte is a select that failed, also where the port only returns a short count."""
    for rig in with_mux():
        zero, one = rig.channels[0].device(SENSOR), rig.channels[1].device(SENSOR)
        await one.read_register(0, 1)
        rig.chip.fail("nack", at=0)
        error = await raises_async(NoAck, zero.read_register(0, 1))
        assert "0x70" in error.args[1]
        assert await zero.read_register(0, 1) == b"\x00"
        rig.check()


async def failing_scan(rig):
    await rig.channels[1].device(SENSOR).read_register(0, 1)
    rig.chip.fail("nack")
    return await rig.channels[0].scan()


async def test_a_failed_select_makes_the_set_up_due():
    """A select that fails is an error of the device that reached a caller: its set-up is run again."""
    for rig in with_mux(("rp2", "circuitpython")):
        runs = []

        async def setup(session):
            runs.append(1)
            await session.write_register(0x20, 7)

        device = rig.channels[0].device(SENSOR, setup=setup)
        assert await device.read_register(0x20, 1) == b"\x07"
        for make in (
            lambda: device.read_register(0, 1),
            lambda: device.read_register_into(0, bytearray(1)),
            lambda: device.write_register(0, 1),
            lambda: device.read(1),
            lambda: device.write(1),
            lambda: device.write_then_read(b"\x00", 1),
            lambda: rig.bus.call(device, print),
        ):
            await rig.channels[1].device(SENSOR).read_register(0, 1)
            rig.chip.fail("nack")
            await raises_async(NoAck, make())
            rig.sensors[0][0x20] = 0
            before = len(runs)
            assert await device.read_register(0x20, 1) == b"\x07"
            assert len(runs) == before + 1
        rig.check()


async def test_retries_repeat_the_select():
    """With retries a select that failed once is repeated with the transfer behind it."""
    for rig in with_mux():
        device = rig.channels[0].device(SENSOR, retries=3)
        await rig.channels[1].device(SENSOR).read_register(0, 1)
        rig.chip.fail("nack")
        assert await device.read_register(0, 1) == b"\x00"
        assert rig.bus.stats()["retries"] >= 1
        rig.check()


async def test_the_open_channel_is_forgotten_after_an_error():
    """After any failed transfer nobody knows what the multiplexer has open: it is selected again (D1)."""
    for rig in with_mux():
        device = rig.channels[0].device(SENSOR)
        for kind in ("nack", "timeout"):
            await device.read_register(0, 1)
            rig.sensors[0].fail(kind)
            await raises_async(BusError, device.read_register(0, 1))
            rig.sensors[0].recover()
            rig.chip.reset()  # as its RESET pin, or a brown-out, does
            selections(rig)
            assert await device.read_register(0, 1) == b"\x00"
            assert 1 in selections(rig)
            # An error of a device on the bus itself counts as well.
            rig.a.fail(kind)
            await raises_async(BusError, rig.bus.read_register(A, 0, 1))
            rig.a.recover()
            rig.chip.reset()
            assert await device.read_register(0, 1) == b"\x00"
        rig.check()


async def test_the_open_channel_is_forgotten_after_a_recovery():
    """So it is after recover(), after aclose() and after reset()."""
    for rig in list(with_mux(("rp2", "circuitpython"), factory="sync")) + list(with_mux(("rp2",))):
        device = rig.channels[0].device(SENSOR)

        async def recover():
            await rig.bus.recover()

        async def aclose():
            await rig.bus.aclose()

        async def reset():
            rig.bus.reset()

        for forget in (recover, reset, aclose):
            await device.read_register(0, 1)
            await forget()
            rig.chip.reset()
            assert await device.read_register(0, 1) == b"\x00"
        rig.check()


async def test_the_open_channel_is_forgotten_after_a_foreign_write():
    """Whoever writes to the multiplexer itself, by its device, a session, a call or with the wire, makes it unknown."""
    for rig in with_mux():
        device = rig.channels[0].device(SENSOR)
        chip = rig.bus.device(MUX)

        def driver():
            raw = rig.made[0]
            if rig.busio:
                raw.try_lock()
                raw.writeto(MUX, b"\x02")
                raw.unlock()
            else:
                raw.writeto(MUX, b"\x02")

        async def by_device():
            await chip.write(0x02)

        async def by_short_form():
            await rig.bus.write_register(MUX, 0x02, 0x02)

        async def by_session():
            async with chip.hold() as session:
                await session.write(0x02)

        async def by_call():
            await rig.bus.call(A, driver)

        async def by_wire():
            async with rig.bus.device(A).hold(wire=True):
                driver()

        for write in (by_device, by_short_form, by_session, by_call, by_wire):
            assert await device.read_register(0, 1) == b"\x00"
            await write()
            assert rig.chip.control == 0x02
            assert await device.read_register(0, 1) == b"\x00"
            rig.check()
        # Its control byte can be read, too.
        assert await chip.read(1) == b"\x01"
        assert await device.read_register(0, 1) == b"\x00"
        rig.check()


# Scan, hold and call of a channel


async def test_scan_of_a_channel():
    """A channel's scan gives what is behind it, without the bus before it and without other channels (D3)."""
    for rig in with_mux():
        rig.chip.channel(1).attach(0x31, RegisterFile())
        for n, expected in ((0, [SENSOR]), (1, [SENSOR, 0x31]), (2, [SENSOR]), (0, [SENSOR])):
            assert await rig.channels[n].scan() == expected
            rig.check()
        assert await rig.mux.channel(5).scan() == []
        # And a device's read after it is not misled by what the scan has open.
        assert await rig.channels[0].device(SENSOR).read_register(0, 1) == b"\x00"
        rig.check()


async def test_scan_of_the_bus_with_an_open_channel():
    """The bus's own scan gives what is on the bus itself, whichever channel was used last."""
    for rig in with_mux():
        before = await rig.bus.scan()
        assert SENSOR not in before and MUX in before
        await rig.channels[1].device(SENSOR).read_register(0, 1)
        assert await rig.bus.scan() == before
        await rig.channels[1].scan()
        assert await rig.bus.scan() == before
        assert await rig.channels[1].device(SENSOR).read_register(0, 1) == b"\x01"
        rig.check()


async def test_scan_with_a_multiplexer_that_is_not_there():
    """A multiplexer that is declared and missing does not keep the bus from being scanned: scan() is how one finds out."""
    for rig in with_mux():
        before = await rig.bus.scan()
        await raises_async(NoAck, rig.bus.mux(0x77).channel(0).device(SENSOR).read_register(0, 1))
        assert await rig.bus.scan() == before
        rig.check()


async def test_scan_of_a_channel_has_the_wire():
    """A channel's scan waits for the wire with its timeout, and nobody transfers during it (D3)."""
    for rig in with_mux(("rp2", "circuitpython")):

        async def keeper():
            async with rig.bus.device(A).hold(wire=True):
                await sleep(10)

        task = asyncio.create_task(keeper())
        await turns()
        await raises_async(LockTimeout, rig.channels[0].scan(timeout_ms=2))
        await task
        others = [asyncio.create_task(rig.channels[n].device(SENSOR).read_register(0, 1)) for n in range(3)]
        assert await rig.channels[0].scan() == [SENSOR]
        assert await asyncio.gather(*others) == [b"\x00", b"\x01", b"\x02"]
        async with rig.bus.device(A).hold(wire=True):
            await raises_async(Reentry, rig.channels[0].scan())
        rig.check()


async def test_hold_of_a_channel():
    """channel.hold(...) takes the addresses behind the channel; its operations as well."""
    for rig in with_mux():
        one = rig.channels[1]
        rig.chip.channel(1).attach(0x31, RegisterFile(b"\x31"))
        for wire in (False, True):
            async with one.hold(SENSOR, 0x31, wire=wire) as regs:
                assert await regs.read_register(SENSOR, 0, 1) == b"\x01"
                assert await regs.read_register(0x31, 0, 1) == b"\x31"
                assert await one.device(SENSOR).read_register(0, 1) == b"\x01"
                raises(NotCovered, regs.read_register, rig.channels[0].device(SENSOR), 0, 1)
            rig.check()
        # The bus's own holds take devices of channels.
        zero = rig.channels[0].device(SENSOR)
        async with rig.bus.hold(A, zero, one.device(SENSOR)) as regs:
            assert await regs.read_register(A, 1, 1) == b"\x01"
            assert await regs.read_register(zero, 0, 1) == b"\x00"
            assert await regs.read_register(one.device(SENSOR), 0, 1) == b"\x01"
        async with rig.bus.hold_all() as regs:
            assert await regs.read_register(zero, 0, 1) == b"\x00"
            assert await regs.read_register(one.device(SENSOR), 0, 1) == b"\x01"
        rig.check()


async def test_short_forms_and_call_of_a_channel():
    """A channel has the short forms of a bus, and call() with the channel open while the driver runs."""
    for rig in with_mux():
        one = rig.channels[1]
        assert await one.read_register(SENSOR, 3, 1) == b"\x01"
        await one.write_register(SENSOR, 3, 7)
        assert await one.update_register(SENSOR, 3, 0xF0, 0x20) == 0x27
        buf = bytearray(1)
        await one.read_register_into(SENSOR, 3, buf, timeout_ms=5)
        assert buf == b"\x27"
        await rig.channels[0].device(SENSOR).read_register(0, 1)

        assert await one.call(SENSOR, raw_read, rig, 3) == b"\x27"
        assert await rig.channels[0].call(SENSOR, raw_read, rig, 0, timeout_ms=5) == b"\x00"
        assert await one.call(one.device(SENSOR), raw_read, rig, 3) == b"\x27"
        rig.check()


def raw_read(rig, register=0):
    """What a driver does that knows nothing of multiplexers."""
    raw = rig.made[0]
    if not rig.busio:
        return raw.readfrom_mem(SENSOR, register, 1)
    buf = bytearray(1)
    raw.try_lock()
    raw.writeto_then_readfrom(SENSOR, bytes([register]), buf)
    raw.unlock()
    return bytes(buf)


async def test_a_driver_with_the_wire_of_a_channels_device():
    """A hold with wire=True of a device behind a channel has that channel open: a raw driver in it reaches its chip."""
    for rig in with_mux(("rp2", "soft", "circuitpython")):
        for make in (
            lambda: rig.channels[2].device(SENSOR).hold(wire=True),
            lambda: rig.channels[2].hold(SENSOR, wire=True),
        ):
            await rig.channels[0].device(SENSOR).read_register(0, 1)
            async with make():
                assert raw_read(rig) == b"\x02"
            assert await rig.channels[0].device(SENSOR).read_register(0, 1) == b"\x00"
            await rig.channels[0].device(SENSOR).read_register(0, 1)
            rig.chip.fail("nack")

            async def use():
                async with make():
                    raise AssertionError("the channel could not be opened")

            await raises_async(NoAck, use())
            rig.check()


async def test_a_call_of_a_channels_device():
    """bus.call() of a device behind a channel has that channel open as well; a failed select is told."""
    for rig in with_mux(("rp2", "soft", "circuitpython")):
        for call in (rig.bus.call, rig.channels[1].call):
            device = rig.channels[1].device(SENSOR)
            await rig.channels[0].device(SENSOR).read_register(0, 1)
            assert await call(device, raw_read, rig) == b"\x01"
            async with device.hold():
                await rig.channels[0].device(SENSOR).read_register(0, 1)
                assert await call(device, raw_read, rig) == b"\x01"
            await rig.channels[0].device(SENSOR).read_register(0, 1)
            rig.chip.fail("nack")
            await raises_async(NoAck, call(device, raw_read, rig))
            rig.check()


async def test_set_ups_and_aliases_behind_a_channel():
    """Set-up, retries, aliases, pieces: a channel's device has them like any."""
    for rig in with_mux():
        one = rig.channels[1]
        rig.chip.channel(1).attach(0x33, rig.sensors[1])
        runs = []

        async def setup(session):
            runs.append(1)
            await session.write_register(0x20, 0x77)

        device = one.device(SENSOR, setup=setup, retries=2, aliases=(0x33,), chunk=4)
        alias = one.device(0x33)
        await rig.channels[0].device(SENSOR).read_register(0, 1)
        results = await asyncio.gather(alias.read_register(0x20, 1), device.read_register(0x20, 1))
        assert results == [b"\x77", b"\x77"]
        assert runs == [1]
        await rig.channels[0].device(SENSOR).read_register(0, 1)
        await device.write_register(0x41, b"0123456789")
        await rig.channels[0].device(SENSOR).read_register(0, 1)
        assert await alias.read_register(0x41, 10) == b"0123456789"
        assert rig.sensors[0][0x41] == 0
        rig.check()


async def test_long_transfers_behind_two_channels():
    """Two long transfers in pieces behind two channels take turns, each in its own channel."""
    for rig in with_mux():
        zero = rig.channels[0].device(SENSOR, chunk=4)
        one = rig.channels[1].device(SENSOR, chunk=4)
        await asyncio.gather(zero.write_register(0, b"0" * 64), one.write_register(0, b"1" * 64))
        assert bytes(rig.sensors[0][n] for n in range(64)) == b"0" * 64
        assert bytes(rig.sensors[1][n] for n in range(64)) == b"1" * 64
        assert len(selections(rig)) > 16
        rig.check()


async def test_stop_false_behind_a_channel():
    """A session behind a channel may leave out a STOP as well, and nobody changes the channel before it is made."""
    for rig in with_mux(("rp2", "stm32", "soft")):
        zero, one = rig.channels[0].device(SENSOR), rig.channels[1].device(SENSOR)
        async with one.hold() as session:
            await zero.read_register(0, 1)
            await session.write(b"\x05", stop=False)
            other = asyncio.create_task(zero.read_register(0, 1))
            await turns(3)
            assert not other.done()
            assert await session.read(1) == b"\x01"
            assert await other == b"\x00"
            await session.write(b"\x05", stop=False)
        rig.check()
        assert await zero.read_register(0, 1) == b"\x00"
        rig.check()


# Topology


async def test_an_address_of_the_bus_is_refused_behind_it():
    """A device behind a multiplexer may not have the address of one before it, nor the other way round."""
    for shape in ("rp2", "circuitpython"):
        rig = Rig(shape)
        mux = rig.bus.mux(MUX)
        rig.bus.device(0x40)
        channel = mux.channel(0)
        for address in (0x40, MUX):
            error = raises(ValueError, channel.device, address)
            assert "0x%02x" % address in str(error) and "i2c/0x70.0" in str(error)
            raises(ValueError, channel.read_register, address, 0, 1)
            raises(ValueError, channel.hold, address)
        channel.device(0x41)
        for function in (
            lambda: rig.bus.device(0x41),
            lambda: rig.bus.read_register(0x41, 0, 1),
            lambda: rig.bus.hold(0x41),
            lambda: rig.bus.mux(0x41),
            lambda: rig.bus.device(0x42, aliases=(0x41,)),
            lambda: channel.device(0x43, aliases=(0x40,)),
            lambda: channel.device(0x44, aliases=(MUX,)),
            lambda: channel.mux(0x40),
            lambda: channel.mux(MUX),
            lambda: channel.mux(0x41),
        ):
            assert "0x4" in str(raises(ValueError, function)) or "0x70" in str(raises(ValueError, function))
        # What was refused has left no trace.
        rig.bus.device(0x42, aliases=(0x45,))
        channel.device(0x43, aliases=(0x46,))
        raises(ValueError, channel.device, 0x45)
        raises(ValueError, rig.bus.device, 0x46)
        assert rig.wire.messages == 0
        rig.check()


async def test_one_address_on_several_channels_and_multiplexers():
    """The same address on other channels, and behind another multiplexer, is what a multiplexer is for."""
    rig = Rig()
    one, two = rig.bus.mux(MUX), rig.bus.mux(0x71)
    keys = set()
    for mux in (one, two):
        for n in range(8):
            keys.add(mux.channel(n).device(SENSOR)._key)
    assert len(keys) == 16
    # A multiplexer's own address is in use for all that is behind any of them.
    raises(ValueError, one.channel(0).device, 0x71)
    raises(ValueError, two.channel(0).device, MUX)
    one.channel(0).device(0x72)
    raises(ValueError, rig.bus.mux, 0x72)
    rig.check()


async def test_a_multiplexer_is_declared_once():
    """bus.mux() gives the same object again; another number of channels, or an address in use, is refused."""
    rig = Rig()
    bus = rig.bus
    mux = bus.mux(MUX)
    assert bus.mux(MUX) is mux
    assert bus.mux(MUX, 8) is mux
    assert mux.channel(3) is mux.channel(3)
    assert mux.channel(3) is not mux.channel(4)
    raises(ValueError, bus.mux, MUX, 4)
    for channels in (0, 9, -1, 2.5, "8", None):
        raises((ValueError, TypeError), bus.mux, 0x71, channels)
    bus.device(0x72)
    raises(ValueError, bus.mux, 0x72)
    for n in (-1, 8, 1.0, "0", None):
        raises(ValueError, mux.channel, n)
    four = bus.mux(0x73, channels=4)
    raises(ValueError, four.channel, 4)
    raises(ValueError, bus.mux, 0)
    raises(ValueError, mux.channel(0).device, 0)
    raises(ValueError, mux.channel(0).device, 0x178)
    rig.check()


def two_muxes(shape):
    """A rig with two multiplexers on the bus and a third behind channel 0 of the first, sensors behind all."""
    rig = Rig(shape)
    one = rig.wire.attach(MUX, Multiplexer())
    two = rig.wire.attach(0x71, Multiplexer())
    inner = one.channel(0).attach(0x72, Multiplexer())
    rig.simulated = one, two, inner
    bus = rig.bus
    nested = bus.mux(MUX).channel(0).mux(0x72)
    rig.places = {}
    for name, segment, channel in (
        ("one.0", one.channel(0), bus.mux(MUX).channel(0)),
        ("one.1", one.channel(1), bus.mux(MUX).channel(1)),
        ("two.0", two.channel(0), bus.mux(0x71).channel(0)),
        ("two.1", two.channel(1), bus.mux(0x71).channel(1)),
        ("inner.0", inner.channel(0), nested.channel(0)),
        ("inner.1", inner.channel(1), nested.channel(1)),
    ):
        address = SENSOR if name != "one.0" else 0x34
        segment.attach(address, RegisterFile(name.encode()))
        rig.places[name] = channel.device(address)
    return rig


async def test_several_multiplexers():
    """With several multiplexers, nested too, each device is reached from wherever the last one was."""
    for shape in SHAPES:
        rig = two_muxes(shape)
        for first in rig.places:
            for second in rig.places:
                for name in (first, second):
                    assert await rig.places[name].read_register(0, len(name)) == name.encode()
                    at_most_one_open(rig, name)
        rig.check()


def at_most_one_open(rig, name):
    """One channel of one multiplexer is open, or the way to a nested one."""
    one, two, inner = [len(mux.open_channels()) for mux in rig.simulated]
    assert one <= 1 and two <= 1 and inner <= 1
    assert one + two <= 1
    reachable = [chip for chip in rig.wire.reachable() if type(chip) is RegisterFile]
    assert len(reachable) <= 2, name  # one.0 has its own chip before the nested multiplexer


async def test_several_multiplexers_and_tasks():
    """Tasks behind several multiplexers at the same time never reach another's chip."""
    for shape in ("rp2", "soft", "circuitpython"):
        rig = two_muxes(shape)

        async def user(name):
            device = rig.places[name]
            for i in range(10):
                async with device.hold() as session:
                    assert await session.read_register(0, len(name)) == name.encode()
                    await turns(i % 3)
                    await session.write_register(0x80, i)
                    await turns(1)
                    assert await session.read_register(0x80, 1) == bytes([i])

        await asyncio.gather(*[user(name) for name in rig.places])
        rig.check()


async def test_nested_selection_that_fails():
    """A select that fails at any level leaves nothing held, and the next use selects the whole way anew."""
    for shape in ("rp2", "circuitpython"):
        for failing in range(3):
            for target in ("inner.1", "two.0", "one.1"):
                for source in ("inner.0", "two.1", "one.0"):
                    rig = two_muxes(shape)
                    await rig.places[source].read_register(0, 1)
                    rig.simulated[failing].fail("nack")
                    result = await outcome(rig.places[target].read_register(0, len(target)))
                    assert result == target.encode() or isinstance(result, NoAck)
                    rig.check()
                    for mux in rig.simulated:
                        mux.recover()
                        mux.reset()
                    if result == target.encode():
                        # No select was due there; after a reset the caches are wrong until an error or a recovery.
                        await rig.bus.recover()
                    for name in (target, source):
                        assert await rig.places[name].read_register(0, len(name)) == name.encode()
                    rig.check()


async def test_nested_refusals():
    """The rule of addresses holds over all levels: nothing behind a channel has an address of what is before it."""
    rig = Rig()
    bus = rig.bus
    outer = bus.mux(MUX).channel(0)
    inner = outer.mux(0x71).channel(0)
    bus.device(0x40)
    outer.device(0x41)
    for address in (0x40, 0x41, MUX, 0x71):
        raises(ValueError, inner.device, address)
        raises(ValueError, inner.mux, address)
    inner.device(0x42)
    for function in (
        lambda: outer.device(0x42),
        lambda: outer.mux(0x42),
        lambda: bus.device(0x42),
        lambda: bus.mux(0x42),
        lambda: outer.device(0x71),
        lambda: outer.device(0x43, aliases=(0x42,)),
        lambda: inner.device(0x44, aliases=(0x41,)),
    ):
        raises(ValueError, function)
    # Another channel is another world.
    bus.mux(MUX).channel(1).device(0x42)
    assert outer.mux(0x71) is outer.mux(0x71)
    rig.check()


async def test_nested_scan():
    """The scan of a nested channel gives what is behind it alone."""
    for shape in ("rp2", "circuitpython"):
        rig = two_muxes(shape)
        outer = rig.bus.mux(MUX).channel(0)
        inner = outer.mux(0x72).channel(1)
        assert await inner.scan() == [SENSOR]
        assert await outer.scan() == [0x34, 0x72]
        assert await inner.scan() == [SENSOR]
        assert await rig.bus.scan() == [A, B, EXPANDER, 0x48, 0x50, MUX, 0x71]
        assert await rig.places["inner.0"].read_register(0, 7) == b"inner.0"
        rig.check()


async def test_the_channel_of_a_missing_multiplexer():
    """A multiplexer that is not there: NoAck that names it; the devices of the bus itself are not disturbed."""
    for rig in rigs(SHAPES):
        device = rig.bus.mux(0x77).channel(0).device(SENSOR)
        for _ in range(2):
            error = await raises_async(NoAck, device.read_register(0, 1))
            assert "0x77" in error.args[1]
            assert await rig.bus.read_register(A, 1, 1) == b"\x01"
            rig.check()


async def test_cancelled_at_each_turn():
    """A task behind a channel that is cancelled at any point leaves the next one its own channel."""
    for shape in ("rp2", "circuitpython"):
        for n in range(6):
            for rig in with_mux((shape,)):

                async def user():
                    async with rig.channels[1].device(SENSOR).hold() as session:
                        for _ in range(5):
                            await session.read_register(0, 1)
                            await turns()

                task = asyncio.create_task(user())
                other = asyncio.create_task(rig.channels[0].device(SENSOR).read_register(0, 1))
                await turns(n)
                await cancel(task)
                assert await other == b"\x00"
                assert await rig.channels[1].device(SENSOR).read_register(0, 1) == b"\x01"
                rig.check()


async def test_the_same_sensor_twice():
    """Two thermometers with one address behind a multiplexer convert at the same time, the bus free (D4, I2)."""
    for shape in ("rp2", "circuitpython"):
        wire = Wire()
        chip = wire.attach(MUX, Multiplexer())
        for n, celsius in ((0, 20.0), (4, 35.5)):
            chip.channel(n).attach(0x48, Thermometer(celsius, conversion_ms=20))
        raw = BusioI2C(wire, port=shape) if shape in BUSIO else I2C(wire, shape)
        mux = I2CBus(raw).mux(MUX)

        async def measure(n):
            async with mux.channel(n).device(0x48).hold() as session:
                await session.write_register(1, b"\x0c\x00")
                await sleep(25)
                high, low = await session.read_register(0, 2)
                return (high << 8 | low) / 128

        assert await asyncio.gather(measure(0), measure(4)) == [20.0, 35.5]
        check()
        assert wire.idle()
