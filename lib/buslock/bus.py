"""Bus: what I2C, SPI and UART have in common: the peripheral, the table of keys, the wire."""

from ._rt import ONE_LOOP, current_task, later, loop_id, ticks_ms
from .holding import left_of
from .lock import Lock
from .rare import rare
from .table import LockTable
from .waitqueue import HOLD, LONGEST, WAITS, check_ms

_serials = [0]


class Bus:
    """Common base; see I2CBus, SPIBus, UARTBus."""

    _directories = ("busmore",)
    _raw = None  # the back end while it can be used at once; None sends every operation the slow way
    _backend = None  # the peripheral, with the methods the devices call
    _awaits = False  # transfers are coroutines
    _lazy = None
    _thread = None
    _closes = 0  # how often it was closed
    _closing = None  # the line of those who wait for the end of a close
    _open_call = None  # a driver under call() has left a write without STOP
    _locks = None  # of look-alikes: how often try_lock() was called, and whether it took the wire
    _take_over = False  # a native lock that an earlier program left is freed
    _unmade = False  # a recovery was not completed: what was the peripheral is none now
    _dirty = False  # something may be left on the wire
    _channel = None
    _wire_hold = None  # the hold that keeps the wire
    _user = None  # the task whose awaited transfer runs
    _late = False  # the wire is given back when that has ended
    _trace = None  # a Traced, where a Trace is kept
    _events = ()  # what else this kind of bus counts

    def __init__(self, peripheral, name, close, max_waiters, trace):
        if peripheral is None:
            raise TypeError("%s: the first argument is a peripheral, or a function that makes one, not None" % name)
        _serials[0] += 1
        self._serial = _serials[0]
        self.name = name
        # What each operation looks at is the object's own: a default of the second class above takes ten times as long.
        self.debug = False  # True: every operation takes the slow way and checks that it comes from the bus's own thread
        self._native = None  # asks whether the port's own lock is free, where it has one
        self._transfer = False  # a transfer runs: what is called now is called from an interrupt
        self._limit = check_ms(max_waiters)
        self._bus = self  # as a multiplexer's channel has it
        self._devices = {}
        self._loop = loop_id() if ONE_LOOP else None
        if trace is not None:
            later.traced.attach(self, trace)
        self._renew()
        if callable(peripheral):
            self._factory = peripheral
            self._close = close
        else:
            self._factory = None
            self._backend = self._wrap(peripheral)
            if ONE_LOOP and not self._dirty:  # pragma: no cover (CPython has a loop for each thread)
                self._raw = self._backend

    def __getattr__(self, name):
        """hold, hold_all, call, stats, aclose, reset and more: loaded on first use, methods from then on."""
        return rare(self, type(self), name, self._directories)

    def _renew(self):
        """Locks that nobody holds."""
        self._epoch = object()
        self._table = table = LockTable(self.name, self._limit)
        self._wire = wire = Lock(self.name + " wire")
        table.bus = wire.bus = self
        wire._counts = {WAITS: 0, LONGEST: 0, HOLD: 0}

    async def _open(self, device, timeout_ms):
        """The peripheral is made and `device` (if any) is set up; nothing is held for that."""
        if self._closing or self._loop is not loop_id() or self.debug:
            self._look()
        if self._backend is None:
            await self._make(timeout_ms)  # cancelled here: the making goes on
        if self._dirty:
            await self._clean_first(timeout_ms)  # cancelled here: still dirty
        if self._raw is None and not self.debug:
            self._raw = self._backend
        if device is not None and not device._ready:
            await device._make_ready(timeout_ms)  # cancelled here: the set-up goes on

    async def _with_key(self, device, timeout_ms, tries, function, a, b):
        """Result of `function(a, b)`, with the device's key (or the running task's own hold of it) and the wire."""
        check_ms(timeout_ms)
        start = ticks_ms()
        task = current_task()
        key = device._key
        hold = None
        if self._table._hold_of(task, key) is None:
            if self._wire_hold is not None:
                self._refuse_wire_holder(device._label())
            closes = self._closes
            while True:
                if self._closes != closes:
                    self._refuse_closed()
                await self._open(device, left_of(timeout_ms, start))
                table = self._table
                hold = table.hold(key, left_of(timeout_ms, start))
                await hold._enter()  # cancelled here: nothing is owned
                if (
                    self._backend is not None
                    and not self._closing
                    and not self._dirty
                    and device._ready
                    and self._table is table
                ):
                    break
                hold.release()  # while this task stood in line, it was closed or reset, or the set-up became due again
        elif self._dirty or not device._ready:
            await self._open(device, timeout_ms)
        try:
            wire = self._wire_hold
            if wire is not None:
                wire = self._own_wire(device)
            # Cancelled here: the wire is free, and the key is given back below.
            return await self._on_wire(wire, left_of(timeout_ms, start), tries, function, a, b)
        finally:
            if hold is not None and hold._task is not None:
                hold.release()

    async def _on_wire(self, hold, timeout_ms, tries, function, a, b=None):
        """Result of the synchronous `function(a, b)`, with the wire: of `hold` if it keeps it, else for this call."""
        start = ticks_ms()
        wire = self._wire
        mine = hold is not None and self._wire_hold is hold
        if not mine:
            await wire.acquire(timeout_ms)  # cancelled here: nothing is owned
            if self._wire is not wire:
                self._refuse_closed()  # it was reset in the step of the hand-over
        try:
            if self._dirty:
                await self._clean_within(left_of(timeout_ms, start))  # cancelled here: still dirty
            if self._transfer:
                self._refuse_interrupt()
            self._transfer = True
            try:
                result = function(a, b)
            finally:
                self._transfer = False
            return await self._awaited(result) if self._awaits else result
        except Exception as error:
            # A native lock is waited for; what may be tried again is, with the wire free in between.
            return await self._again(error, mine, left_of(timeout_ms, start), tries, function, a, b)
        finally:
            if not mine and self._wire is wire and wire._holder is current_task():
                wire._pass_on()
