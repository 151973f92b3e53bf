"""Every byte of SPI and UART fails in turn, once and for good: an error that names the bus, nothing held, CS and DE idle,
the other devices as before; and when it is repaired the next one works.

Those of I2C are in test_faults.py. `-rP` shows the numbers of faults.
"""

import asyncio

from buslock import DeadlineExceeded, LockTimeout, NoReply, TransferError, deadline
from buslock_sim import ModbusNode
from spi_rig import PORTS as SPI_PORTS
from spi_rig import SOME as SOME_SPI
from spi_rig import Echo
from spi_rig import Rig as SpiRig
from support import modbus
from support.small import SMALL, samples, some
from support.turns import raises_async, turns
from uart_rig import PORTS as UART_PORTS
from uart_rig import SOME as SOME_UART
from uart_rig import STREAMS
from uart_rig import Rig as UartRig

CLOCK = "virtual"
TIME_LIMIT = 300  # of the slow ones
SLOW = ("test_every_byte_of_spi_on_every_port", "test_every_byte_of_uart_on_every_port")

INTO = bytearray(3)
LIMIT_MS = 1000 if SMALL else 5000  # of an operation, each ms of which is a look at a UART that takes nothing


# SPI


class Fuse:
    """Counts bytes, of one chip or of several that share it: the n-th from now on fails, `for_good` with all after it."""

    left = None  # None: it does not fail
    for_good = False
    struck = 0

    def blow(self, n, for_good):
        self.left = n
        self.for_good = for_good
        self.struck = 0

    def repair(self):
        self.left = None

    def strikes(self):
        if self.left is None:
            return False
        if self.left:
            self.left -= 1
            return False
        self.struck += 1
        if not self.for_good:
            self.left = None
        return True


class Fused(Echo):
    def __init__(self, number, fuse):
        super().__init__(number)
        self.fuse = fuse
        self.faults = (fuse,)

    def fault_at(self, index, read):
        return "error" if index is not None and self.fuse.strikes() else None


async def select_and_transfer(device):
    async with device.select() as spi:
        await spi.write(b"\x01\x02")
        await turns()
        await spi.readinto(INTO)


async def select_in_a_session(device):
    async with device.hold() as session:
        await session.write(b"\x01")
        async with session.select() as spi:
            await spi.write_then_read(b"\x02", 2)
            await turns()
            await spi.write_readinto(b"\x01\x02\x03", INTO)


async def keep_the_wire(device):
    async with device.hold(wire=True) as session:
        device._cs(0)
        await session.write(b"\x01\x02\x03")
        device._cs(1)


OF_SPI = {
    "write": lambda device: device.write(b"\x01\x02", b"\x03"),
    "read": lambda device: device.read(3),
    "readinto": lambda device: device.readinto(INTO),
    "write_readinto": lambda device: device.write_readinto(b"\x01\x02\x03", INTO),
    "write_then_read": lambda device: device.write_then_read(b"\x01\x02", 2),
    "select": select_and_transfer,
    "select in a session": select_in_a_session,
    "hold wire": keep_the_wire,
}
DEVICES = ({}, {"pre_clocks": 16, "post_clocks": 8}, {"chunk": 2}, {"chunk": (2, False)})


async def spi_byte_fails(port, arguments, name, n, for_good, shared):
    """One run. False if the operation has no n-th byte. `shared`: it is the wire that fails, not one chip."""
    fuse = Fuse()
    rig = SpiRig(port, chips=(Fused(0x5A, fuse), Fused(0xA5, fuse if shared else Fuse())))
    a, b = rig.devices(**arguments)
    await b.read(1)
    fuse.blow(n, for_good)
    failed = await outcome(OF_SPI[name](a))
    check_spi(rig, a, failed, fuse.struck)
    if not fuse.struck:
        return False
    assert failed is not None
    if for_good:
        for device, works in ((b, not shared), (a, False), (b, not shared)):
            for use in (lambda d: d.write_then_read(b"\x01", 1), select_and_transfer):
                failed = await outcome(use(device))
                assert (failed is None) is works, failed
                check_spi(rig, device, failed, failed is not None)
    fuse.repair()
    assert await b.write_then_read(b"\x01", 1, timeout_ms=100) == b"\xa5"
    assert await a.write_then_read(b"\x02", 1, timeout_ms=100) == b"\x5a"
    async with a.select(timeout_ms=100) as spi:
        await spi.write(b"\x03")
    rig.check()
    return True


