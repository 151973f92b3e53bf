"""Trace: the ring, its dump, and the names of tasks."""

import asyncio
import io

from buslock import I2CBus, Trace
from buslock._rt import OUTSIDE, event_ticks
from buslock.trace import EVENTS, MARK, NOTE, RELEASE, START, WAIT
from i2c_rig import A, Rig
from support.turns import gather_all, raises, turns
from trace_rig import Dump, events

CLOCK = "virtual"


class Ticks:
    """A clock that moves by hand: the ticks of a trace."""

    def __init__(self, trace, now=0):
        self.now = now
        trace._now = self

    def __call__(self):
        return self.now


def test_an_empty_trace():
    """Without events the dump is its header and its end."""
    trace = Trace()
    assert len(trace) == 0
    dump = Dump(trace)
    assert dump.events == []
    assert dump.header["events"] == dump.header["lost"] == "0"
    assert dump.header["unit"] in ("us", "ms")


def test_arguments():
    for wrong in (0, -1, None, "8", 2.0):
        raises(ValueError, Trace, wrong)
    assert Trace(1).capacity == 1
    raises(TypeError, I2CBus, lambda: None, trace=True)
    raises(TypeError, Trace().name, 5)


def test_every_event_has_a_name():
    """The codes and the names of the format belong together."""
    assert len(EVENTS) == 21
    assert EVENTS[WAIT] == "wait" and EVENTS[RELEASE] == "release" and EVENTS[START] == "start"
    assert EVENTS[MARK] == "mark"


def test_the_ring_overflows():
    """The newest `capacity` events stay; the header says how many are lost."""
    for capacity in (1, 2, 3, 7):
        for n in range(3 * capacity + 1):
            trace = Trace(capacity)
            ticks = Ticks(trace)
            for i in range(n):
                ticks.now = 100 + 10 * i
                trace.mark("m%d" % i)
            dump = Dump(trace)
            kept = min(n, capacity)
            assert len(trace) == kept
            assert [key for _, _, key, _, _ in dump.events] == ["mark m%d" % i for i in range(n - kept, n)]
            assert [at for at, _, _, _, _ in dump.events] == [10 * i for i in range(kept)]
            assert dump.header["lost"] == str(n - kept)
            assert dump.header["at"] == (str(100 + 10 * (n - kept)) if n else "0")


def test_more_events_than_can_be_counted():
    """The count stays at the largest number that needs no object of its own; the ring goes on."""
    trace = Trace(2)
    trace._count = 0x3FFFFFFE
    for text in ("a", "b", "c"):
        trace.mark(text)
    assert trace._count == 0x3FFFFFFF and len(trace) == 2
    assert events(trace) == ["mark b", "mark c"]


def test_clear():
    """After clear() nothing is left, and nothing is kept alive."""
    trace = Trace(2)
    for text in ("a", "b", "c"):
        trace.mark(text)
    trace.clear()
    assert len(trace) == 0
    assert trace._keys == trace._buses == trace._tasks == [None, None]
    assert Dump(trace).header["lost"] == "0"
    trace.mark("d")
    assert events(trace) == ["mark d"]


def test_ticks_that_wrap():
    """Times are differences, also over the end of the ticks, wherever the port's own ticks end."""
    trace = Trace()
    wrap = trace.wrap
    assert wrap in (1 << 29, 1 << 30)
    ticks = Ticks(trace, wrap - 5)
    trace.mark("before")
    ticks.now = 5  # a board's ticks
    trace.mark("after")
    ticks.now = wrap + 25  # those of a desk do not wrap
    trace.mark("later")
    ticks.now = 5 * wrap + 30
    trace.mark("much later")
    dump = Dump(trace)
    assert [at for at, _, _, _, _ in dump.events] == [0, 10, 30, 35]
    assert dump.header["at"] == str(wrap - 5)


def test_milliseconds():
    """Where there are no microseconds the dump says so."""
    trace = Trace()
    trace.unit = "ms"
    trace.mark("x")
    assert Dump(trace).header["unit"] == "ms"


def test_ticks_are_small():
    """What a clock of 62 or more bits gives is cut before it is kept."""
    trace = Trace()
    Ticks(trace, (1 << 80) + (3 << 30) + 7)
    trace.mark("x")
    assert Dump(trace).header["at"] == "7"
    assert type(event_ticks()) is int


async def test_names():
    """name() renames the running task from its first event on; tasks of one name are told apart."""
    trace = Trace()

    async def reader(name):
        trace.mark("in")
        await turns()
        if name:
            trace.name(name)
        trace.mark("out")

    await gather_all(reader(None), reader("display"), reader("display"), reader(None), reader("reader#2"))
    tasks = [task for _, name, key, task, _ in Dump(trace).events]
    assert tasks[:5] == tasks[5:]
    assert tasks[:3] == ["reader", "display", "display#2"]
    assert tasks[3:5] == ["reader#2", "reader#2#2"]


async def test_names_are_plain():
    """Whatever is in a name or a mark, the dump is ASCII, one line for each record."""
    trace = Trace()
    trace.name("caf\xe9\nend 3")
    trace.mark("a\r\n~end 9")
    dump = Dump(trace)
    assert dump.events[0][1:] == ("mark", "mark a??~end 9", "caf??end 3", None)


