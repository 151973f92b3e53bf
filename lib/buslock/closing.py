"""The end of a bus: closing it, and starting again at the REPL."""

from ._rt import current_task, ticks_ms, wake
from .errors import BusClosed
from .refusals import reentry
from .table import Entry
from .waitqueue import check_ms, left_of


def fail_all(table, wire, error):
    """Every waiter of a bus raises a fresh exception like `error`; the holders stay."""
    queues = [wire] + [entry for entry in table._entries.values() if isinstance(entry, Entry)]
    if table._gate is not None:
        queues.append(table._gate)
    for queue in queues:
        while queue._line:
            waiter = queue._line.pop(0)
            waiter.error = error
            wake(waiter)
        queue._advance()


async def aclose(bus, timeout_ms):
    check_ms(timeout_ms)
    bus._look()
    mine = bus._table._any_hold_of(current_task())
    if mine is not None:
        raise reentry("closing of " + bus.name, mine._label())
    start = ticks_ms()
    bus._closing = True
    bus._raw = None
    fail_all(bus._table, bus._wire, BusClosed("%s was closed while this task waited for it" % bus.name))
    try:
        # Cancelled in here: what is not closed yet stays open.
        async with bus._table.hold_all(timeout_ms):
            async with bus._wire.hold(left_of(timeout_ms, start)):
                if bus._factory is not None:
                    bus._backend = None
                    if bus._lazy is not None:
                        await bus._lazy.aclose(left_of(timeout_ms, start))
                    bus._forget()
                for device in bus._devices.values():
                    device._due()
    finally:
        bus._closing = False


def reset(bus):
    table, wire = bus._table, bus._wire
    bus._renew()
    bus._wire_hold = None
    bus._table._counts = table._counts
    for _ in table._holds():
        bus._count("stale")
    fail_all(table, wire, BusClosed("%s was reset" % bus.name))
    bus._closing = False
    if bus._backend is not None:
        bus._soil()
    for device in bus._devices.values():
        device._due()
