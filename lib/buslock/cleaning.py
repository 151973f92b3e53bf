"""What an earlier transfer has left on a bus is cleaned away before the next one."""

from ._rt import current_task, later, ticks_ms
from .errors import DeadlineExceeded, LockTimeout
from .holding import left_of
from .native import NativeLocked


async def _clean_first(bus, timeout_ms):
    """Clean before keys are taken and set-ups are looked at: a recovery makes those due."""
    hold = bus._wire_hold
    if hold is not None and hold._task is current_task():
        await bus._clean_within(timeout_ms)
        return
    start = ticks_ms()
    wire = bus._wire
    await wire.acquire(timeout_ms)  # cancelled here: nothing is owned
    if bus._wire is not wire:
        bus._refuse_closed()
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
