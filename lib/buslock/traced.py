"""A bus that is traced: what its locks, its peripheral, its set-ups and its end tell the Trace. Loaded with `trace=`.

The methods of this one bus are put in front of those of its class, so a bus without a trace is as before. Nothing here
waits or raises: what happens, and in which order, is the same with a trace and without.
"""

from ._rt import DONE, Given, current_task, later
from .bus import Bus
from .lock import Lock
from .table import KeyHold, ask
from .trace import (
    ALL,
    BLOCK,
    BUS,
    CANCEL,
    CLOSE,
    CLOSED,
    DESELECT,
    END,
    FAILED,
    GRANT,
    LAZY,
    MAKING,
    QUICK,
    QUICK_WIRE,
    READY,
    RECOVER,
    RECOVERED,
    REJECT,
    RELEASE,
    SELECT,
    START,
    TIMEOUT,
    WAIT,
    WIRE,
)
from .waitqueue import wait


def attach(bus, trace):
    """Called while the bus is being made."""
    if not hasattr(trace, "record"):
        raise TypeError("%s: trace is a Trace, not %r" % (bus.name, trace))
    bus._trace = me = Traced(bus, trace)
    wrap = bus._wrap
    bus._renew = me.renew
    bus._wrap = lambda peripheral: bus._recorded(wrap(peripheral))
    bus._new_lazy = me.new_lazy
    bus._call = me.call
    bus.aclose = me.aclose


def number_of(error):
    """The errno of an exception; -1 where there is none."""
    number = error.args[0] if isinstance(error, OSError) and error.args else -1
    return number if type(number) is int and 0 < number < 1 << 30 else -1


def size_of(wanted):
    """Bytes of a transfer: a number of them, or a buffer; 0 for what the peripheral is going to refuse."""
    try:
        size = wanted if type(wanted) is int else len(wanted)
    except TypeError:
        return 0
    return size if 0 <= size < 1 << 30 else 0


class TracedKeyHold(KeyHold):
    who = None  # the holder, also when the hold has ended

    def __aenter__(self):
        return self._enter()

    def _enter(self):
        given = self._task
        if not isinstance(given, Given):
            self._refuse()
        self._task = None
        queue = self._table._trace.ask(self)
        return given if queue is None else wait(queue, self, None, self._timeout)

    def __aexit__(self, exc_type, exc, tb):
        if self._task is not None:
            self._task = None
            self._drop()
        return DONE

    def _drop(self):
        table = self._table
        bus = table.bus
        if bus._table is table:
            table._trace.trace.record(RELEASE, bus, self._key, self.who, 0)
        KeyHold._drop(self)


