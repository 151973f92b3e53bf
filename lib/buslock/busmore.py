"""The methods of Bus that are not needed at once; the class loads them on first use.

METHODS is their directory, see rare.py. What most programs need is here.
"""

from ._rt import current_task, is_running, later, loop_id, thread_id
from .errors import BusClosed, Reentry

METHODS = (
    "busmore hold hold_all _look _refuse_wire_holder _own_wire _refuse_closed _refuse_interrupt _count _soil _cleaned "
    "_idle_now _forget _every_device ,"
    "closing aclose reset ,"
    "transaction transaction script ,"
    "stats stats ,"
    "buscalls call _call _configure_for_call _note_block ,"
    "buswire _keep_wire _ready_wire _leave_wire _forget_wire_hold _refuse_native _configure_for _failed_outside ,"
    "cleaning _clean_first _clean_within ,"
    "transfers _awaited _again _outside ,"
    "making _make _make_now _new_lazy "
)


def hold(bus, *devices, timeout_ms=None, wire=False):
    """`async with bus.hold(a, b) as regs`: several devices (or addresses) at once, `regs.read_register(a, ...)`."""
    if not devices:
        raise ValueError("%s: hold() needs a device; the whole bus is hold_all()" % bus.name)
    return later.groups.GroupHold(bus, [bus._device_of(device) for device in devices], timeout_ms, wire)


def hold_all(bus, timeout_ms=None):
    """The whole bus: waits for every holder, and nobody else gets in."""
    return later.groups.GroupHold(bus, None, timeout_ms, False)


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


def _refuse_closed(bus):
    """An operation that had begun before a close does not open the bus again; after a reset the wire is another one."""
    raise BusClosed("%s was closed, or reset, while this task waited for it" % bus.name)


def _refuse_interrupt(bus):
    raise Reentry("%s: called from an interrupt while a transfer runs: let it wake a task instead" % bus.name)


def _count(bus, event):
    counts = bus._table._counts
    counts[event] = counts.get(event, 0) + 1


def _soil(bus):
    """Something may be left on the wire: clean before the next transfer."""
    bus._dirty = True
    bus._raw = None


def _cleaned(bus):
    """Nothing is left on the wire."""
    bus._dirty = False
    bus._raw = bus._backend


def _idle_now(bus):
    """Pins that select or enable something are driven idle, whoever has the bus; what fails is left to the cleaning."""


def _forget(bus):
    """Closed."""


def _every_device(bus):
    return bus._devices.values()
