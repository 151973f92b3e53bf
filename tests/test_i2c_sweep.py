"""After any failure, at any point of any operation, the next user of another address succeeds.

Each run takes a fresh bus on which an operation meets everything that can make it wait: a peripheral that an async
factory makes, a set-up, another task that holds the device, one that holds the wire, retries, pieces, a recovery.
One fault strikes the target's chip at one of its transfers, and the operation is cancelled at one of its awaits.
"""

import asyncio

from buslock import BusClosed, BusError, BusStuck, LockTimeout
from buslock_sim import Multiplexer
from i2c_rig import A, B, Counter, Rig, outcome, sleep, use_key, use_wire
from support.driven import CANCELLED, Driven, drive
from support.small import SMALL, sampled, samples
from support.turns import turns

CLOCK = "virtual"
TIME_LIMIT = 300  # of the slow ones
SLOW = (
    "test_every_await_with_a_nack",
    "test_every_await_with_a_time_out",
    "test_every_await_with_lost_arbitration",
    "test_every_await_with_stuck_sda",
    "test_every_await_with_stuck_scl",
)

SHAPES = ("rp2", "circuitpython")
FAULTS = ("nack", "timeout", "arbitration", "stuck_sda", "stuck_scl")
MUX = 0x70


class Case:
    """One run: a fresh bus with its obstacles."""

    def __init__(self, shape, operation, cut=False, setup=None):
        self.rig = rig = Rig(shape, factory="async", pins=True)
        self.target = rig.a
        self.other_chip = rig.b
        channel = rig.wire.attach(MUX, Multiplexer()).channel(1)
        self.behind = channel.attach(0x30, Counter(bytes(range(256))))
        self.setups = 0
        self.device = rig.bus.device(A, setup=setup or self.setup, retries=1, chunk=16 if cut else None)
        self.operation = operation

    async def setup(self, session):
        self.setups += 1
        await session.write_register(0x20, 1)
        await sleep(1)
        await session.write_register(0x21, 2)

    async def run(self, kind, nth, at, point, warm=False):
        """What the operation ended with. `warm`: peripheral and set-up are there before it begins."""
        rig = self.rig
        bus = rig.bus
        results = []
        if warm:
            await self.device.read_register(0, 1)
        tasks = [asyncio.create_task(outcome(use_wire(bus.device(B), 2)))]
        tasks.append(asyncio.create_task(outcome(use_key(self.device, 2))))
        await turns(2)
        if kind is not None:
            self.target.fail_nth(kind, nth, at)
        driven = Driven(self.operation(self), point)
        task = asyncio.create_task(drive(driven, results))
        # Another task wants the same device after it, and one waits for the whole bus.
        tasks.append(asyncio.create_task(outcome(self.device.read_register(0, 1))))
        tasks.append(asyncio.create_task(outcome(everything(bus))))
        await driven.reached.wait()
        if not results:
            task.cancel()
        try:
            await task
        except asyncio.CancelledError:
            pass
        # Cancelled before its first step it has no result of its own.
        results.append(CANCELLED)
        for helper in tasks:
            error = await helper
            assert error is None or isinstance(error, (bytes, BusError, BusClosed)), error
        return results[0]

    async def afterwards(self):
        """The next user of another address succeeds, and the bus is at rest; then the target, when its chip is well."""
        rig = self.rig
        self.target.faults = ()
        self.target._kind = None
        if self.target.holds_scl:
            # Nothing but power can free the clock: BusStuck until then, quickly, and the next one succeeds after it.
            error = await outcome(rig.bus.read_register(B, 1, 1, timeout_ms=100))
            assert isinstance(error, (BusStuck, BusError)), error
            self.rest()
            self.target.power_on()
        assert await rig.bus.read_register(B, 1, 1, timeout_ms=100) == b"\xfe"
        self.rest()
        assert await self.device.read_register(0x20, 2, timeout_ms=100) == b"\x01\x02"
        assert await rig.bus.mux(MUX).channel(1).read_register(0x30, 5, 1) == b"\x05"
        self.rest()

    def rest(self):
        self.rig.check()
        if self.rig.busio and self.rig.wire.claimed is not None:
            raw = self.rig.wire.claimed
            assert raw.try_lock()
            raw.unlock()


async def everything(bus):
    async with bus.hold_all() as regs:
        await regs.read_register(B, 0, 1)


# The operations: functions that take the case and make a coroutine


async def in_hold(case, wire=False):
    async with case.device.hold(wire=wire) as session:
        await session.read_register(1, 1)
        await turns()
        await session.write_register(0x80, 1)
        await session.probe()


async def several(case):
    async with case.rig.bus.hold(A, B) as regs:
        await regs.read_register(A, 1, 1)
        await regs.read_register(B, 1, 1)


async def whole(case):
    async with case.rig.bus.hold_all() as regs:
        await regs.read_register(A, 1, 1)
        await sleep(1)
        await case.device.read(1)


async def open_write(case):
    async with case.device.hold() as session:
        await session.write(b"\x05", stop=False)
        await turns()
        await session.read(1)
        await session.write(b"\x05", stop=False)


async def recovers(case):
    async with case.device.hold():
        await case.rig.bus.recover()
        await case.device.read_register(1, 1)


async def closes(case):
    await case.rig.bus.aclose(timeout_ms=50)


async def behind_the_mux(case):
    await case.device.read_register(1, 1)
    await case.rig.bus.mux(MUX).channel(1).device(0x30).read_register(5, 1)


