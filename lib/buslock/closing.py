"""The end of a bus: closing it, and starting again at the REPL."""

from ._rt import current_task, loop_id, ticks_ms, wake
from .errors import BusClosed
from .holding import left_of
from .lazymore import Line
from .refusals import reentry
from .strays import purge
from .table import Entry
from .waitqueue import check_ms, wait


def fail_all(table, wire, error):
    """Every waiter of a bus raises a fresh exception like `error`; the holders stay."""
    queues = [wire] + [entry for entry in table._entries.values() if isinstance(entry, Entry)]
    if table._gate is not None:
        queues.append(table._gate)
    for queue in queues:
        if queue._loop is not loop_id():
            purge(queue)
        while queue._line:
            waiter = queue._line[0]
            waiter.error = error  # first: there may be no room for it
            queue._line.pop(0)
            wake(waiter, queue._loop)
        queue._advance()


async def aclose(bus, timeout_ms=None):
    """Wait for the holders, fail the waiters (BusClosed), and close what our factory made. The next use makes it
    anew. LockTimeout: still open."""
    check_ms(timeout_ms)
    start = ticks_ms()
    task = current_task()
    while bus._closing:
        if bus._closing.maker is task:
            raise reentry("closing of " + bus.name)
        await wait(bus._closing, None, task, left_of(timeout_ms, start))  # cancelled here: the other one goes on
    mine = bus._table._any_hold_of(task)
    if mine is not None:
        raise reentry("closing of " + bus.name, mine._label())
    bus._look()
    bus._closing = closers = Line("closing of " + bus.name)
    try:
        closers.maker = task
        bus._raw = None
        bus._closes += 1
        error = BusClosed("%s was closed while this task waited for it" % bus.name)
        fail_all(bus._table, bus._wire, error)
        for device in bus._every_device():
            if device._starter is not None and device._starter._line is not None:
                device._starter._line._release_all(error)  # those who wait for its set-up
        # Cancelled in here: what is not closed yet stays open.
        async with bus._table.hold_all(left_of(timeout_ms, start)):
            async with bus._wire.hold(left_of(timeout_ms, start)):
                if bus._closing is not closers:
                    bus._refuse_closed()  # it was reset in the step of the hand-over
                bus._channel = None
                bus._raw = None
                if bus._factory is not None:
                    bus._backend = bus._raw = None  # a cleaning that was waited for has set it again
                    if bus._lazy is not None:
                        await bus._lazy.aclose(left_of(timeout_ms, start))
                bus._forget()
                for device in bus._every_device():
                    device._due()
    finally:
        bus._closing = None
        closers._release_all(None)


def reset(bus):
    """Forget every holder and waiter, at the REPL after Ctrl-C, without a loop. Their sessions are dead (NotHeld);
    the wire is cleaned and set-ups are run again before the next use."""
    table, wire = bus._table, bus._wire
    bus._renew()
    bus._forget_wire_hold()
    bus._table._counts = table._counts
    bus._wire._counts = wire._counts
    for _ in table._holds():
        bus._count("stale")
    fail_all(table, wire, BusClosed("%s was reset" % bus.name))
    closers, bus._closing = bus._closing, None
    if closers and closers._loop is loop_id():
        closers._release_all(None)
    bus._channel = None
    bus._transfer = False
    if hasattr(bus._backend, "take_over"):
        bus._backend.take_over()
    elif bus._backend is None:
        bus._take_over = True  # of what the factory will give: board.I2C() may be locked since an earlier program
    for device in bus._every_device():
        device._setting_up = device._setup_session = None  # its session is dead with the others
        device._due()