class Traced:
    """What one bus tells its trace."""

    def __init__(self, bus, trace):
        # All at once: where a hold ends there may be no memory for one more attribute.
        self.bus = bus
        self.trace = trace
        self.table = None
        self.kind = WIRE  # of the transfer that runs
        self.key = None
        self.selected = 0  # the code of the selection that is in force
        self.exchanges = 0  # of a UART: how many are under way; after a reset the one before may not have ended

    def tell(self, code, key=None, value=0):
        """An event of the running task."""
        self.trace.record(code, self.bus, key, current_task(), value)

    def takes(self, key):
        """What is told as taken with a transfer that has taken nothing: QUICK, QUICK_WIRE, or 0 under somebody's wire."""
        table = self.bus._table
        if self.bus._wire._holder is not None:
            return 0
        return QUICK_WIRE if key is None or key in table._entries or table._all is not None else QUICK

    async def told(self, begins, done, failed, key, function, argument):
        """Result of a coroutine function, with what it begins and ends with."""
        self.tell(begins, key)
        try:
            result = await function(argument)  # cancelled here: as without a trace
        except BaseException as error:
            self.tell(failed, key, number_of(error))
            raise
        self.tell(done, key)
        return result

    # Transfers

    def start(self, wanted, key=None):
        """`with trace.start(...):` around a transfer. `key` is that of the device, if it may be an operation that has
        taken nothing."""
        self.kind = WIRE if self.selected else self.takes(key) or WIRE
        self.key = key if self.kind == QUICK else None
        self.trace.record(START + self.kind, self.bus, self.key, current_task(), size_of(wanted))
        return self

    def __enter__(self):
        return self

    def __exit__(self, exc_type, error, tb):
        self.end(0 if exc_type is None else number_of(error))

    def end(self, value=0):
        self.trace.record(END + self.kind, self.bus, self.key, current_task(), value)
        self.kind = WIRE  # also of one that begins before a reset and ends after it
        self.key = None

    def select(self, key):
        self.selected = SELECT + self.takes(key)
        self.tell(self.selected, key)

    def deselect(self, key):
        self.tell(self.selected - SELECT + DESELECT, key)
        self.selected = 0

    # Lines: called by waitqueue, waitmore and refusals

    def waiting(self, queue, waiter, code, value, task):
        """For a key, the whole table, or the wire: at the gate of a table its line is that of several."""
        if queue.table is None:
            self.trace.record(code + WIRE, self.bus, None, task, value)
        elif waiter._key is None:
            self.trace.record(code + ALL, self.bus, None, task, value)
        else:
            self.trace.record(code, self.bus, waiter._key, task, value)

    def arrived(self, queue):
        waiter = queue._line[-1]
        if waiter.is_hold:
            waiter.who = None  # room for the attribute: when it is granted there may be none left
        self.waiting(queue, waiter, WAIT, len(queue._line) - 1, waiter.holder or waiter.task)

    def granted(self, queue, waiter, task):
        if waiter.is_hold:
            waiter.who = task
        self.waiting(queue, waiter, GRANT, 0, waiter.holder or task)

    def gone(self, queue, waiter, cancelled):
        """It was not granted: cancelled, or failed by a close or a reset; or its time is over."""
        self.waiting(queue, waiter, CANCEL if cancelled else TIMEOUT, 0, waiter.holder or current_task())

    def rejected(self, queue, hold):
        self.waiting(queue, hold, REJECT, 0, current_task())

    # Locks

    def renew(self):
        """Locks that nobody holds. Holds of those before end here: what becomes of them later is not told."""
        bus = self.bus
        if self.table is not None:
            for hold in self.table._holds():
                self.trace.record(RELEASE + (ALL if hold._key is None else 0), bus, hold._key, hold._task, 0)
            if bus._wire._holder is not None:
                self.trace.record(RELEASE + WIRE, bus, None, bus._wire._holder, 0)
        Bus._renew(bus)
        self.table = table = bus._table
        table._trace = self
        table._kind = TracedKeyHold
        table.hold_all = lambda timeout_ms=None: hold_all(table, timeout_ms)
        wire = TracedLock(bus._wire.name)
        wire._counts = bus._wire._counts
        wire._trace = self
        wire.bus = bus
        bus._wire = wire

    key_hold = TracedKeyHold

    def ask(self, hold):
        hold.who = None  # room for the attribute: a key that is taken is given back only by a block that was entered
        queue = ask(hold._table, hold)
        if queue is None:
            hold.who = hold._task
            if hold._table is self.table:  # else that of before a reset
                self.trace.record(GRANT, self.bus, hold._key, hold._task, 0)
        return queue

    # The bus

    async def aclose(self, timeout_ms=None):
        # Cancelled there: still open.
        await self.told(
            CLOSE + BUS, CLOSED + BUS, CLOSED + BUS, None, lambda bus: later.closing.aclose(bus, timeout_ms), self.bus
        )

    async def recovery(self, recover):
        # Cancelled there: still dirty.
        await self.told(RECOVER + BUS, RECOVERED + BUS, RECOVERED + BUS, None, recover, self.bus)

    def call(self, device, function, args):
        trace = self.trace
        start = trace._now()
        try:
            return later.buscalls._call(self.bus, device, function, args)
        finally:
            took = (trace._now() - start) & trace._mask
            self.tell(BLOCK, device._key, took // 1000 if trace.unit == "us" else took)

    def new_lazy(self):
        later.making._new_lazy(self.bus)
        lazy = self.bus._lazy

        def start():
            self.tell(MAKING + LAZY)
            later.lazy.Lazy._start(lazy)
            if lazy._task is not None:
                self.trace.call(lazy._task, lazy.name)

        def end(state, outcome):
            self.tell((FAILED if state == "failed" else READY) + LAZY)
            later.lazy.Lazy._end(lazy, state, outcome)

        lazy._start = start
        lazy._end = end

    async def set_up(self, device, session):
        starter = device._starter
        if starter is not None and starter._task is current_task():
            self.trace.call(starter._task, starter.name)
        # Cancelled there: still due.
        await self.told(MAKING + LAZY, READY + LAZY, FAILED + LAZY, device, device._setup, session)


def hold_all(table, timeout_ms):
    return later.tracedholds.TracedAllHold(table, timeout_ms)


class TracedLock(Lock):
    """The wire."""

    def _take(self, holder, hold):
        if not Lock._take(self, holder, hold):
            return False
        self._trace.trace.record(GRANT + WIRE, self.bus, None, holder, 0)
        return True

    def try_acquire(self):
        if not Lock.try_acquire(self):
            return False
        self._trace.trace.record(GRANT + WIRE, self.bus, None, self._holder, 0)
        return True

    def hold(self, timeout_ms=None):
        return later.tracedholds.TracedLockHold(self, timeout_ms)

    def _pass_on(self, waiter=None):
        bus = self.bus
        if self._holder is not None and bus._wire is self:
            self._trace.trace.record(RELEASE + WIRE, bus, None, self._holder, 0)
        Lock._pass_on(self)

    _give_back = _pass_on
