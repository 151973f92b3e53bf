"""Bus: what I2C, SPI and UART have in common: the peripheral, the table of keys, the wire, and their life."""

from ._rt import current_task, is_awaitable, sleep_ms, ticks_ms
from .errors import BusClosed, BusError, LockTimeout, Reentry
from .holds import BusHold, left_of
from .lazy import Lazy
from .lock import Lock
from .table import LockTable
from .waitqueue import check_ms, fail_all

_serials = [0]


class NativeLocked(Exception):
    """The port's own lock (`try_lock`) is taken by code outside this package."""


class Wire(Lock):
    """The physical bus. When its holder is lost with a replaced loop, nobody knows what is on it."""

    bus = None
    _waits = 0

    def _note(self, event, waiter=None):
        if event == "waits":
            self._waits += 1
        elif event == "stale":
            self.bus._soil()
            self.bus._wire_hold = None
            self.bus._table._note(event, self)


class BusTable(LockTable):
    bus = None

    def _label(self, key):
        return self.bus._label(key)


class Bus:
    """Common base; see I2CBus, SPIBus, UARTBus."""

    _raw = None  # the back end while it can be used at once; None sends every operation the slow way
    _backend = None
    _closing = False
    _dirty = False
    _wire_hold = None  # the BusHold that keeps the wire

    def __init__(self, peripheral, name, close, max_waiters, trace):
        if peripheral is None:
            raise TypeError("%s: the first argument is a peripheral, or a function that makes one, not None" % name)
        _serials[0] += 1
        self._serial = _serials[0]
        self.name = name
        self._max_waiters = max_waiters
        self._trace = trace
        self._devices = {}
        self._counts = {"nacks": 0, "errors": 0, "retries": 0, "recoveries": 0}
        self._fresh_locks()
        self._lazy = None
        if callable(peripheral):
            self._lazy = Lazy(peripheral, close or _deinit)
            self._lazy._line.name = "making of " + name
        else:
            self._raw = self._backend = self._wrap(peripheral)

    def _fresh_locks(self):
        self._epoch = object()
        self._table = BusTable(self.name, self._max_waiters)
        self._table.bus = self
        self._wire = Wire(self.name + " wire")
        self._wire.bus = self
        self._wire_hold = None

    # What a kind of bus says about itself

    def _wrap(self, peripheral):
        """The peripheral with the methods the bus calls; TypeError if it is something else."""
        return peripheral

    def _label(self, key):
        return "%s/%s" % (self.name, key)

    def _device_of(self, device):
        """The device object for a device or an address."""
        raise NotImplementedError

    def _session_of(self, device, hold):
        raise NotImplementedError

    async def _clean(self):
        """Called with the wire held before the next transfer when something was left on it."""
        self._dirty = False
        self._raw = self._backend

    def _end_transfer(self):
        """Make the STOP that is missing."""

    # Holds

    def hold(self, *devices, timeout_ms=None, wire=False):
        """`async with bus.hold(a, b) as regs`: several devices (or addresses) at once, `regs.read_register(a, ...)`."""
        from .groups import GroupHold

        if not devices:
            raise ValueError("%s: hold() needs a device; the whole bus is hold_all()" % self.name)
        return GroupHold(self, [self._device_of(device) for device in devices], timeout_ms, wire)

    def hold_all(self, timeout_ms=None):
        """The whole bus: waits for every holder, and nobody else gets in."""
        from .groups import GroupHold

        return GroupHold(self, None, timeout_ms, False)

    async def call(self, device, function, *args, timeout_ms=None):
        """Result of a synchronous `function(*args)`, with the device's key and the wire held and its set-up done."""
        async with BusHold(self, (self._device_of(device),), timeout_ms, True):
            result = function(*args)
            if is_awaitable(result):
                if hasattr(result, "close"):
                    result.close()
                raise TypeError("%s: call() is for synchronous functions; use `async with device.hold()`" % self.name)
            return result

    def _session(self, hold):
        return self._session_of(hold._devices[0], hold)

    def _covers(self, task, key):
        return self._hold_of(task, key) is not None

    def _hold_of(self, task, key):
        """The table's hold by which `task` holds the key; None."""
        table = self._table
        if table._entries or table._all:
            for hold in table._holds_of(task):
                if hold is table._all or hold._key == key:
                    return hold
        return None

    # Peripheral and set-ups

    def _usable(self, devices):
        if self._backend is None or self._closing:
            return False
        for device in devices or ():
            if not device._ready:
                return False
        return True

    async def _ready_for(self, devices, timeout_ms):
        """The peripheral is made and the devices are set up; nothing is held for that."""
        start = ticks_ms()
        if self._closing:
            raise BusClosed("%s is being closed; use it again when aclose() has returned" % self.name)
        if self._backend is None:
            made = await self._lazy.get(timeout_ms)  # cancelled here: the making goes on
            if self._backend is None:
                self._backend = self._wrap(made)
        if self._raw is None and not self._dirty:
            self._raw = self._backend
        for device in devices or ():
            if not device._ready:
                await device._make_ready(left_of(timeout_ms, start))  # cancelled here: the set-up goes on

    def _soil(self):
        """Something may be left on the wire: clean before the next transfer."""
        self._dirty = True
        self._raw = None

    # The wire

    def _refuse_wire_holder(self, wanted):
        hold = self._wire_hold
        if hold is not None and hold._task is current_task():
            raise Reentry(
                "%s: this task holds the wire of %s with %s; name both in one hold()"
                % (wanted, self.name, hold._label())
            )

    async def _keep_wire(self, hold, timeout_ms):
        await self._wire.acquire(timeout_ms)  # cancelled here: nothing is owned
        self._wire_hold = hold
        if self._dirty:
            try:
                await self._clean()
            except BaseException:
                self._leave_wire(hold)
                raise

    def _leave_wire(self, hold):
        self._wire_hold = None
        if hold._open:
            hold._open = False
            self._end_transfer()
        if hold._epoch is self._epoch:
            self._wire._pass_on()

    async def _on_wire(self, hold, timeout_ms, tries, function, a=None, b=None):
        """Result of the synchronous `function(a, b)` with the wire held: by `hold` if it keeps it, else for this call.

        `tries` more times after a BusError, with the wire free in between.
        """
        start = ticks_ms()
        wire = self._wire
        while True:
            mine = hold is not None and self._wire_hold is hold
            if not mine:
                await wire.acquire(left_of(timeout_ms, start))  # cancelled here: nothing is owned
            try:
                if self._dirty:
                    await self._clean()
                while True:
                    try:
                        return function(a, b)
                    except NativeLocked:
                        left = left_of(timeout_ms, start)
                        if left == 0:
                            raise self._native_timeout(timeout_ms)
                        await sleep_ms(1)  # cancelled here: the wire is given back below
            except BusError as error:
                if tries <= 0 or error.final:
                    raise
                tries -= 1
                self._counts["retries"] += 1
            finally:
                if not mine and wire is self._wire:
                    wire._pass_on()
            await sleep_ms(1)  # cancelled here: the wire is free; the key is the caller's

    def _native_timeout(self, timeout_ms):
        return LockTimeout(
            "%s: its native lock (try_lock) is taken by code outside buslock for %d ms; a display that owns the bus? "
            "displayio.release_displays() frees it, or bus.reset() if it was left over by an earlier program"
            % (self.name, timeout_ms)
        )

    # Life

    async def aclose(self, timeout_ms=None):
        """Wait for the holders, fail the waiters (BusClosed), and close what our factory made. The next use makes it
        anew. LockTimeout: still open."""
        check_ms(timeout_ms)
        if self._closing:
            raise BusClosed("%s is being closed already" % self.name)
        if self._table._holds_of(current_task()):
            raise Reentry("%s: this task holds a key of it; release that before aclose()" % self.name)
        start = ticks_ms()
        keys = self._table.hold_all(timeout_ms)
        self._closing = True
        self._raw = None
        error = BusClosed("%s was closed while this task waited for it" % self.name)
        self._table._fail_all(error)
        fail_all(self._wire, error)
        try:
            await keys._enter()  # cancelled here: stays open
            try:
                await self._wire.acquire(left_of(timeout_ms, start))  # cancelled here: stays open
                self._wire._pass_on()
                if self._lazy is not None:
                    self._backend = None
                    await self._lazy.aclose(left_of(timeout_ms, start))
                for device in self._devices.values():
                    device._due()
            finally:
                if keys._task is not None:
                    keys.release()
        finally:
            self._closing = False

    def reset(self):
        """Forget every holder and waiter, at the REPL after Ctrl-C, without a loop. Their sessions are dead (NotHeld);
        the wire is cleaned and set-ups are run again before the next use."""
        error = BusClosed("%s was reset" % self.name)
        table, wire = self._table, self._wire
        stale = [hold._task for hold in table._holds()]
        self._fresh_locks()
        self._table._counts = table._counts
        for _ in stale:
            self._table._note("stale", self._table._gate)
        table._fail_all(error)
        fail_all(wire, error)
        self._closing = False
        if self._backend is not None:
            self._soil()
        for device in self._devices.values():
            device._due()

    def stats(self):
        """A dict: that of the table, and the counters of the bus."""
        stats = self._table.stats()
        stats["wire_waits"] = self._wire._waits
        stats.update(self._counts)
        return stats


def _deinit(peripheral):
    if hasattr(peripheral, "deinit"):
        peripheral.deinit()