OPERATIONS = {
    "read_register": lambda case: case.device.read_register(1, 2),
    "read_register_into": lambda case: case.device.read_register_into(1, bytearray(2)),
    "write_register": lambda case: case.device.write_register(0x80, b"\x01\x02"),
    "write_register repeatable": lambda case: case.device.write_register(0x80, b"\x01\x02", repeatable=True),
    "update_register": lambda case: case.device.update_register(0x80, 0x0F, 5),
    "wait_register": lambda case: case.device.wait_register(0x21, 0xFF, 2),
    "read": lambda case: case.device.read(2),
    "readinto": lambda case: case.device.readinto(bytearray(2)),
    "write": lambda case: case.device.write(0x80, b"\x01\x02"),
    "write_then_read": lambda case: case.device.write_then_read(b"\x01", 2),
    "write_then_read long": lambda case: case.device.write_then_read(b"\x81\x02\x03\x04\x05\x06", 2),
    "probe": lambda case: case.device.probe(),
    "short form": lambda case: case.rig.bus.read_register(A, 1, 2),
    "scan": lambda case: case.rig.bus.scan(),
    "call": lambda case: case.rig.bus.call(A, lambda: 5),
    "hold": in_hold,
    "hold wire": lambda case: in_hold(case, True),
    "hold several": several,
    "hold_all": whole,
    "open write": open_write,
    "recover": lambda case: case.rig.bus.recover(),
    "recover in a hold": recovers,
    "aclose": closes,
    "mux": behind_the_mux,
}
CUT = {
    "long read": lambda case: case.device.read_register(0, 40),
    "long read into": lambda case: case.device.read_register_into(0, bytearray(40)),
    "long write": lambda case: case.device.write_register(0x80, bytes(40)),
}
EXPECTED = (BusError, LockTimeout, NotImplementedError)


def too_deep(error):
    """A set-up that a recovery has made due, run under hold_all on busio: with the simulated bus below it that is more
    nested calls than a Pico has a stack for. One more error, after which all must be at rest."""
    return SMALL and isinstance(error, RuntimeError) and "recursion" in str(error)


async def one(shape, name, kind=None, nth=0, at=None, point=0, warm=False):
    """One run of the sweep. True if there is such an await: the operation did not end before it."""
    where = "%s, %s, warm %s, %s at transfer %d byte %s, cancelled at await %d"
    where = where % (shape, name, warm, kind, nth, at, point)
    case = Case(shape, OPERATIONS.get(name) or CUT[name], cut=name in CUT)
    try:
        result = await case.run(kind, nth, at, point, warm)
        if isinstance(result, Exception):
            assert isinstance(result, EXPECTED) or too_deep(result), repr(result)
            assert kind is not None or isinstance(result, NotImplementedError), repr(result)
        await case.afterwards()
    except Exception as error:
        print(where)
        raise error
    return result is CANCELLED


async def test_cancelled_at_every_await():
    """Every operation, cancelled at each of its awaits: nothing is held, nothing is left on the wire."""
    for shape in SHAPES:
        for name in list(OPERATIONS) + list(CUT):
            for warm in (False, True):
                for point in samples(1):
                    if not await one(shape, name, point=point, warm=warm):
                        break
                # The peripheral, the set-up, the key, the wire: each operation has waited for something.
                assert point > 1 or name == "recover" and not warm, name


async def test_every_fault_at_the_first_transfers():
    """Every operation, every fault, at each of the target's first transfers, at the address or at the first byte."""
    turn = 0
    for kind in FAULTS:
        for name in list(OPERATIONS) + list(CUT):
            for nth, at, warm in ((0, None, False), (1, 0, False), (2, None, False), (3, 0, False), (0, 0, True)):
                # The shapes by turns: all of it is done with --all.
                turn += 1
                if sampled(turn):
                    await one(SHAPES[turn % 2], name, kind, nth, at, warm=warm)


async def product(kind):
    """Every operation, this fault at each transfer, cancelled at each await."""
    for shape in SHAPES:
        for name in list(OPERATIONS) + list(CUT):
            for nth, at, warm in (
                (0, None, False),
                (1, 0, False),
                (2, None, False),
                (3, 0, False),
                (0, 0, True),
                (1, None, True),
            ):
                for point in samples(1):
                    if not await one(shape, name, kind, nth, at, point, warm):
                        break


async def test_every_await_with_a_nack():
    """The product of both: every operation, a NACK at each transfer, cancelled at each await."""
    await product("nack")


async def test_every_await_with_a_time_out():
    """The same with a time-out."""
    await product("timeout")


async def test_every_await_with_lost_arbitration():
    """The same with another master that wins the wire."""
    await product("arbitration")


async def test_every_await_with_stuck_sda():
    """The same with a chip that holds SDA until it is clocked."""
    await product("stuck_sda")


async def test_every_await_with_stuck_scl():
    """The same with a chip that holds SCL until it is switched off."""
    await product("stuck_scl")


async def test_a_set_up_that_fails_at_each_step():
    """A set-up that raises after each of its steps: its callers are told, and the next user of anything succeeds."""
    turn = 0
    for shape in SHAPES:
        for name in list(OPERATIONS) + list(CUT):
            for step in range(3):
                turn += 1
                if not sampled(turn):
                    continue
                failures = [2]

                async def setup(session):
                    for n in range(3):
                        if n == step and failures[0]:
                            failures[0] -= 1
                            raise BusError(5, "mine")
                        await sleep(1)
                        await session.write_register(0x20, b"\x01\x02"[: n + 1] if n < 2 else b"\x01\x02")

                case = Case(shape, OPERATIONS.get(name) or CUT[name], name in CUT, setup)
                result = await case.run(None, 0, None, 0)
                if isinstance(result, Exception):
                    # busio cannot do the open write
                    assert result.args == (5, "mine") or isinstance(result, NotImplementedError), repr(result)
                failures[0] = 0
                await case.afterwards()
