"""Every call into the port fails in turn, and every byte on the wire: afterwards all is at rest, and the next one works.

The calls of SPI and UART are in test_spi_failures.py and test_uart_failures.py, memory is in test_memory_runs_out.py,
faults together with cancellations in test_i2c_sweep.py. `-rP` shows the numbers of faults.
"""

import asyncio
import sys

import i2c_rig
from buslock import ERRORS, BusError, DeadlineExceeded, LockTimeout, deadline
from buslock_sim import I2C, BusioI2C, DigitalInOut, Multiplexer, Pin, SoftI2C
from buslock_sim.calls import Calls
from i2c_rig import A, B, sleep
from support.small import sampled, samples
from support.turns import turns

CLOCK = "virtual"
EACH = {"of": ("i2c", "spi", "uart")}
TIME_LIMIT = 300  # of the slow ones
SLOW = ("test_every_call_of_i2c_on_every_port", "test_every_byte_of_i2c_on_every_port")

SOME = ("rp2", "circuitpython")
MUX = 0x70
KINDS = ("nack", "timeout", "arbitration", "stuck_sda", "stuck_scl")
calls = Calls()  # of all that is counted


def counted(cls, names):
    """The class with these methods counted, each of which may be told to raise before or after its work."""

    def counting(name):
        plain = getattr(cls, name)

        def method(self, *args, **kwargs):
            late = calls.called(name)
            result = plain(self, *args, **kwargs)
            if late is not None:
                raise late
            return result

        return method

    return type("Counted", (cls,), {name: counting(name) for name in names})


MACHINE = (
    "init",
    "scan",
    "readfrom",
    "readfrom_into",
    "writeto",
    "writevto",
    "readfrom_mem",
    "readfrom_mem_into",
    "writeto_mem",
)
BUSIO = ("try_lock", "unlock", "deinit", "scan", "readfrom_into", "writeto", "writeto_then_readfrom")
CountedI2C = counted(I2C, MACHINE)
CountedSoftI2C = counted(SoftI2C, MACHINE + ("stop",))
CountedBusioI2C = counted(BusioI2C, BUSIO)
CountedPin = counted(Pin, ("init", "value"))
CountedDigitalInOut = counted(DigitalInOut, ("switch_to_output",))


class Digitalio:
    DriveMode = sys.modules["buslock_sim.digitalio"].DriveMode
    DigitalInOut = CountedDigitalInOut


class Rig(i2c_rig.Rig):
    """A bus that is made by a function, with pins, a multiplexer and a set-up."""

    def __init__(self, port):
        super().__init__(port, factory="sync", pins=True)
        if self.busio:
            sys.modules["digitalio"] = Digitalio
        else:
            self.bus._lines.scl, self.bus._lines.sda = CountedPin(self.wire.scl), CountedPin(self.wire.sda)
        mux = self.wire.attach(MUX, Multiplexer())
        self.behind = mux.channel(1).attach(0x30, i2c_rig.Counter(bytes(range(256))))
        self.device = self.bus.device(A, setup=setup)
        self.channel = self.bus.mux(MUX).channel(1)

    def make(self):
        calls.called("factory")
        if self.busio:
            i2c = CountedBusioI2C(self.wire, port=self.port)
        elif self.port == "soft":
            i2c = CountedSoftI2C(self.wire)
        else:
            i2c = CountedI2C(self.wire, self.port, deinit=True)
        self.made.append(i2c)
        return i2c

    def mend(self):
        """What fails at order does not any more."""
        calls.works_again()
        for chip in (self.a, self.behind):
            chip.faults = ()
            chip.recover()
            if chip.holds_scl or chip.holds_sda:
                chip.power_on()

    async def afterwards(self):
        """The next one works, at another address and at the same, and all is at rest."""
        self.rest()
        assert await self.bus.read_register(B, 1, 1, timeout_ms=100) == b"\xfe"
        self.rest()
        assert await self.device.read_register(1, 1, timeout_ms=100) == b"\x01"
        assert await self.channel.read_register(0x30, 5, 1) == b"\x05"
        async with self.bus.hold_all(timeout_ms=0):
            pass
        self.rest()

    def rest(self):
        bus = self.bus
        assert len(bus._table) == 0
        assert not bus._wire.locked() and bus._wire.waiters == 0
        assert bus._wire_hold is None and not bus._transfer


