"""The line of a UARTBus between exchanges: silence before a request, and what an exchange that failed has left."""

from ._rt import later, ticks_diff, ticks_ms
from .errors import BusError, DeadlineExceeded, TransferError

_QUIET_MS = 20  # a line is quiet when nothing has come for so long, or for two characters
_BOUND_MS = 1000  # a line that is never quiet is taken as it is after so long


def fault(bus, error, what):
    """The TransferError for an OSError of the port."""
    if isinstance(error, BusError):
        return error
    bus._count("errors")
    return TransferError(
        error.args[0] if error.args and isinstance(error.args[0], int) else 0, "%s: %s: %s" % (bus.name, what, error)
    )


def lower(bus):
    """The drive is released. The exception if that fails: then the line is not used until it is."""
    if bus._de is None:
        return None
    try:
        bus._de(1 - bus._de_active)
    except BaseException as error:
        bus._soil()
        if not isinstance(error, Exception):
            raise
        return fault(bus, error, "the drive-enable pin cannot be driven") if isinstance(error, OSError) else error
    return None


def quiet(bus, port):
    """An exchange failed: silence is waited for before the next one, if anything may still come."""
    if port.unquiet is not None and not port.dead:
        bus._soil()
        port.since = ticks_ms()


async def silence(bus, port):
    """Before a request: what came meanwhile belongs to no exchange; then gap_ms since the last byte, from whomever."""
    begun = ticks_ms()
    longest = max(bus._gap_ms, port.pause_ms)
    try:
        got = await port.drain()
    except OSError as error:
        raise fault(bus, error, "receiving failed")
    while True:
        if got:
            port.last = ticks_ms()
            bus._stray(got)
            wait = longest  # nobody knows when it came: perhaps its rest is still to come
        else:
            wait = 0 if port.last is None else bus._gap_ms - ticks_diff(ticks_ms(), port.last)
        if not 0 < wait <= longest or ticks_diff(ticks_ms(), begun) > _BOUND_MS + wait:
            return
        try:
            got = await port.receive(wait)  # cancelled here: nothing was sent
        except OSError as error:
            raise fault(bus, error, "receiving failed")
        if not got:
            return


def _stray(bus, got):
    """What belongs to no exchange."""
    bus._count("strays")
    if bus._unsolicited is not None:
        bus._unsolicited(bytes(got))


async def _clean(bus):
    """Called with the wire held, at first and after an exchange that failed: its reply may still come, and is thrown away.

    Waits until that exchange would have been answered, and when something has come until the line is quiet. Cancelled in
    here: still dirty, and the next one waits for what is left of that time.
    """
    port = bus._backend
    later.owners.own(bus, bus._owned)
    failed = lower(bus)
    if failed is not None:
        raise failed
    try:
        if port.sending:
            await port.sent()
            port.since = ticks_ms()
        if port.unquiet is not None:
            begun = ticks_ms()
            got = await port.drain()
            while True:
                if got:
                    port.last = port.since = ticks_ms()
                    port.unquiet = 0
                    bus._stray(got)
                wait = max(port.unquiet, bus._gap_ms, port.pause_ms, _QUIET_MS)
                left = wait - ticks_diff(ticks_ms(), port.since)
                if not 0 < left <= wait or ticks_diff(ticks_ms(), begun) > wait + _BOUND_MS:
                    break
                got = await port.receive(left)
            port.unquiet = None
    except OSError as error:
        raise fault(bus, error, "receiving failed")
    bus._dirty = False  # a port that died meanwhile has said so at its last step
    bus._raw = port


def _clean_now(bus):
    """What comes late cannot be waited for here; False."""
    port = bus._backend
    if port.unquiet is not None or port.sending or lower(bus) is not None:
        return False
    bus._dirty = False
    bus._raw = port
    return True


def _idle_now(bus):
    """The drive is released, when what is being sent is out; tasks in the middle of an exchange find that it is dead."""
    port = bus._backend
    if port is None:
        return
    if port.sending and bus._de is not None:
        try:
            port.finish()
        except Exception:
            pass
    lower(bus)
    bus._backend = port.again()


def _failed_outside(bus, error, node):
    """A driver that had the line has raised: the reply to what it wrote, or the rest of it, may still come."""
    port = bus._backend
    if isinstance(error, OSError) and not isinstance(error, (BusError, DeadlineExceeded)):
        bus._count("errors")
    if port.unquiet is None:
        port.unquiet = 0
    quiet(bus, port)


def _end_call(bus, node):
    """A driver had the line: it may have set another speed, and enabled the drive."""
    port = bus._backend
    lower(bus)
    port.last = ticks_ms()
    try:
        port.measure()
    except MemoryError:
        pass  # with the speed of before: a hold that ends raises nothing


def _wire_left(bus, hold):
    bus._end_call(None)


def _forget(bus):
    """Closed: the UART may have another bus object now."""
    later.owners.disown(bus)
    if bus._backend is not None:
        bus._soil()
