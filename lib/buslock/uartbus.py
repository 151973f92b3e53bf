"""The methods of UARTBus, loaded on first use: what it consists of, sending and receiving."""

from ._rt import later, ticks_ms
from .errors import NoReply, NotCovered, TransferError
from .uart import UARTNode
from .uartlines import fault, lower, quiet, silence
from .waitqueue import check_ms

METHODS = (
    "uartbus _set _wrap _recorded _check_address _device_of _session_of _show _expect _check_request _exchange "
    "_send _receive ,"
    "uartlines _clean _clean_now _idle_now _failed_outside _end_call _wire_left _forget _stray "
)

_ECHO_MS = 100  # silence after which an echo is not to be expected any more


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
        later.waitmore  # noqa: B018  loaded now: whoever waits first would load it while the drive is to be released
        bus._de = later.chipselect.chip_select(de, de_active)[2]
    bus._echo = echo
    bus._gap_ms = check_ms(gap_ms)
    bus._max_reply = max_reply
    bus._unsolicited = unsolicited


def _wrap(bus, uart):
    made = later.uartports.port(bus, uart)
    later.owners.own(bus, uart[1] if isinstance(uart, (list, tuple)) else uart)
    made.name = bus.name
    made.last = made.unquiet = None  # room for the attributes: after a failure there may be none left
    made.since = 0
    made.exact = bus._de is not None
    bus._soil()  # first the drive is released; found now: after a failure there may be no memory for that
    return made


def _recorded(bus, port):
    """The peripheral of a bus with a trace."""
    return later.traceduart.recorded(bus, port)


def _check_address(bus, address):
    if not isinstance(address, (int, str)):
        raise TypeError("%s: a node's address is an int or a string, not %r" % (bus.name, address))


def _device_of(bus, device):
    if isinstance(device, UARTNode):
        if device._bus is not bus:
            raise NotCovered("%s is on another bus than %s" % (device._label(), bus.name))
        return device
    return bus.device(device)


def _session_of(bus, node, hold):
    return later.uartsession.UARTSession(node, hold)


def _show(bus, key):
    return "node %s" % key


def _expect(bus, nbytes, until, frame, reply_ms):
    """(frame function, reply_ms), checked."""
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


# With the line held. In each, what is left when it fails or is cancelled is said by `port.unquiet`, and cleaned away
# before the next one.


async def _exchange(bus, request, expect):
    port = bus._backend
    reply_ms = expect[1]
    await silence(bus, port)  # cancelled here: nothing was sent
    try:
        # Cancelled here: the reply may still come.
        late_ms = 1000 if reply_ms is None else reply_ms
        # Without a drive or an echo it listens while it sends: a wait for the last bit would only make it slow.
        await transmit(bus, port, request, late_ms, bus._echo or bus._de is not None)
        return await collect(bus, port, expect)
    except BaseException:
        quiet(bus, port)
        raise


async def _send(bus, buf, _):
    port = bus._backend
    await silence(bus, port)  # cancelled here: nothing was sent
    try:
        await transmit(bus, port, buf, 0, True)
        port.unquiet = None
    except BaseException:
        quiet(bus, port)
        raise


async def _receive(bus, _, expect):
    port = bus._backend
    try:
        return await collect(bus, port, expect)  # cancelled here: the rest of what has begun may still come
    except BaseException:
        quiet(bus, port)
        raise


async def transmit(bus, port, buf, late_ms, wait):
    """Send with the drive enabled, with `wait` until the last bit is out. A reply may come for `late_ms` from then on."""
    try:
        if bus._de is not None:
            bus._de(bus._de_active)
        port.unquiet = late_ms
        heard = await port.send(buf, bus._echo, wait)  # cancelled here: cut short, and the drive is released below
    except BaseException as error:
        if bus._de is not None and not port.dead:
            try:
                port.finish()  # without an await: the bits that are under way go out with the drive enabled
            finally:
                lower(bus)
        if isinstance(error, OSError):
            raise fault(bus, error, "sending failed")
        raise
    failed = lower(bus)
    port.last = ticks_ms()
    if failed is not None:
        raise failed
    if heard is not None:
        await check_echo(bus, port, bytes(buf), heard)


async def check_echo(bus, port, sent, heard):
    """What was sent comes back on a single wire: so many bytes, and the same."""
    while len(heard) < len(sent):
        got = await listen(bus, port, _ECHO_MS)  # cancelled here: the rest of the echo, and a reply, may still come
        if not got:
            break
        port.last = ticks_ms()
        heard.extend(got)
    port.put_back(heard[len(sent) :])
    if heard[: len(sent)] != sent:
        bus._count("errors")
        raise TransferError(
            0,
            "%s: the echo of %d bytes differs from what was sent, or is cut: somebody else talks, or the wiring is wrong"
            % (bus.name, len(sent)),
        )


async def listen(bus, port, ms):
    try:
        return await port.receive(ms)
    except OSError as error:
        raise fault(bus, error, "receiving failed")


async def collect(bus, port, expect):
    """The bytes of one reply."""
    complete, reply_ms = expect
    buf = bytearray()
    while True:
        # The silence counts from the last bit that was sent.
        got = await listen(bus, port, None if reply_ms is None else reply_ms + int(port.left_ms()))
        port.sending = False
        if not got:
            bus._count("silences")
            raise NoReply(
                110,
                "%s: silence for %d ms after %d bytes: is the node there, powered, and its address and speed right?"
                % (bus.name, reply_ms, len(buf)),
            )
        port.last = ticks_ms()
        port.unquiet = 0  # something has come: nothing later than that, but its rest
        for i in range(len(got)):
            buf.append(got[i])
            try:
                state = complete(buf)
            except BaseException:
                port.put_back(got[i + 1 :])
                raise
            if state or state is False or len(buf) >= bus._max_reply:
                port.put_back(got[i + 1 :])
                if state:
                    port.unquiet = None
                    return bytes(buf)
                bus._count("errors")
                raise TransferError(
                    0,
                    "%s: an invalid reply: %s%s"
                    % (
                        bus.name,
                        bytes(buf[:16]),
                        "" if state is False else "; longer than max_reply=%d" % bus._max_reply,
                    ),
                )