def check_spi(rig, device, failed, struck):
    assert failed is None or struck and type(failed) is TransferError, repr(failed)
    assert failed is None or device._label() in str(failed), failed
    assert rig.wire.idle(), rig.wire.selected()
    assert not rig.bus._transfer
    at_rest(rig.bus)
    if rig.busio:
        assert not rig.made[0]._locked


async def outcome(coroutine):
    """What the operation raises; None if it goes through."""
    try:
        async with deadline(LIMIT_MS):
            await coroutine
        return None
    except Exception as error:
        return error


def at_rest(bus):
    assert len(bus._table) == 0
    assert not bus._wire.locked() and bus._wire.waiters == 0
    assert bus._wire_hold is None


async def every_spi_byte(ports, devices):
    faults = 0
    for port in ports:
        for arguments in devices:
            for name in OF_SPI:
                for for_good in (False, True):
                    for shared in (False, True)[: 1 + for_good]:
                        for n in samples():
                            if not await described(spi_byte_fails, port, arguments, name, n, for_good, shared):
                                break
                            faults += 1
                        assert n > 2
    print("faults: %d of SPI's bytes" % faults)


async def described(run, *arguments):
    try:
        return await run(*arguments)
    except BaseException:
        print(run.__name__, arguments)
        raise


async def test_every_byte_of_spi():
    """A chip, or the whole wire, fails from the n-th byte of an operation on."""
    await every_spi_byte(SOME_SPI, DEVICES[:1])


async def test_every_byte_of_spi_on_every_port():
    """And with clocks around the chip select, and long writes that are cut."""
    await every_spi_byte(SPI_PORTS, DEVICES)


# UART


def ask(me, node, **arguments):
    """The register of a Modbus node, whose replies are checked by their CRC."""
    return me.exchange(modbus.request(node.address, 5), frame=modbus.frame(node.address), reply_ms=40, **arguments)


async def in_a_session(node):
    async with node.hold() as session:
        await ask(session, node)
        await turns()
        await ask(session, node)


async def with_the_line(node):
    async with node.hold(wire=True) as session:
        await ask(session, node)


OF_UART = {
    "exchange": lambda node: ask(node, node),
    "session": in_a_session,
    "line": with_the_line,
}


class Line:
    """What happens to the bytes that the UART sends, or receives: the n-th from now on is lost or wrong."""

    def __init__(self, line):
        self.fuse = Fuse()
        self.sent = self.wrong = False
        arrive, master_sent = line._arrive, line._master_sent

        def arriving(byte):
            if self.sent or not self.fuse.strikes():
                arrive(byte)
            elif self.wrong:
                arrive(byte ^ 0x41)

        def sending(start, end, byte):
            if self.sent and byte is not None and self.fuse.strikes():
                byte = byte ^ 0x41 if self.wrong else None
            master_sent(start, end, byte)

        line._arrive = arriving
        line._master_sent = sending

    def fail(self, kind, n, for_good):
        self.sent = kind in ("sent lost", "sent wrong")
        self.wrong = kind in ("wrong", "sent wrong")
        self.fuse.blow(n, for_good)

    def struck(self):
        return self.fuse.struck > 0

    def repair(self):
        self.fuse.repair()


class OfNode:
    """A reply of node 1 that fails."""

    def __init__(self, node):
        self.node = node

    def fail(self, kind, n, for_good):
        self.before = self.node.answers
        # The second of two replies follows at once: later it would meet the next request.
        ms = 0 if kind == "twice" else (42, 50, 60)[n % 3]
        self.node.fail(kind, at=n if kind in ("cut", "noise") else None, times=None if for_good else 1, ms=ms)

    def struck(self):
        return self.node.answers > self.before

    def repair(self):
        self.node.recover()


OF_LINE = ("lost", "wrong", "sent lost", "sent wrong")
OF_NODE = {
    "silent": 1,
    "late": 3,
    "cut": 7,
    "noise": 7,
    "crc": 1,
    "garbage": 1,
    "twice": 1,
}  # of the 7 bytes of a reply


