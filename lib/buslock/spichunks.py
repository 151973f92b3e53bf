"""Long SPI writes, cut into pieces that give up the loop: a display frame."""

from ._rt import sleep_ms, ticks_ms
from .holding import left_of


def chunked(device):
    """Its `write`, cut at `chunk` bytes; with (bytes, False) CS goes idle and the wire is free between the pieces."""
    chunk = device._chunk
    size, keep = chunk if isinstance(chunk, tuple) else (chunk, True)
    if type(size) is not int or size < 1:
        raise ValueError("%s: chunk is a number of bytes from 1, or (bytes, False), not %r" % (device._label(), chunk))

    async def write(*bufs, timeout_ms=None):
        if not bufs:
            device._refuse(bufs)
        for buf in bufs:
            if isinstance(buf, str) or not len(buf):
                device._refuse(buf)
        start = ticks_ms()
        # Cancelled in here: CS is idle, the wire is free; what was sent so far is sent.
        async with device.select(timeout_ms) if keep else device.hold(timeout_ms) as session:
            for buf in bufs:
                view = memoryview(buf)
                for offset in range(0, len(view), size):
                    await session.write(view[offset : offset + size], timeout_ms=left_of(timeout_ms, start))
                    await sleep_ms(0)

    device.write = write
