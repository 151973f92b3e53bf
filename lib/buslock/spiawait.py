"""SPI peripherals whose transfers are coroutines: the same sections, with awaits in them.

The seam is `awaitable = True` on the peripheral, whose write, readinto and write_readinto then return awaitables; init()
may return one. An awaited `take()` and a `give()` are called around a section where it has them.
"""

from ._rt import is_awaitable, later
from .errors import NotHeld
from .native import NativeLocked
from .spi import _write, _write_readinto
from .spiconfig import initialise
from .spimore import _read, _readinto, _write_then_read


async def _write_bufs(spi, bufs, _):
    for buf in bufs:
        await spi.write(buf)


async def _exchange(spi, out, into):
    await spi.write_readinto(out, into)


async def _fill(spi, buf, write):
    await spi.readinto(buf, write)


async def _fetch(spi, nbytes, write):
    buf = bytearray(nbytes)
    await spi.readinto(buf, write)
    return bytes(buf)


async def _send_then_fetch(spi, out, nbytes):
    await spi.write(out)
    return await _fetch(spi, nbytes, 0)


_AWAITED = {
    _write: _write_bufs,
    _write_readinto: _exchange,
    _readinto: _fill,
    _read: _fetch,
    _write_then_read: _send_then_fetch,
}


def section(device):
    """A `_section` for it; SPIBus awaits it with the wire held."""

    async def run(function, a, b):
        return await _guarded(device, _section, function, a, b)

    return run


async def _guarded(device, function, *args):
    """function(device, *args) with the peripheral's lock and the device's configuration.

    Cancelled in here: CS goes idle where it is active, without an await; what the peripheral does is not known, so: dirty.
    """
    bus = device._bus
    spi = bus._backend
    epoch = bus._epoch
    taken = False
    try:
        if hasattr(spi, "take") and await spi.take():
            taken = True
            bus._config = None
        if function is not _bare and bus._config != device._config:
            await _configure(device)
        return await function(device, *args)
    except OSError as error:
        raise bus._fault(error, device)
    except (NativeLocked, NotHeld):
        raise
    except BaseException:
        bus._soil()
        raise
    finally:
        if taken and bus._epoch is epoch:
            spi.give()


async def _configure(device):
    bus = device._bus
    spi = bus._backend
    config = device._config
    bus._config = None  # until it is done, nothing is known
    result = initialise(bus, spi, config)
    if is_awaitable(result):
        await result
    bus._config = config


async def _section(device, function, a, b):
    bus = device._bus
    epoch = bus._epoch
    await _activate(device)
    try:
        result = await _AWAITED[function](bus._backend, a, b)
    except BaseException:
        if bus._epoch is epoch:  # else reset() has driven it idle, and it is somebody else's
            deactivate(device, True)
        raise
    _check(device, epoch)
    deactivate(device, False)
    if device._owes:
        try:
            await _pay(device)  # cancelled here: dirty, and they are sent before the next section
        except OSError:
            bus._soil()
    return result


async def _activate(device):
    bus = device._bus
    epoch = bus._epoch
    if device._pre:
        await bus._backend.write(b"\xff" * device._pre)
    _check(device, epoch)
    if device._cs is not None:
        try:
            device._cs(device._active)
        except BaseException:
            deactivate(device, True)
            raise


async def _pay(device):
    epoch = device._bus._epoch
    await device._bus._backend.write(b"\xff" * device._post)
    if device._bus._epoch is epoch:
        device._owes = False


async def _bare(device, function, a, b, selected):
    if not selected and later.spisection.unset(device):
        await _configure(device)
    return await _AWAITED[function](device._bus._backend, a, b)


async def _nothing(device):
    pass


def _check(device, epoch):
    if device._bus._epoch is not epoch:
        raise NotHeld("%s: the bus was reset in this transfer" % device._label())


def deactivate(device, failed):
    """CS idle, without an await. `failed`: another error is on its way, and goes first."""
    device._owes = device._post > 0
    if failed and device._owes:
        device._bus._soil()
    if device._cs is not None:
        try:
            device._cs(1 - device._active)
        except BaseException as error:
            error = device._astray(error)
            if not failed or not isinstance(error, Exception):
                raise error


def configure(device):
    return _guarded(device, _nothing)


def activate(device):
    return _guarded(device, _activate)


def pay(device):
    return _guarded(device, _pay)


def bare(device, function, a, b, selected):
    """A transfer that leaves CS alone."""
    return _guarded(device, _bare, function, a, b, selected)
