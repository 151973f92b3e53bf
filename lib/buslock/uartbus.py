"""The methods of UARTBus, loaded on first use: sending, receiving, and what is left when that fails."""

from ._rt import sleep_ms, ticks_diff, ticks_ms
from .errors import NoReply, NotCovered, TransferError
from .holds import over
from .uart import UARTNode, UARTSession
from .waitqueue import check_ms

METHODS = (
    "_set",
    "_wrap",
    "_device_of",
    "_session_of",
    "_show",
    "_expect",
    "_check_request",
    "_run_session",
    "_exchange",
    "_send",
    "_receive",
    "_collect",
    "_stray",
    "_clean",
    "_clean_now",
)

_QUIET_MS = 20  # a line is quiet when nothing has come for so long: at 1200 baud, two characters


def _set(bus, de, de_active, echo, gap_ms, max_reply, unsolicited):
    if gap_ms is None or type(max_reply) is not int or max_reply < 1:
        raise ValueError("%s: gap_ms is an int in ms, max_reply a number of bytes from 1" % bus.name)
    if unsolicited is not None and not callable(unsolicited):
        raise TypeError("%s: unsolicited is a function of bytes" % bus.name)
    if de_active not in (0, 1):
        raise ValueError("%s: de_active is 0 or 1, not %r" % (bus.name, de_active))
    bus._de = None
    bus._de_active = de_active
    if de is not None:
        from .chipselect import chip_select

        bus._de = chip_select(de, de_active)[2]
    bus._echo = echo
    bus._gap_ms = check_ms(gap_ms)
    bus._max_reply = max_reply
    bus._unsolicited = unsolicited
    bus._last = None  # ticks of the last byte on the line


def _wrap(bus, uart):
    from .uartports import port

    return port(bus.name, uart)


def _device_of(bus, device):
    if isinstance(device, UARTNode):
        if device._bus is not bus:
            raise NotCovered("%s is on another bus than %s" % (device._label(), bus.name))
        return device
    return bus.device(device)


def _session_of(bus, node, hold):
    return UARTSession(node, hold)


def _show(bus, key):
    return "node %s" % key


async def _run_session(bus, session, timeout_ms, function, a, b):
    check_ms(timeout_ms)
    hold = session._hold
    if not hold.held:
        raise over(hold)
    if bus._wire_hold is not None and bus._wire_hold is not hold:
        bus._refuse_wire_holder(session._node._label())
    # Cancelled here: the line is free, and dirty if something was under way; the key is the hold's.
    return await bus._on_wire(hold, timeout_ms, 0, function, a, b)


def _expect(bus, nbytes, until, frame, reply_ms):
    """(how, what, reply_ms), checked."""
    given = [x for x in (nbytes, until, frame) if x is not None]
    if len(given) != 1:
        raise ValueError("%s: one of nbytes=, until= and frame= says where the reply ends" % bus.name)
    check_ms(reply_ms)
    if nbytes is not None:
        if type(nbytes) is not int or not 1 <= nbytes <= bus._max_reply:
            raise ValueError("%s: nbytes is 1 to max_reply=%d, not %r" % (bus.name, bus._max_reply, nbytes))
        return lambda buf: len(buf) >= nbytes or None, reply_ms
    if until is not None:
        if not isinstance(until, (bytes, bytearray)) or not until:
            raise ValueError("%s: until is the bytes at the end of a reply, not %r" % (bus.name, until))
        return lambda buf: buf.endswith(until) or None, reply_ms
    if not callable(frame):
        raise TypeError("%s: frame is a function of the bytes so far" % bus.name)
    return frame, reply_ms


def _check_request(bus, request):
    if isinstance(request, (str, int)) or request is None:
        raise TypeError("%s: what is sent is a buffer such as bytes, not %r" % (bus.name, request))
    if not len(request):
        raise ValueError("%s: there is nothing to send" % bus.name)


async def _exchange(bus, request, expect):
    """Run with the wire held."""
    _, reply_ms = expect
    bus._reply_ms = 0 if reply_ms is None else reply_ms
    try:
        await bus._send(request, None)
        return await bus._collect(expect)
    except BaseException:
        # The reply may still come: it is waited for, and thrown away, before the next request.
        bus._soil()
        raise


