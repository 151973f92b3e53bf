"""A synchronous driver's call, with the key of its device and the wire."""

from ._rt import is_awaitable, ticks_diff_us, ticks_us
from .errors import TransferError

WITH = {"call": ("_soil", "_end_call", "_note_block", "_failed_outside")}


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


def _configure_for_call(bus, device):
    """What a driver of the device finds set. None, or a coroutine on buses whose transfers are awaited."""


def _note_block(bus, device, start):
    """The longest time for which a synchronous call has stopped the loop, and whose it was."""
    ms = ticks_diff_us(ticks_us(), start) // 1000
    counts = bus._table._counts
    if ms > device._longest_ms:
        device._longest_ms = ms
    if ms > counts.get("longest_call_ms", 0):
        counts["longest_call_ms"] = ms
        counts["longest_call_key"] = device._label()
