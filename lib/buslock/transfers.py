"""Transfers that are more than a call: awaited ones, and those that have to be made again."""

from ._rt import current_task, sleep_ms, task_name, ticks_ms
from .errors import BusError, LockTimeout, NotHeld, Reentry
from .holding import left_of
from .native import NativeLocked


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
                if bus._wire is not wire:
                    bus._refuse_closed()
            if bus._dirty:
                await bus._clean_within(left_of(timeout_ms, start))
            try:
                result = function(a, b)
            finally:
                bus._transfer = False
            return await bus._awaited(result) if bus._awaits else result
        except (NativeLocked, BusError) as failure:
            error = failure


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
