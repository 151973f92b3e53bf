"""SPI peripherals whose transfers are coroutines: the same section, with an await in it.

The seam is `awaitable = True` on the peripheral, whose write, readinto and write_readinto then return awaitables.
"""

from .spi import _write, _write_readinto
from .spidevice import _read, _readinto, _write_then_read


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


def awaited(device):
    """Its `_section` as a coroutine; SPIBus awaits it with the wire held."""

    async def section(function, a, b):
        bus = device._bus
        if bus._config != device._config:
            bus._configure(device._config)
        cs = device._cs
        try:
            if cs is not None:
                cs(device._active)
            # Cancelled here: CS goes idle below, without an await; what the peripheral does is not known, so: dirty.
            return await _AWAITED[function](bus._backend, a, b)
        except OSError as error:
            raise bus._fault(error, device)
        except BaseException:
            bus._soil()
            raise
        finally:
            if cs is not None:
                try:
                    cs(1 - device._active)
                except BaseException:
                    bus._soil()
                    raise

    return section


async def bare(device, function, a, b):
    """A transfer that does not touch CS."""
    bus = device._bus
    try:
        return await _AWAITED[function](bus._backend, a, b)
    except OSError as error:
        raise bus._fault(error, device)
    except BaseException:
        bus._soil()
        raise
