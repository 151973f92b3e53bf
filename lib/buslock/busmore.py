"""The methods of Bus that a plain operation does not need; the class loads them on first use."""

from ._rt import (
    current_task,
    is_awaitable,
    is_running,
    later,
    loop_id,
    sleep_ms,
    task_name,
    thread_id,
    ticks_diff_us,
    ticks_ms,
    ticks_us,
)
from .errors import BusClosed, BusError, DeadlineExceeded, LockTimeout, NotHeld, Reentry, TransferError
from .holding import left_of
from .native import NativeLocked

METHODS = (
    "_refuse_closed",
    "_forget_wire_hold",
    "_idle_now",
    "_refuse_interrupt",
    "_clean_first",
    "_clean_within",
    "_ready_wire",
    "_own_wire",
    "_awaited",
    "_refuse_native",
    "_outside",
    "_configure_for_call",
    "_end_call",
    "_note_block",
    "_clean_now",
    "_cleaned",
    "transaction",
    "script",
    "_call",
    "_failed_outside",
    "_every_device",
    "hold",
    "hold_all",
    "call",
    "aclose",
    "reset",
    "stats",
    "_look",
    "_soil",
    "_clean",
    "_refuse_wire_holder",
    "_keep_wire",
    "_leave_wire",
    "_again",
    "_count",
    "_configure_for",
    "_wire_left",
    "_forget",
)
_ENDS = ("_soil", "_wire_left", "_leave_wire", "_end_call", "_note_block", "_failed_outside")
WITH = {"_keep_wire": _ENDS, "call": _ENDS}


def hold(bus, *devices, timeout_ms=None, wire=False):
    """`async with bus.hold(a, b) as regs`: several devices (or addresses) at once, `regs.read_register(a, ...)`."""
    if not devices:
        raise ValueError("%s: hold() needs a device; the whole bus is hold_all()" % bus.name)
    return later.groups.GroupHold(bus, [bus._device_of(device) for device in devices], timeout_ms, wire)


def hold_all(bus, timeout_ms=None):
    """The whole bus: waits for every holder, and nobody else gets in."""
    return later.groups.GroupHold(bus, None, timeout_ms, False)


async def call(bus, device, function, *args, timeout_ms=None):
    """Result of a synchronous `function(*args)`, with the device's key and the wire held and its set-up done."""
    device = bus._device_of(device)
    device._permit()

    def run(_, __):
        bus._transfer = False  # the driver makes its own
        bus._refuse_native()
        bus._configure_for_call(device)
        return bus._call(device, function, args)

    async def run_awaited(_, __):
        waiting = bus._configure_for_call(device)
        if waiting is not None:
            await waiting
        return bus._call(device, function, args)

    # Cancelled here: nothing is owned.
    return await bus._with_key(device, timeout_ms, 0, run_awaited if bus._awaits else run, None, None)


def _call(bus, device, function, args):
    start = ticks_us()
    left = False
    locks, bus._locks = bus._locks, None
    try:
        result = function(*args)
    except Exception as error:
        bus._failed_outside(error, device)
        raise
    finally:
        bus._locks = locks  # a driver that has raised unlocks nothing
        left = bus._end_call(device)
        bus._note_block(device, start)  # last: it may fail for want of memory
    if is_awaitable(result):
        if hasattr(result, "close"):
            result.close()
        raise TypeError("%s: call() is for synchronous functions; use `async with device.hold()`" % bus.name)
    if left:
        raise TransferError(0, "%s: its chip select was left active; it is idle again" % device._label())
    return result


def _failed_outside(bus, error, device):
    """A driver that had the wire has raised. After an OSError what is on it is looked at before the next transfer."""
    if isinstance(error, OSError) and not isinstance(error, (BusError, DeadlineExceeded)):
        bus._fault(error, device)
        device._failed_setup()


def _configure_for_call(bus, device):
    """What a driver of the device finds set. None, or a coroutine on buses whose transfers are awaited."""


def _end_call(bus, device):
    """A driver's call is over: nothing of it is left on the wire. True if it left a chip select active."""


def _note_block(bus, device, start):
    """The longest time for which a synchronous call has stopped the loop, and whose it was."""
    ms = ticks_diff_us(ticks_us(), start) // 1000
    counts = bus._table._counts
    if ms > device._longest_ms:
        device._longest_ms = ms
    if ms > counts.get("longest_call_ms", 0):
        counts["longest_call_ms"] = ms
        counts["longest_call_key"] = device._label()


def _clean_now(bus):
    """Clean without waiting; False if that takes more."""
    bus._cleaned()
    return True


def _every_device(bus):
    return bus._devices.values()