async def setup(session):
    await session.write_register(0x20, 1)


async def in_hold(rig, wire=False):
    async with rig.device.hold(wire=wire) as session:
        await session.read_register(1, 1)
        await turns()
        await session.write_register(0x80, 1)


async def open_write(rig):
    async with rig.device.hold() as session:
        await session.write(b"\x05", stop=False)
        await session.read(1)
        await session.write(b"\x05", stop=False)


async def several(rig):
    async with rig.bus.hold(A, B) as regs:
        await regs.read_register(B, 1, 1)
        await regs.read_register(A, 1, 1)


async def transaction(rig):
    txn = rig.bus.transaction()
    txn.read_register(A, 1, 1)
    txn.write_register(A, 0x80, b"\x01\x02")
    txn.scan()
    await txn.execute()


async def recovers(rig):
    rig.a.hold_sda(clocks=3)
    await rig.bus.recover()
    rig.a.recover()


def driver(rig):
    i2c = rig.made[-1]
    if rig.busio:
        if not i2c.try_lock():
            raise OSError(16, "busy")
        try:
            i2c.writeto(A, b"\x01")
        finally:
            i2c.unlock()
    else:
        i2c.writeto(A, b"\x01")


OPERATIONS = {
    "read_register": lambda rig: rig.device.read_register(1, 2),
    "read_register_into": lambda rig: rig.device.read_register_into(1, bytearray(2)),
    "write_register": lambda rig: rig.device.write_register(0x80, b"\x01\x02"),
    "update_register": lambda rig: rig.device.update_register(0x80, 0x0F, 5),
    "wait_register": lambda rig: rig.device.wait_register(1, 0xFF, 1),
    "read": lambda rig: rig.device.read(2),
    "readinto": lambda rig: rig.device.readinto(bytearray(2)),
    "write": lambda rig: rig.device.write(b"\x80", b"\x01\x02"),
    "write_then_read": lambda rig: rig.device.write_then_read(b"\x01", 2),
    "write_then_read long": lambda rig: rig.device.write_then_read(b"\x81\x02\x03\x04\x05\x06", 2),
    "probe": lambda rig: rig.device.probe(),
    "scan": lambda rig: rig.bus.scan(),
    "recover": recovers,
    "mux": lambda rig: rig.channel.read_register(0x30, 5, 1),
    "mux scan": lambda rig: rig.channel.scan(),
    "call": lambda rig: rig.bus.call(rig.device, driver, rig),
    "hold": in_hold,
    "hold wire": lambda rig: in_hold(rig, True),
    "hold devices": several,
    "open write": open_write,
    "transaction": transaction,
}


async def outcome(rig, name):
    """What the operation ends with; None if it goes through, or cannot be had on this port."""
    try:
        async with deadline(2000):
            await OPERATIONS[name](rig)
        return None
    except NotImplementedError:
        return None
    except BaseException as error:
        return error


async def warm(port):
    rig = Rig(port)
    await rig.device.read_register(1, 1)
    await rig.bus.read_register(B, 1, 1)
    await rig.channel.read_register(0x30, 5, 1)
    return rig


