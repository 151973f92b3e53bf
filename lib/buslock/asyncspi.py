"""CircuitPython's async_spi, of which there are drafts, in the form in which spiawait wants awaited transfers.

The drafts have busio's names. They differ in how the bus is locked: not at all, by `try_lock()`, or by an asyncio lock in
`lock`; and configure() may be a coroutine. That lock is kept for one operation, across its awaits.
"""

from .native import NativeLocked


class AsyncSPI:
    awaitable = True
    MSB = 0

    def __init__(self, spi):
        self.spi = spi

    async def take(self):
        """NativeLocked if code outside has its lock. True if it has one."""
        spi = self.spi
        if hasattr(spi, "try_lock"):
            if not spi.try_lock():
                raise NativeLocked()
            return True
        lock = getattr(spi, "lock", None)
        if lock is None:
            return False
        if lock.locked():
            raise NativeLocked()
        await lock.acquire()  # cancelled here: not taken
        return True

    def give(self):
        spi = self.spi
        if hasattr(spi, "try_lock"):
            spi.unlock()
        else:
            spi.lock.release()

    def take_over(self):
        """Free its lock whoever has it: nobody else may be using the bus."""
        spi = self.spi
        if hasattr(spi, "try_lock"):
            spi.try_lock()
            spi.unlock()
        elif hasattr(spi, "lock") and spi.lock.locked():
            spi.lock.release()

    def init(self, baudrate, polarity, phase, bits=8, firstbit=None):
        if firstbit not in (None, self.MSB):
            raise ValueError("async_spi sends the most significant bit first only")
        return self.spi.configure(baudrate=baudrate, polarity=polarity, phase=phase, bits=bits)

    def write(self, buf):
        return self.spi.write(buf)

    def readinto(self, buf, write=0):
        return self.spi.readinto(buf, write_value=write)

    def write_readinto(self, out, into):
        return self.spi.write_readinto(out, into)
