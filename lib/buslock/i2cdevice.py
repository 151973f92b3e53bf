"""An I2C device that is declared: with a set-up, wide registers, retries, aliases or chunks."""

from ._rt import later
from .errors import BusError


def _declare(device, asked):
    """The arguments of bus.device()."""
    if device._explicit:
        raise ValueError(
            "%s is declared already with other arguments; declare it once and share the object" % device._label()
        )
    setup, addrsize, retries, aliases, chunk = asked
    if addrsize not in (8, 16, 24, 32):
        raise ValueError("%s: addrsize is 8, 16, 24 or 32 bits, not %r" % (device._label(), addrsize))
    if setup is not None and not callable(setup):
        raise TypeError("%s: setup is a coroutine function of the session" % device._label())
    if type(retries) is not int or retries < 0:
        raise ValueError("%s: retries is an int from 0, not %r" % (device._label(), retries))
    if chunk is not None and (type(chunk) is not int or chunk < 1):
        raise ValueError("%s: chunk is None or an int from 1, not %r" % (device._label(), chunk))
    if aliases:
        device._bus._check_aliases(device, aliases)
    device._declared = asked
    device._setup = setup
    device._ready = setup is None
    device._addrsize = addrsize
    device._last_register = (1 << addrsize) - 1
    device._beyond = ~device._last_register
    device._retries = retries
    device._chunk = chunk
    if aliases:
        device._bus._take_aliases(device, aliases)
    if chunk is not None:
        later.chunks.chunked(device)
    device._plan()


def _plan(device):
    """Whether its operations may take the fast way."""
    device._plain = device._ready and device._retries == 0 and device._chunk is None and device._key != 0


async def _retrying(device, timeout_ms, tries, function, a, b):
    try:
        return await device._bus._with_key(device, timeout_ms, tries, function, a, b)
    except BusError:
        device._failed_setup()
        raise


def _home(device):
    """The bus or the channel it is on."""
    return device._bus