async def call_fails(port, name, at, after, error, cold):
    """One run. The name of the call that has failed; None if there are not so many."""
    rig = Rig(port) if cold else await warm(port)
    names = []
    called = calls.called

    def recording(what):
        names.append(what)
        return called(what)

    calls.called = recording
    calls.fail_call(at=at, after=after, error=error)
    try:
        failed = await outcome(rig, name)
    finally:
        del calls.called
    rig.mend()
    if len(names) < at:
        assert failed is None, failed
        return None
    struck = names[at - 1]
    if struck in ("try_lock", "unlock") and rig.made[-1]._locked and not rig.bus._backend._kept:
        # Taken although try_lock() has raised, which nobody can know; or left by the driver.
        rig.made[-1].unlock()
    if struck == "deinit" and not after:
        rig.made[0].deinit()  # it has the pins for ever if that is not done
    where = "%s, %s: call %d, %s" % (port, name, at, struck)
    pin = struck == "init" and name == "recover"
    # Only a lock that was taken although try_lock() has raised is waited for in vain.
    assert not isinstance(failed, DeadlineExceeded) or struck == "try_lock" and after, where
    if error is None:
        # Native locks and pins do not fail in earnest, a driver raises what it raises, and so does what makes the bus.
        assert failed is None or isinstance(failed, (OSError, DeadlineExceeded)), where + " " + repr(failed)
        if (
            struck not in ("try_lock", "unlock", "factory", "deinit", "switch_to_output", "value")
            and not pin
            and name != "call"
        ):
            assert failed is None or isinstance(failed, ERRORS), where + " " + repr(failed)
    elif not isinstance(failed, DeadlineExceeded) and (name != "transaction" or error is KeyboardInterrupt):
        assert failed is None or isinstance(failed, (error, OSError) if name == "call" else error), (
            where + " " + repr(failed)
        )
    try:
        await rig.afterwards()
    except BaseException:
        print(where, "after" if after else "before", error, repr(failed))
        raise
    return struck


async def every_call(ports, errors=(None, RuntimeError, KeyboardInterrupt)):
    faults = turn = 0
    for port in ports:
        for name in OPERATIONS:
            for error in errors:
                for after in (False, True):
                    # On CPython Ctrl-C in the task that sets a device up ends the loop.
                    for cold in (False, True)[: 1 if error is KeyboardInterrupt else 2]:
                        turn += 1
                        if not sampled(turn):
                            continue
                        at = 1
                        while await call_fails(port, name, at, after, error, cold):
                            at += 1
                        faults += at - 1
                        assert at > 1 or name in ("recover",) or not cold, name
    print("faults: %d of I2C's calls" % faults)


async def test_every_call_of_i2c():
    """Each call of the peripheral, its pins and the function that makes it raises, before or after its work."""
    await every_call(SOME, (None, KeyboardInterrupt))


async def test_every_call_of_i2c_on_every_port():
    """The same with what is no OSError."""
    await every_call(i2c_rig.PORTS)


async def byte_fails(port, name, kind, at, times):
    """The byte `at` of what the chip is sent or asked fails, once or for good. True if it came so far."""
    rig = await warm(port)
    for chip in (rig.a, rig.behind):
        chip.fail(kind, at=at, times=times)
    failed = await outcome(rig, name)
    struck = failed is not None or any(not chip.faults for chip in (rig.a, rig.behind))
    where = "%s, %s: %s at byte %s, times %s" % (port, name, kind, at, times)
    # Some ports give anything for a register that was refused, and that is waited for.
    expected = OSError if name == "call" else (BusError, DeadlineExceeded) if name == "wait_register" else BusError
    assert failed is None or isinstance(failed, expected), where + " " + repr(failed)
    rig.mend()
    try:
        await rig.afterwards()
        rig.check()
    except BaseException:
        print(where, repr(failed))
        raise
    return struck


async def every_byte(ports, places):
    faults = turn = 0
    for port in ports:
        for name in OPERATIONS:
            if name == "recover":
                continue
            for kind in KINDS:
                for times in (1, None):
                    for at in places:
                        turn += 1
                        if sampled(turn):
                            faults += await byte_fails(port, name, kind, at, times)
    print("faults: %d of I2C's bytes" % faults)