def test_nobody_to_name():
    """Outside of a task there is nobody to name; events there have no task."""
    trace = Trace()
    raises(RuntimeError, trace.name, "main")
    trace.mark("x")
    assert Dump(trace).events[0][3] == ""


async def test_names_do_not_stay():
    """The names of tasks that have ended go with their events."""
    trace = Trace(4)

    async def work(i):
        trace.name("task %d" % i)
        trace.mark("x")

    for i in range(50):
        await asyncio.create_task(work(i))
        assert len(trace._names) <= 5
    assert [task for _, _, _, task, _ in Dump(trace).events] == ["task %d" % i for i in range(46, 50)]
    trace.clear()
    assert len(trace._names) == 0


async def test_names_of_running_tasks_stay():
    """A task keeps its name while it runs, however long it has had no event."""
    trace = Trace(2)
    trace.name("patient")
    for _ in range(5):
        await asyncio.create_task(_say(trace))
    trace.mark("x")
    assert Dump(trace).events[-1][3] == "patient"


async def _say(trace):
    trace.name("other")
    trace.mark("y")


class Bytes:
    """A stream for bytes, which raises TypeError for str as CPython's do; a UART that takes at most `most` at once."""

    def __init__(self, most=None, stuck=0, tells=True):
        self.got = b""
        self.most = most
        self.stuck = stuck
        self.tells = tells

    def write(self, data):
        if isinstance(data, str):
            raise TypeError("bytes are wanted")
        if self.stuck:
            self.stuck -= 1
            return 0
        data = bytes(data)[: self.most]
        self.got += data
        return len(data) if self.tells else None


class NoRoom(Bytes):
    """A machine.UART without room says None."""

    def any(self):
        return 0

    def write(self, data):
        return super().write(data) or None


def test_streams():
    """To text streams, byte streams, streams that tell nothing, and UARTs that take a part at a time."""
    trace = Trace()
    trace.mark("hello")
    text = Dump(trace).text
    for stream in (Bytes(), Bytes(most=7), Bytes(tells=False), Bytes(most=1, stuck=3), NoRoom(most=5, stuck=3)):
        trace.dump(stream)
        assert stream.got.decode() == text
    raw = io.BytesIO()
    trace.dump(raw)
    assert raw.getvalue().decode() == text


def test_printed():
    """Without a stream it is printed, line by line."""
    import buslock.trace

    trace = Trace()
    trace.mark("hello")
    lines = []
    buslock.trace.print = lines.append
    try:
        trace.dump()
    finally:
        del buslock.trace.print
    assert "\n".join(lines) + "\n" == Dump(trace).text


def test_a_stream_that_fails():
    """What a stream raises goes to the caller of dump(); the trace is as before."""
    trace = Trace()
    trace.mark("hello")

    class Broken:
        def __init__(self, error):
            self.error = error

        def write(self, data):
            raise self.error

    for error in (OSError(5), TypeError("no"), ValueError("closed")):
        assert raises(type(error), trace.dump, Broken(error)) is error
    # One that takes nothing at all is given up, in a second.
    import buslock.trace

    slept = []

    class Time:
        def sleep(self, seconds):
            slept.append(seconds)

    real, buslock.trace.time = buslock.trace.time, Time()
    try:
        assert "taken nothing" in str(raises(OSError, trace.dump, Bytes(stuck=1 << 20)))
    finally:
        buslock.trace.time = real
    assert len(slept) == 1000
    assert events(trace) == ["mark hello"]


def test_dump_after_an_exception():
    """No loop is needed: after an exception, or Ctrl-C, the last events are there."""
    for error in (ZeroDivisionError(), KeyboardInterrupt()):
        trace = Trace()
        rig = Rig(trace=trace)
        device = rig.bus.device(A)

        def crash(error=error):
            raise error

        async def main(bus=rig.bus, device=device, crash=crash):
            async with device.hold() as session:
                await session.read_register(1, 2)
                await bus.call(A, crash)

        if isinstance(error, KeyboardInterrupt):
            coro = main()
            try:  # by hand, as asyncio.run() of CPython does more than pass it on
                while True:
                    coro.send(None)
            except KeyboardInterrupt:
                pass
        else:
            raises(ZeroDivisionError, asyncio.run, main())
        dump = Dump(trace)
        names = [name for _, name, _, _, _ in dump.events]
        assert names[-3:] == ["block", "release", "release"]
        assert dump.short("wire")[:4][2].startswith("end")


def test_marks_of_one_text_are_one_key():
    trace = Trace()
    for _ in range(3):
        trace.mark("frame")
    dump = Dump(trace)
    assert dump.short() == ["mark frame"] * 3
    assert len(dump.keys) == 1
    assert dump.buses == {"B0": ""}


def test_outside_is_no_task():
    trace = Trace()
    trace.record(MARK + NOTE, None, "x", OUTSIDE, 0)
    trace.record(MARK + NOTE, None, "x", None, 0)
    assert [task for _, _, _, task, _ in Dump(trace).events] == ["", ""]
