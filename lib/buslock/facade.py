"""Look-alikes of the ports' peripherals, for drivers that know nothing of this package: what they have in common.

A call goes through when the running task holds the device (or the whole bus), with the wire its own or free. Without a
hold a single call goes through when nobody has or wants the device, because drivers talk in their constructors. In
every other case it raises NotCovered at once: it never waits, never spins, never gets into somebody's hold.
"""

from ._rt import current_task, ended, loop_id, task_name, ticks_us
from .errors import BusStuck, NotCovered, NotHeld, Reentry
from .native import NativeLocked


class LookAlike:
    """Decides who may use the bus now, and makes its transfers."""

    _dev = None  # the device of an object that has but one

    def __init__(self, bus):
        self._bus = bus

    def deinit(self):
        """Nothing: the bus is shared, and ends with bus.aclose()."""

    def _enter(self, device):
        """The task's BusHold of the device, or None; NotCovered if the transfer may not be made now."""
        bus = self._bus
        label = device._label()
        task = self._check_wire(label)
        table = bus._table
        own = table._hold_of(task, device._key)
        if own is None and (table._all is not None or table._shut or device._key in table._entries):
            raise NotCovered(
                "%s is in use by %s: take it with `async with bus.hold(...)` or `await bus.call(...)` first"
                % (label, _names(table, device._key))
            )
        device._permit()
        self._prepare(label, own is not None)
        return getattr(own, "_owner", None)

    def _check_wire(self, label):
        """The running task; NotCovered if another one has the wire, Reentry in an interrupt."""
        bus = self._bus
        if bus._loop is not loop_id() and not bus._closing:
            bus._look()  # RuntimeError in a thread that is not the bus's own
        if bus._transfer:
            raise Reentry("%s: called from an interrupt while a transfer runs; ask a task to do it" % label)
        task = current_task()
        wire = bus._wire
        if wire._busy() and wire._holder is not task:
            raise NotCovered(
                "%s: task '%s' has the wire of %s: take the device with a hold or bus.call() first"
                % (label, task_name(wire._holder), bus.name)
            )
        return task

    def _prepare(self, label, held):
        """The peripheral is there, and clean. While the bus is closed only who has a hold comes so far."""
        bus = self._bus
        if bus._backend is None:
            bus._make_now()
        if bus._dirty and not bus._clean_now():
            text = "%s: not clean after an error: `await bus.call(...)` or the next hold of the wire cleans it" % label
            raise BusStuck(5, text) if held else NotCovered(text)

    def _transfer(self, device, function, *args):
        """function(...) as one transfer."""
        bus = self._bus
        start = ticks_us()
        bus._transfer = True
        try:
            return function(*args)
        except NativeLocked:
            raise NotCovered("%s: code outside has the native lock (try_lock) of %s" % (device._label(), bus.name))
        except OSError as error:
            bus._failed_outside(error, device)
            raise
        finally:
            bus._transfer = False
            bus._note_block(device, start)


# What busio's objects have besides, to be made methods of their look-alikes.


def enter(look):
    return look


def leave(look, exc_type, exc, tb):
    look.deinit()


def lock_now(look):
    """True if this task has the wire, or has it from now until unlock(). NotCovered instead of False: the driver
    would ask again and again, and the task that has it could never go on.

    A driver that is made between try_lock() and unlock() locks too, so they are counted."""
    bus = look._bus
    task = look._check_wire(bus.name)
    table = bus._table
    if table._all is not None and table._all._task is not task:
        raise NotCovered(
            "%s: task '%s' holds all of it: take the device with a hold or bus.call() first"
            % (bus.name, task_name(table._all._task))
        )
    if bus._wire._holder is None:
        # All that needs memory comes first: a wire that is taken and not told of is given back by nobody.
        bus._keep_wire  # noqa: B018  with it, what gives it back is found
        hold = getattr(table._any_hold_of(task), "_owner", None)
        locks = [0, True]
        bus._locks = bus._wire_hold = None
        bus._wire.try_acquire()
        if hold is not None:
            hold.wire = True  # its end gives it back if the driver does not, having raised
        bus._wire_hold = hold
        bus._locks = locks
    locks = bus._locks
    if locks is None:
        bus._locks = locks = [0, False]  # the wire is a hold's, or that of bus.call(), which keep it
    locks[0] += 1
    return True


def unlock_now(look):
    """End what try_lock() took. NotHeld without it; a lock whose task has ended anyone may end."""
    bus = look._bus
    holder = bus._wire._holder
    locks = bus._locks
    if holder is None or locks is None or holder is not current_task() and not ended(holder):
        raise NotHeld("%s: unlock() without try_lock()" % bus.name)
    locks[0] -= 1
    if locks[0]:
        return
    bus._locks = None
    if locks[1]:
        _give_back(look)


def _give_back(look):
    """The wire that try_lock() took, idle."""
    bus = look._bus
    hold = bus._wire_hold
    if hold is not None:
        bus._leave_wire(hold)
        hold.wire = False
        return
    try:
        bus._end_call(look._dev)
    finally:
        bus._wire._pass_on()


def _names(table, key):
    """Who holds the key, for messages."""
    entry = table._all or table._entries.get(key)
    if entry is None:
        return "others who wait for all of it"
    holds = getattr(entry, "holds", None) or [entry]
    return " and ".join(["task '%s'" % task_name(hold._task) for hold in holds])


def part(buffer, start, end):
    """buffer[start:end] without copying it; all of it as it is."""
    if start == 0 and (end is None or end >= len(buffer)):
        return buffer
    return memoryview(buffer)[start : len(buffer) if end is None else end]
