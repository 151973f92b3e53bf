"""Trace: the last events of one or more buses, each with its time, key and task. Recording one allocates nothing.

    trace = Trace()
    bus = I2CBus(board.i2c, trace=trace)
    ...
    trace.dump()
"""

import time
from array import array

from ._rt import EVENT_UNIT, EVENT_WRAP, OUTSIDE, current_task, ended, event_ticks, task_name

EVENTS = (
    "wait grant timeout cancel reject release start end select deselect enable disable recover recovered making ready "
    "failed close closed block mark"
).split()
WAIT, GRANT, TIMEOUT, CANCEL, REJECT, RELEASE, START, END, SELECT, DESELECT, ENABLE, DISABLE = range(12)
RECOVER, RECOVERED, MAKING, READY, FAILED, CLOSE, CLOSED, BLOCK, MARK = range(12, 21)
# What the event is about is added to it; for KEY that is nothing.
KINDS = ("key", "wire", "all", "lazy", "bus", "mark")
WIRE, ALL, LAZY, BUS, NOTE = range(32, 192, 32)
# An operation that nobody hinders takes neither key nor wire. What it does is told as if it had, from one record: at its
# START or SELECT the grants of both, or of the wire alone where the key is a hold's, and at its END or DESELECT the releases.
QUICK = 192
QUICK_WIRE = 224

_VALUED = (WAIT, START, END, RECOVERED, BLOCK)  # others show their value only where it is not 0
_PATIENCE = 1000  # ms without a byte taken, after which a stream counts as broken


class Trace:
    """A ring of the last `capacity` records, of which each takes 21 bytes on a board (33 on 64 bits).

    A record is an event, but for an operation that nobody hinders: its grants and releases come with start and end.

    Give it to buses: `I2CBus(..., trace=trace)`; several may share it. `unit` of its times is "us", or "ms" where the
    port has no finer clock. A pause of more than `wrap` of them (18 minutes of us) looks shorter than it was.
    """

    def __init__(self, capacity=256):
        if type(capacity) is not int or capacity < 1:
            raise ValueError("a trace has room for 1 event or more, not %r" % (capacity,))
        self.capacity = capacity
        self.unit = EVENT_UNIT
        self.wrap = EVENT_WRAP
        self._now = event_ticks
        self._mask = EVENT_WRAP - 1
        self._codes = bytearray(capacity)
        self._times = array("I", bytes(4 * capacity))
        self._values = array("i", bytes(4 * capacity))
        self._buses = [None] * capacity
        self._keys = [None] * capacity
        self._tasks = [None] * capacity
        self._at = 0  # where the next one goes
        self._count = 0  # recorded since clear(), those that were overwritten too
        self._names = {}  # task: the name that was given to it

    def __len__(self):
        return min(self._count, self.capacity)

    def record(self, code, bus, key, task, value):
        """For the buses: an event and its kind, and what the dump is to make a text of."""
        i = self._at
        self._codes[i] = code
        self._times[i] = self._now() & self._mask
        self._values[i] = value
        self._buses[i] = bus
        self._keys[i] = key
        self._tasks[i] = task
        i += 1
        self._at = i if i < self.capacity else 0
        if self._count < 0x3FFFFFFF:  # more needs an object of its own
            self._count += 1

    def name(self, text):
        """Call the running task so in the dump, in place of the name of its coroutine function."""
        if not isinstance(text, str):
            raise TypeError("a task's name is a string, not %r" % (text,))
        task = current_task()
        if task is OUTSIDE:
            raise RuntimeError("trace.name() names the running task, and none runs")
        self.call(task, text)

    def call(self, task, text):
        """For the buses: the name of a task of theirs."""
        self._forget_names()
        self._names[task] = text

    def mark(self, text):
        """A remark of your own among the events."""
        self.record(MARK + NOTE, None, text, current_task(), 0)

    def clear(self):
        """Forget all events, and the tasks and buses that they keep alive."""
        for refs in (self._buses, self._keys, self._tasks):
            for i in range(self.capacity):
                refs[i] = None
        self._at = self._count = 0
        self._forget_names()

    def dump(self, stream=None):
        """Print the events, oldest first, or write them to a file, a UART or whatever has write().

        Needs no loop: after an exception or Ctrl-C the last events are still there. Blocks until all is written.
        """
        if stream is None:
            write = print
        else:
            write = _Writer(stream).line
        for line in self._lines():
            write(line)

    def _forget_names(self):
        """Of tasks that have ended and have no event any more."""
        for task in list(self._names):
            if ended(task) and task not in self._tasks:
                del self._names[task]

    def _lines(self):
        """The dump, line by line: a header, events, and what they are about before it is first used."""
        n = len(self)
        at = self._at - n
        before = self._times[at % self.capacity] if n else 0
        events = sum([len(_parts(self._codes[i % self.capacity])) for i in range(at, at + n)])
        yield "~buslock-trace 1 unit=%s wrap=%d events=%d lost=%d at=%d" % (
            self.unit,
            self.wrap,
            events,
            self._count - n,
            before,
        )
        keys = {}  # (kind, number of its bus, key): number
        buses = {}  # id: number
        tasks = {}  # id: number
        names = set()
        for i in range(at, at + n):
            i %= self.capacity
            bus, task = self._buses[i], self._tasks[i]
            b = t = 0
            if bus is not None:
                b = buses.get(id(bus))
                if b is None:
                    b = buses[id(bus)] = len(buses) + 1
                    yield "~B%d %s" % (b, _plain(bus.name))
            if task is not None and task is not OUTSIDE:
                t = tasks.get(id(task))
                if t is None:
                    t = tasks[id(task)] = len(tasks) + 1
                    shown = name = _plain(self._names.get(task) or task_name(task))
                    count = 1
                    while shown in names:
                        count += 1
                        shown = "%s#%d" % (name, count)
                    names.add(shown)
                    yield "~T%d %s" % (t, shown)
            for event, kind in _parts(self._codes[i]):
                key = None if kind == 1 else self._keys[i]
                k = keys.get((kind, b, key))
                if k is None:
                    k = keys[(kind, b, key)] = len(keys) + 1
                    yield "~K%d B%d %s %s" % (k, b, KINDS[kind], _plain(_text(kind, bus, key)))
                line = "~+%d %s K%d T%d" % ((self._times[i] - before) & self._mask, EVENTS[event], k, t)
                if event in _VALUED or self._values[i] and event not in (GRANT, RELEASE):
                    line += " %d" % self._values[i]
                yield line
                before = self._times[i]
        yield "~end %d" % events


