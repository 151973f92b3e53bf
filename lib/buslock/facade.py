"""Look-alikes of the ports' peripherals, for drivers that know nothing of this package: what they have in common.

A call goes through when the running task holds the device (or the whole bus), with the wire its own or free. Without a
hold a single call goes through when nobody has or wants the device, because drivers talk in their constructors. In
every other case it raises NotCovered at once: it never waits, never spins, never gets into somebody's hold.
"""

from ._rt import current_task, task_name, ticks_us
from .errors import BusStuck, NotCovered, NotHeld, Reentry
from .native import NativeLocked


class LookAlike:
    """Decides who may use the bus now, and makes its transfers."""

    def __init__(self, bus):
        self._bus = bus
        self._locked_by = None  # the task that took the wire by try_lock()

    def __enter__(self):
        return self

    def __exit__(self, exc_type, exc, tb):
        self.deinit()

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
        self._prepare(label)
        return getattr(own, "_owner", None)

    def _check_wire(self, label):
        """The running task; NotCovered if another one has the wire, Reentry in an interrupt."""
        bus = self._bus
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

    def _prepare(self, label):
        """The peripheral is there, and clean."""
        bus = self._bus
        if bus._closing:
            raise NotCovered("%s is being closed" % bus.name)
        if bus._backend is None:
            bus._make_now()
        if bus._dirty and not bus._clean_now():
            raise BusStuck(5, "%s: not clean after an error: `await %s.recover()` first" % (label, bus.name))

    def _transfer(self, device, function, *args):
        """function(peripheral, ...) as one transfer."""
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

    def try_lock(self):
        """True if this task has the wire, or has it from now until unlock(). NotCovered instead of False: the driver
        would ask again and again, and the task that has it could never go on."""
        bus = self._bus
        task = self._check_wire(bus.name)
        everything = bus._table._all
        if everything is not None and everything._task is not task:
            raise NotCovered(
                "%s: task '%s' holds all of it: take the device with a hold or bus.call() first"
                % (bus.name, task_name(everything._task))
            )
        if bus._wire._holder is None:
            bus._wire.try_acquire()
            self._locked_by = task
        return True

    def unlock(self):
        """End what try_lock() took. NotHeld if the task has no wire."""
        wire = self._bus._wire
        if wire._holder is None or wire._holder is not current_task():
            raise NotHeld("%s: unlock() without try_lock()" % self._bus.name)
        if self._locked_by is wire._holder:
            self._locked_by = None
            wire._pass_on()


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