def transaction(bus):
    """Operations to be run as one: queue them, then `await txn.execute()`."""
    return later.transaction.Transaction(bus)


def script(bus, *devices, readonly=False):
    """Decorator of a coroutine function whose body runs with the devices (none: the whole bus) held."""
    return later.transaction.script(bus, *devices, readonly=readonly)


async def aclose(bus, timeout_ms=None):
    """Wait for the holders, fail the waiters (BusClosed), and close what our factory made. The next use makes it
    anew. LockTimeout: still open."""
    await later.closing.aclose(bus, timeout_ms)


def reset(bus):
    """Forget every holder and waiter, at the REPL after Ctrl-C, without a loop. Their sessions are dead (NotHeld);
    the wire is cleaned and set-ups are run again before the next use."""
    later.closing.reset(bus)


def stats(bus):
    """A dict: that of the table, and the counters of the bus. print() shows it as a table."""
    return later.stats.bus_stats(bus)


def _look(bus):
    """At the first use in a loop, while closing, and each time with `debug`."""
    if bus._closing and bus._closing._loop is not loop_id():
        if later.strays.gone(bus._closing.maker):
            bus._closing = None  # it was closed in a loop that was replaced
    if bus._closing:
        raise BusClosed("%s is being closed; use it again when aclose() has returned" % bus.name)
    loop = loop_id()
    thread = thread_id()
    if bus._thread is not None and bus._thread != thread and (bus.debug or is_running(bus._loop)):
        raise RuntimeError(
            "%s belongs to the loop of another thread: ask that loop to do it (see examples/other_core.py)" % bus.name
        )
    bus._loop = loop
    bus._thread = thread


def _refuse_closed(bus):
    """An operation that had begun before a close does not open the bus again."""
    raise BusClosed("%s was closed while this task waited for it" % bus.name)


def _refuse_interrupt(bus):
    raise Reentry("%s: called from an interrupt while a transfer runs: let it wake a task instead" % bus.name)


async def _clean_first(bus, timeout_ms):
    """Clean before keys are taken and set-ups are looked at: a recovery makes those due."""
    hold = bus._wire_hold
    if hold is not None and hold._task is current_task():
        await bus._clean_within(timeout_ms)
        return
    start = ticks_ms()
    wire = bus._wire
    await wire.acquire(timeout_ms)  # cancelled here: nothing is owned
    try:
        if bus._dirty:
            await bus._clean_within(left_of(timeout_ms, start))  # cancelled here: still dirty
    finally:
        if bus._wire is wire and wire._holder is current_task():
            wire._pass_on()


async def _clean_within(bus, timeout_ms):
    """Clean, with the wire held. LockTimeout where that takes longer: then the next one goes on with it."""
    start = ticks_ms()
    while True:
        try:
            if timeout_ms is None or not bus._awaits:
                await bus._clean()  # cancelled here: still dirty
                return
            async with later.timeouts.deadline(left_of(timeout_ms, start)):
                await bus._clean()
                return
        except NativeLocked:
            await bus._outside(left_of(timeout_ms, start))
        except DeadlineExceeded:
            raise LockTimeout(
                "%s: what an exchange that failed has left is still being waited for after %d ms: pass a longer timeout_ms"
                % (bus.name, timeout_ms)
            )


def _soil(bus):
    """Something may be left on the wire: clean before the next transfer."""
    bus._dirty = True
    bus._raw = None


def _forget_wire_hold(bus):
    """Its holder is lost: what it left on the wire is ended, and cleaned before the next transfer."""
    hold = bus._wire_hold
    bus._wire_hold = bus._locks = None
    if hold is not None and hold._open is not None:
        bus._end_transfer(hold._open)
        hold._open = None
    bus._user = None
    bus._late = False
    bus._idle_now()
    if bus._backend is not None:
        bus._soil()


def _idle_now(bus):
    """Pins that select or enable something are driven idle, whoever has the bus; what fails is left to the cleaning."""


async def _clean(bus):
    bus._cleaned()


def _cleaned(bus):
    """Nothing is left on the wire."""
    bus._dirty = False
    bus._raw = bus._backend


def _refuse_wire_holder(bus, wanted):
    hold = bus._wire_hold
    if hold is not None and hold._task is current_task():
        raise Reentry(
            "%s: this task holds the wire of %s with %s; name both in one hold()" % (wanted, bus.name, hold._label())
        )


def _own_wire(bus, device):
    """The hold by which the running task has the wire; None; Reentry if that is not for `device`."""
    hold = bus._wire_hold
    if hold._task is not current_task():
        return None
    if hold._devices is not None and device._key not in [known._key for known in hold._devices]:
        bus._refuse_wire_holder(device._label())
    return hold


