"""The simulated wire: its transcript, its time, and the mistakes it reports."""

import asyncio

from buslock_sim import I2C, Chip, ProtocolError, RegisterFile, SoftI2C, VirtualClock, Wire, check, clock, forget


def raised(kind, function, *args, **kwargs):
    try:
        function(*args, **kwargs)
    except kind as error:
        return error
    raise AssertionError(f"no {kind.__name__}")


def registers():
    wire = Wire()
    chip = wire.attach(0x10, RegisterFile(bytes(range(16)), size=16))
    return wire, chip, I2C(wire)


def mistake_made(wire):
    """The text of the only violation of the wire, which is then forgotten."""
    assert len(wire.violations) == 1
    forget()
    return str(wire.violations.pop())


def test_transcript_shows_start_restart_stop():
    wire, _, i2c = registers()
    assert i2c.readfrom_mem(0x10, 3, 2) == b"\x03\x04"
    assert wire.transcript.steps() == [
        ("START", 0x10, b""),
        ("write", 0x10, b"\x03"),
        ("RESTART", 0x10, b""),
        ("read", 0x10, b"\x03\x04"),
        ("STOP", 0x10, b""),
    ]
    assert wire.messages == 2


def test_transcript_shows_nacks():
    wire, _, i2c = registers()
    raised(OSError, i2c.writeto, 0x11, b"a")
    assert wire.transcript.steps() == [("START", 0x11, b""), ("NACK", 0x11, b""), ("STOP", 0x11, b"")]
    wire.transcript.clear()
    assert i2c.writeto(0x10, b"\x63\x01") == 0  # there is no register 0x63
    assert wire.transcript.steps() == [("START", 0x10, b""), ("NACK", 0x10, b"\x63"), ("STOP", 0x10, b"")]


def test_transcript_is_bounded():
    wire = Wire(keep=10)
    i2c = I2C(wire)
    for _ in range(20):
        raised(OSError, i2c.writeto, 0x11, b"a")
    assert len(wire.transcript) <= 10
    assert wire.transcript[-1][2] == "STOP"
    silent = Wire(keep=0)
    silent.attach(0x10, RegisterFile())
    I2C(silent).writeto(0x10, b"\x00\x01")
    assert len(silent.transcript) == 0


def test_write_without_stop_keeps_the_wire():
    wire, _, i2c = registers()
    assert wire.idle()
    i2c.writeto(0x10, b"\x05", False)
    assert not wire.idle()
    assert wire.transcript[-1][2] == "write"
    assert i2c.readfrom(0x10, 1) == b"\x05"
    assert wire.idle()
    assert [step[0] for step in wire.transcript.steps()] == ["START", "write", "RESTART", "read", "STOP"]


def test_transfers_take_the_time_of_their_bytes():
    before = clock.use(VirtualClock())
    try:
        wire = Wire()
        wire.attach(0x10, RegisterFile())
        i2c = I2C(wire, freq=100000)
        start = clock.now_us()
        i2c.writeto(0x10, b"\x00\x01\x02")
        assert clock.now_us() - start == 4 * 90
        stamps = [entry[0] for entry in wire.transcript]
        assert stamps[-1] - stamps[0] == 4 * 90
    finally:
        clock.use(before)


def test_clock_rejects_what_is_no_clock():
    raised(TypeError, clock.use, "tomorrow")
    raised(TypeError, clock.use, None)


def test_real_clock_blocks():
    before = clock.use("real")
    try:
        start = clock.now_us()
        clock.busy_us(3000)
        assert clock.now_us() - start >= 3000
    finally:
        clock.use(before)