async def test_every_byte_of_i2c():
    """The address, the first and the third byte of each operation fail, once and for good, in each way there is."""
    await every_byte(("rp2",), (None, 0, 2))


async def test_every_byte_of_i2c_on_every_port():
    """The same for every byte."""
    await every_byte(i2c_rig.PORTS, (None, 0, 1, 2, 3, 4, 5, 6))


# The clock


watched = []


def watch_ticks():
    """The library's modules ask clocks that count, and so do those that are loaded later."""
    library = [sys.modules[name] for name in sys.modules if name[:8] == "buslock."]
    for module in library:
        for name in ("ticks_ms", "ticks_us"):
            if name in dir(module) and getattr(module, name) not in watched:
                watched.append(counting(getattr(module, name)))
                setattr(module, name, watched[-1])


def counting(plain):
    def ticks():
        calls.called("ticks")
        return plain()

    return ticks


async def use_i2c():
    rig = await warm("rp2")

    async def use(name):
        async with deadline(1000):
            await rig.device.read_register(1, 1, timeout_ms=500)
            async with rig.device.hold(500, wire=True) as session:
                await session.write_register(0x80, 1)
                await sleep(1)
            async with rig.bus.hold_all(500):
                await turns(1)
            await rig.bus.call(A, driver, rig)

    return rig, use, rig.afterwards


async def use_spi():
    import spi_rig

    rig = spi_rig.Rig("rp2")
    a, b = rig.devices()

    async def use(name):
        await a.write(b"\x01", timeout_ms=500)
        async with a.select(500) as spi:
            assert rig.wire.selected() == ["a"]
            await spi.read(2)
            await sleep(1)

    async def afterwards():
        assert rig.wire.selected() == []
        assert await b.read(1, timeout_ms=100) == b"\xa5"
        assert await a.read(1, timeout_ms=100) == b"\x5a"
        rig.check()

    return rig, use, afterwards


async def use_uart():
    import uart_rig

    rig = uart_rig.Rig("rp2", de=True)
    one, two = rig.bus.device(1), rig.bus.device(2)

    async def use(name):
        await uart_rig.ask(one, b"x", timeout_ms=500, reply_ms=50)
        async with one.hold(500) as session:
            await session.write(b"9:y\n", timeout_ms=500)

    async def afterwards():
        assert rig.de_idle()
        assert await uart_rig.ask(two, b"y") == b"2=y\n"
        assert await uart_rig.ask(one, b"z") == b"1=z\n"
        assert rig.de_idle()
        await rig.check()

    return rig, use, afterwards


async def ended(task):
    try:
        await task
        return None
    except BaseException as error:
        return error


async def clock_fails(make, at, error):
    """Two tasks use it, and the clock raises when it is asked for the at-th time. False if it is not asked so often."""
    _, use, afterwards = await make()
    before = calls.calls
    calls.fail_call(at=at, what="ticks", error=error)
    results = []

    async def user(name):
        try:
            await use(name)
            results.append(None)
        except error as failed:
            results.append(failed)
        except LockTimeout as failed:
            results.append(failed)

    await asyncio.gather(user("first"), user("second"))
    asked = calls.calls - before
    calls.works_again()
    struck = [result for result in results if result is not None]
    assert len(struck) <= 1, results
    assert all(isinstance(result, error) for result in struck), results
    await afterwards()
    return asked >= at


async def test_every_look_at_the_clock(of):
    """The clock raises, as Ctrl-C does where the program happens to be: who asked it is told, the other task goes on."""
    make = {"i2c": use_i2c, "spi": use_spi, "uart": use_uart}[of]
    __import__(of + "_rig")  # one of them: a board has no room for all three and what they use
    watch_ticks()
    faults = 0
    for error in (RuntimeError, KeyboardInterrupt):
        for at in samples(1):
            if not await clock_fails(make, at, error):
                break
            faults += 1
        assert at > 5, at
    print("faults: %d of looks at the clock" % faults)