async def _keep_wire(bus, hold, timeout_ms):
    start = ticks_ms()
    bus._wire_hold = bus._wire_hold  # room for the attribute, before anything is taken
    await bus._wire.acquire(timeout_ms)  # cancelled here: nothing is owned
    bus._wire_hold = hold
    try:
        await bus._ready_wire(hold, left_of(timeout_ms, start))  # cancelled here: the wire is given back
    except BaseException:
        if bus._wire_hold is hold:  # else reset() has taken it away
            bus._leave_wire(hold)
        raise


async def _ready_wire(bus, hold, timeout_ms):
    """The wire was taken for `hold`: it is clean, nobody outside has it, and what `hold` needs is set."""
    start = ticks_ms()
    while True:
        if bus._dirty:
            await bus._clean_within(left_of(timeout_ms, start))
        try:
            bus._refuse_native()
            waiting = bus._configure_for(hold)
            if waiting is not None:
                await bus._awaited(waiting)
            return
        except NativeLocked:
            await bus._outside(left_of(timeout_ms, start))


def _refuse_native(bus):
    """NativeLocked if code outside has the lock of a back end that takes it for each transfer."""
    if hasattr(bus._backend, "free") and not bus._backend.free():
        raise NativeLocked()


async def _outside(bus, timeout_ms):
    """Code outside has the native lock: come back in a millisecond, or LockTimeout."""
    if timeout_ms == 0:
        raise LockTimeout(
            "%s: its own lock (try_lock) is taken by code outside buslock; a display that owns the bus? "
            "displayio.release_displays() frees it, or bus.reset() if an earlier program left it" % bus.name
        )
    epoch = bus._epoch
    await sleep_ms(1)  # cancelled here: the caller gives back what is held
    if bus._epoch is not epoch:
        raise NotHeld("%s was reset while this task waited for its own lock (try_lock)" % bus.name)


async def _awaited(bus, transfer):
    """Result of an awaited transfer, with the wire held. Only one at a time, also where tasks share what has the wire."""
    if bus._user is not None:
        transfer.close()
        raise Reentry(
            "%s: task '%s' is in the middle of a transfer with the same session: wait for it, or use a hold() without "
            "wire=True, whose transfers take turns" % (bus.name, task_name(bus._user))
        )
    bus._user = current_task()
    epoch = bus._epoch
    try:
        return await transfer  # cancelled here: the transfer leaves the wire idle, or dirty
    finally:
        if bus._epoch is epoch:
            bus._user = None
            if bus._late:
                bus._late = False
                bus._wire._pass_on()


def _configure_for(bus, hold):
    """The wire was taken for `hold`: what it needs is set. None, or a coroutine on buses whose transfers are awaited."""


def _wire_left(bus, hold):
    """The wire was held for a driver of its own, and is given back."""
    bus._channel = None  # it may have switched a multiplexer


def _forget(bus):
    """Closed."""


def _leave_wire(bus, hold):
    bus._wire_hold = None
    device = hold._open
    try:
        bus._locks = None
        if device is not None:
            hold._open = None
            bus._end_transfer(device)
        if hold.wire and hold._epoch is bus._epoch:
            bus._wire_left(hold)
    except BaseException:
        bus._soil()
        raise
    finally:
        if hold._epoch is bus._epoch:
            if bus._user is None:
                bus._wire._pass_on()
            else:  # another task's transfer runs with this hold's session: the wire is free when that has ended
                bus._wire._holder = bus._user
                bus._late = True


async def _again(bus, error, mine, timeout_ms, tries, function, a, b):
    """The transfer failed with the wire held: wait for the native lock, or try again, or raise."""
    start = ticks_ms()
    wire = bus._wire
    while True:
        if isinstance(error, NativeLocked):
            await bus._outside(left_of(timeout_ms, start))
        elif tries > 0 and isinstance(error, BusError) and not error.final and left_of(timeout_ms, start) != 0:
            tries -= 1
            bus._count("retries")
            if not mine:
                wire._pass_on()
            await sleep_ms(1)  # cancelled here: the caller gives back what is held
        else:
            raise error
        try:
            if not mine and wire._holder is not current_task():
                await wire.acquire(left_of(timeout_ms, start))  # cancelled here: the wire is somebody else's
            if bus._dirty:
                await bus._clean_within(left_of(timeout_ms, start))
            try:
                result = function(a, b)
            finally:
                bus._transfer = False
            return await bus._awaited(result) if bus._awaits else result
        except (NativeLocked, BusError) as failure:
            error = failure


def _count(bus, event):
    counts = bus._table._counts
    counts[event] = counts.get(event, 0) + 1
