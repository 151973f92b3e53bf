"""The operations of SPI besides write and write_readinto; devices and sessions load them on first use."""

METHODS = (
    "as_machine",
    "as_busio",
    "read",
    "readinto",
    "write_then_read",
    "select",
    "_plan",
    "_refuse",
    "_refuse_pair",
)


async def read(me, nbytes, write=0, timeout_ms=None):
    """`nbytes` bytes, sending `write` meanwhile."""
    if type(nbytes) is not int or nbytes < 1:
        me._device._refuse(nbytes)
    return await _do(me, timeout_ms, _read, nbytes, check_byte(write))


async def readinto(me, buf, write=0, timeout_ms=None):
    """Fill `buf`, sending `write` meanwhile."""
    if not len(buf):
        me._device._refuse(buf)
    buf[0] = buf[0]  # TypeError for a read-only buffer, before anything is sent
    return await _do(me, timeout_ms, _readinto, buf, check_byte(write))


async def write_then_read(me, out, nbytes, timeout_ms=None):
    """Write `out`, then read `nbytes` bytes, CS active throughout."""
    if type(nbytes) is not int or nbytes < 1:
        me._device._refuse(nbytes)
    if isinstance(out, str) or not len(out):
        me._device._refuse(out)
    return await _do(me, timeout_ms, _write_then_read, out, nbytes)


def select(me, timeout_ms=None):
    """`async with device.select() as spi`: CS active over several transfers and awaits; key and wire are held."""
    from .spisession import Select

    return Select(me, timeout_ms)


def as_machine(device):
    """An object with the methods of machine.SPI for this device, and its chip select as `.cs`."""
    from .spifacade import MachineSPI

    return MachineSPI(device)


def as_busio(device):
    """An object with the methods of busio.SPI for this device, and its chip select as `.cs`."""
    from .spifacade import BusioSPI

    return BusioSPI(device)


async def _do(me, timeout_ms, function, a, b):
    if timeout_ms is None and me._free():
        return me._section(function, a, b)
    return await me._slow(timeout_ms, function, a, b)


def _read(spi, nbytes, write):
    return spi.read(nbytes, write)


def _readinto(spi, buf, write):
    spi.readinto(buf, write)


def _write_then_read(spi, out, nbytes):
    spi.write(out)
    return spi.read(nbytes)


def _plan(device):
    """Whether its operations may take the fast way."""
    device._plain = device._ready
    if device._chunk is not None:
        from .spichunks import chunked

        chunked(device)
    if device._bus._awaits:
        from .spiawait import awaited

        device._section = awaited(device)


def _refuse(device, what):
    """What is wrong with a buffer or a length."""
    if isinstance(what, (str, float)) or what is None:
        raise TypeError("%s: bytes or a length is wanted, not %r" % (device._label(), what))
    raise ValueError("%s: there is nothing to transfer: %r" % (device._label(), what))


def _refuse_pair(device, out, into):
    raise ValueError(
        "%s: write_readinto() wants two buffers of the same length from 1, not %d and %d"
        % (device._label(), len(out), len(into))
    )


def check_byte(value):
    if type(value) is not int:
        raise TypeError("a byte is an int, not %r" % (value,))
    if not 0 <= value <= 255:
        raise ValueError("a byte is 0..255, not %d" % value)
    return value