async def uart_byte_fails(port, echo, name, kind, n, for_good):
    """One run. False if there is no n-th byte."""
    de = not echo and port not in STREAMS
    rig = UartRig(
        port,
        nodes=lambda: (ModbusNode(1, {5: 0x1234}), ModbusNode(2, {5: 0x4321})),
        de=de,
        echo=echo,
        gap_ms=6,
        name="rs485",
    )
    one, two = rig.bus.device(1), rig.bus.device(2)
    assert (await ask(two, two))[3:5] == b"\x43\x21"
    fault = Line(rig.line) if kind in OF_LINE else OfNode(rig.a)
    fault.fail(kind, n, for_good)
    failed = await outcome(OF_UART[name](one))
    check_uart(rig, failed)
    if not fault.struck():
        assert failed is None
        await rig.check()
        return False
    # A reply that comes twice was right at first.
    assert failed is not None or kind == "twice" or echo and kind == "wrong" and not for_good, kind
    if for_good:
        for node, works in ((two, kind in OF_NODE), (one, kind == "twice"), (two, kind in OF_NODE)):
            failed = await outcome(ask(node, node))
            check_uart(rig, failed)
            assert (failed is None) is works, repr(failed)
    fault.repair()
    assert (await ask(two, two))[3:5] == b"\x43\x21"
    assert rig.de_idle()
    assert (await ask(one, one))[3:5] == b"\x12\x34"
    await rig.check()
    return True


def check_uart(rig, failed):
    assert failed is None or type(failed) in (TransferError, NoReply), repr(failed)
    assert failed is None or "rs485" in str(failed), failed
    assert rig.de_idle()
    at_rest(rig.bus)


async def every_uart_byte(ports, names=tuple(OF_UART)):
    faults = 0
    for port in ports:
        for echo in (False, True)[: 1 if port in STREAMS else 2]:
            for name in names:
                for kind, for_good in some([(k, good) for k in OF_LINE + tuple(OF_NODE) for good in (False, True)]):
                    before = faults
                    for n in samples() if kind in OF_LINE else some(range(OF_NODE[kind])):
                        if not await described(uart_byte_fails, port, echo, name, kind, n, for_good):
                            break
                        faults += 1
                    assert faults > before, kind
    print("faults: %d of UART's bytes" % faults)


async def test_every_byte_of_uart():
    """Bytes are lost or wrong, on the line both ways, and replies do not come, come late, cut, wrong or twice."""
    await every_uart_byte(SOME_UART[:1] + STREAMS, ("exchange",))


async def test_every_byte_of_uart_on_every_port():
    await every_uart_byte(UART_PORTS)


class Reluctant:
    """Its write() takes so many bytes at most; 0: none at all, and returns what the port returns then."""

    most = 1000
    times = None  # how often; None: for good
    none = None

    def __init__(self, uart):
        self.uart = uart

    def __getattr__(self, name):
        return getattr(self.uart, name)

    def write(self, buf):
        if self.times == 0:
            return self.uart.write(buf)
        if self.times is not None:
            self.times -= 1
        if not self.most:
            return self.none
        return self.uart.write(buf[: self.most])


async def test_a_uart_that_takes_fewer_bytes():
    """What the UART does not take at once is given to it again: nothing is lost, and nothing is sent twice."""
    for port in UART_PORTS:
        if port in STREAMS:
            continue
        for most in (1, 2, 3, 7, 0):
            for times in (1, 3, None)[: 2 if most == 0 else 3]:
                for none in (None, 0):
                    rig = UartRig(
                        port,
                        nodes=lambda: (ModbusNode(1, {5: 0x1234}),),
                        de=True,
                        gap_ms=6,
                        wrap=Reluctant,
                        name="rs485",
                    )
                    one = rig.bus.device(1)
                    uart = rig.made[0]
                    uart.most, uart.times, uart.none = most, times, none
                    assert (await ask(one, one))[3:5] == b"\x12\x34", (port, most, times)
                    assert rig.de_idle()
                    await rig.check()


async def test_a_uart_that_takes_nothing():
    """A UART that takes nothing for good is waited for, as one whose partner holds it up with CTS: a deadline ends that."""
    for port in UART_PORTS:
        if port in STREAMS:
            continue
        rig = UartRig(
            port,
            nodes=lambda: (ModbusNode(1, {5: 0x1234}), ModbusNode(2, {5: 0x4321})),
            de=True,
            gap_ms=6,
            wrap=Reluctant,
            name="rs485",
        )
        one, two = rig.bus.device(1), rig.bus.device(2)
        assert (await ask(two, two))[3:5] == b"\x43\x21"
        rig.made[0].most = 0
        for node, other in ((one, two), (two, one)):
            task = asyncio.create_task(outcome(ask(node, node)))
            await turns()
            error = await raises_async(LockTimeout, ask(other, other, timeout_ms=50))
            assert "rs485" in str(error)
            assert isinstance(await task, DeadlineExceeded)
            assert rig.de_idle()
            at_rest(rig.bus)
        rig.made[0].most = 1000
        assert (await ask(two, two))[3:5] == b"\x43\x21"
        assert (await ask(one, one))[3:5] == b"\x12\x34"
        await rig.check()