def test_start_inside_a_transfer_is_refused_and_remembered():
    wire, chip, i2c = registers()
    other = I2C(wire)
    caught = []

    def interrupt():
        wire.on_byte = None
        try:
            other.writeto(0x20, b"a")
        except ProtocolError as error:
            caught.append(error)  # swallowed, as a driver might

    wire.on_byte = interrupt
    i2c.writeto(0x10, b"\x01\x77")
    assert len(caught) == 1
    assert chip[1] == 0x77  # the transfer itself was not disturbed
    assert raised(ProtocolError, wire.check) is caught[0]
    assert "0x10" in str(raised(ProtocolError, check))
    check()  # it is reported once


def test_pins_and_init_inside_a_transfer_are_refused():
    wire, _, i2c = registers()
    for intrude in (wire.to_gpio, lambda: I2C(wire)):

        def interrupt(intrude=intrude):
            wire.on_byte = None
            intrude()

        wire.on_byte = interrupt
        raised(ProtocolError, i2c.writeto, 0x10, b"\x01")
        assert "inside a transfer to 0x10" in mistake_made(wire)
        assert wire.idle()
        assert i2c.writeto(0x10, b"\x01") == 1


async def test_start_of_another_task_while_the_wire_is_kept():
    wire, _, i2c = registers()
    i2c.writeto(0x10, b"\x05", False)

    async def intruder():
        i2c.readfrom(0x10, 1)

    task = asyncio.create_task(intruder())
    try:
        await task
        raise AssertionError("the START was let through")
    except ProtocolError:
        pass
    assert "no STOP yet" in mistake_made(wire)
    assert i2c.readfrom(0x10, 1) == b"\x05"  # the keeper is not disturbed
    task = asyncio.create_task(intruder())
    await task
    assert not wire.violations


async def test_tasks_may_hand_over_if_the_test_says_so():
    wire, _, i2c = registers()
    wire.user = lambda: None
    i2c.writeto(0x10, b"\x05", False)

    async def second_half():
        return i2c.readfrom(0x10, 1)

    assert await asyncio.create_task(second_half()) == b"\x05"
    wire.check()


async def test_transcript_names_the_task():
    wire, _, i2c = registers()

    async def poll():
        i2c.readfrom(0x10, 1)

    task = asyncio.create_task(poll())
    if hasattr(task, "set_name"):
        task.set_name("poll")
    await task
    assert wire.transcript[0][1] == "poll"


def test_two_chips_at_one_address():
    wire, _, _ = registers()
    error = raised(ValueError, wire.attach, 0x10, Chip())
    assert "RegisterFile" in str(error) and "Chip" in str(error) and "0x10" in str(error)
    wire.detach(0x10)
    wire.attach(0x10, Chip())
    raised(ValueError, wire.detach, 0x11)


def test_attach_rejects_bad_arguments():
    wire = Wire()
    raised(ValueError, wire.attach, 0x80, Chip())
    raised(ValueError, wire.attach, -1, Chip())
    raised(TypeError, wire.attach, "0x10", Chip())
    raised(TypeError, wire.attach, 0x10, object())
    assert not wire.chips


def test_one_chip_at_several_addresses():
    wire = Wire()

    class Echo(Chip):
        def read(self):
            return self.address

    chip = Echo()
    wire.attach(0x50, chip)
    wire.attach(0x51, chip)
    i2c = I2C(wire)
    assert i2c.readfrom(0x50, 1) + i2c.readfrom(0x51, 1) == b"\x50\x51"


def test_chip_that_answers_no_byte_is_a_mistake():
    wire = Wire()

    class Broken(Chip):
        def read(self):
            return 256

    wire.attach(0x10, Broken())
    raised(ProtocolError, I2C(wire).readfrom, 0x10, 1)
    assert "256" in mistake_made(wire)
    assert wire.idle()


def test_base_chip_acknowledges_its_address_only():
    wire = Wire()
    wire.attach(0x10, Chip())
    i2c = SoftI2C(wire)
    assert i2c.scan() == [0x10]
    assert i2c.writeto(0x10, b"ab") == 0
    assert i2c.readfrom(0x10, 2) == b"\xff\xff"
