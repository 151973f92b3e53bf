"""Long SPI writes, cut into pieces that give up the loop: a display frame."""

from ._rt import current_task, later, sleep_ms


def chunked(device):
    """Its `write`, cut at `chunk` bytes; with (bytes, False) CS goes idle and the wire is free between the pieces."""
    chunk = device._chunk
    size, keep = chunk if isinstance(chunk, tuple) else (chunk, True)

    async def write(*bufs, timeout_ms=None):
        """`timeout_ms` bounds the waiting until it begins."""
        if not bufs:
            device._refuse(bufs)
        for buf in bufs:
            if isinstance(buf, str) or not len(buf):
                device._refuse(buf)
        bus = device._bus
        hold = bus._wire_hold
        if hold is not None and hold._selected is device and hold._task is current_task():
            await pieces(later.spisession.Selected(device, hold), bufs, timeout_ms)
            return
        own = device._own_session()
        # Cancelled in here: CS is idle, the wire is as before; what was sent so far is sent.
        if keep:
            async with (device if own is None else own).select(timeout_ms) as session:
                await pieces(session, bufs, None)
        elif own is not None:
            await pieces(own, bufs, timeout_ms)
        else:
            async with device.hold(timeout_ms) as session:
                await pieces(session, bufs, None)

    async def pieces(session, bufs, timeout_ms):
        first = True
        for buf in bufs:
            view = memoryview(buf)
            for offset in range(0, len(view), size):
                if not first:
                    await sleep_ms(0)
                await session.write(view[offset : offset + size], timeout_ms=timeout_ms if first else None)
                first = False

    device.write = write