def _parts(code):
    """The events of a record, each with its kind."""
    event, kind = code % 32, code // 32
    if kind < 6:
        return ((event, kind),)
    mine = (event, 1 if event in (START, END) else 0)
    if event in (START, SELECT):
        parts = ((GRANT, 0), (GRANT, 1), mine)
        return parts if kind == 6 else parts[1:]
    parts = (mine, (RELEASE, 1), (RELEASE, 0))
    return parts if kind == 6 else parts[:-1]


def _text(kind, bus, key):
    if kind == 0:
        return bus._table._label(key)
    if kind == 1:
        return bus.name + " wire"
    if kind == 2:
        return "all of " + bus.name
    if kind == 3:
        return "making of " + bus.name if key is None else "set-up of " + key._label()
    return bus.name if kind == 4 else str(key)


def _plain(text):
    """ASCII on one line."""
    return "".join([c if " " <= c <= "~" else "?" for c in text])


class _Writer:
    """Streams differ: some want str, some bytes; a UART may take a part only."""

    def __init__(self, stream):
        self._stream = stream
        self._bytes = False

    def line(self, text):
        left = text + "\n"
        if self._bytes:
            left = left.encode()
        idle = 0
        while left:
            try:
                n = self._stream.write(left)
            except TypeError:
                if self._bytes:
                    raise
                self._bytes = True
                left = left.encode()
                continue
            if type(n) is not int:
                if not hasattr(self._stream, "any"):
                    return  # it does not tell
                n = 0  # a machine.UART that has no room
            left = left[n:]
            if n:
                idle = 0
            else:
                idle += 1
                if idle > _PATIENCE:
                    raise OSError(110, "the stream has taken nothing for %d ms" % _PATIENCE)
                time.sleep(0.001)