async def _receive(bus, _, expect):
    return await bus._collect(expect)


async def _send(bus, buf, _):
    """Send with the drive enabled, and return when the last bit is out. The line is quiet before."""
    port = bus._backend
    if bus._last is not None and bus._gap_ms:
        left = bus._gap_ms - ticks_diff(ticks_ms(), bus._last)
        if 0 < left <= bus._gap_ms:
            await sleep_ms(left)  # cancelled here: nothing was sent
    bus._stray(await port.drain())  # cancelled here: nothing was sent
    de = bus._de
    begun = False
    try:
        if de is not None:
            de(bus._de_active)
        begun = True
        await port.send(buf)  # cancelled here: cut short, and the drive is released below
        begun = False
    except OSError as error:
        bus._count("errors")
        bus._soil()
        raise TransferError(error.args[0] if error.args else 0, "%s: sending failed: %s" % (bus.name, error))
    except BaseException:
        bus._soil()
        raise
    finally:
        if de is not None:
            try:
                if begun:
                    port.finish()  # without an await: the bits that are under way go out with the drive enabled
            finally:
                try:
                    de(1 - bus._de_active)
                except BaseException:
                    bus._soil()
                    raise
    bus._last = ticks_ms()
    if bus._echo:
        sent = bytes(buf)
        heard = await bus._collect((lambda got: len(got) >= len(sent) or None, 100), len(sent))
        if heard != sent:
            bus._soil()
            bus._count("errors")
            raise TransferError(
                0, "%s: the echo differs from what was sent: somebody else talks, or the wiring is wrong" % bus.name
            )


async def _collect(bus, expect, limit=None):
    """The bytes of one reply."""
    complete, reply_ms = expect
    port = bus._backend
    limit = bus._max_reply if limit is None else limit
    buf = bytearray()
    while True:
        try:
            # One byte at a time where more would reach into what comes after the reply.
            got = await port.receive(reply_ms)  # cancelled here: the caller marks the line
        except OSError as error:
            bus._count("errors")
            bus._soil()
            raise TransferError(error.args[0] if error.args else 0, "%s: receiving failed: %s" % (bus.name, error))
        if not got:
            bus._count("silences")
            raise NoReply(
                110,
                "%s: silence for %d ms after %d bytes: is the node there, powered, and its address and speed right?"
                % (bus.name, reply_ms, len(buf)),
            )
        bus._last = ticks_ms()
        for i, byte in enumerate(got):
            buf.append(byte)
            state = complete(buf)
            if state:
                port.put_back(got[i + 1 :])
                return bytes(buf)
            if state is False or len(buf) >= limit:
                bus._count("errors")
                bus._soil()
                raise TransferError(
                    0,
                    "%s: an invalid reply: %s%s"
                    % (bus.name, bytes(buf[:16]), "" if state is False else "; longer than max_reply=%d" % limit),
                )


def _stray(bus, got):
    """What belongs to no exchange."""
    if got:
        bus._count("strays")
        if bus._unsolicited is not None:
            bus._unsolicited(got)


def _clean_now(bus):
    """What comes late cannot be waited for here."""
    return False


async def _clean(bus):
    """Called with the wire held after an exchange that failed: its reply may still come, and is thrown away.

    Waits as long as that exchange would have waited, but when something has come only until the line is quiet.
    Bounded: a line that never is quiet is taken as it is.
    """
    port = bus._backend
    wait_ms = max(bus._reply_ms, _QUIET_MS)
    start = ticks_ms()
    bound = wait_ms + 1000
    while ticks_diff(ticks_ms(), start) < bound:
        got = await port.receive(wait_ms)  # cancelled here: still dirty
        if not got:
            break
        bus._stray(got)
        wait_ms = max(bus._gap_ms, _QUIET_MS)
    if bus._de is not None:
        bus._de(1 - bus._de_active)
    bus._dirty = False
    bus._raw = bus._backend
