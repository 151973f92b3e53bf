"""SPI and UART: what an operation costs that nobody else hinders, against the raw calls that it is made of.

On a board, its first SPI (nothing need be connected) and its first UART with a partner that answers each line with a
line, TX joined to RX for instance. On a desk, peripherals that take no time: what is left is the library's.
"""
# pyright: reportAttributeAccessIssue=false, reportMissingImports=false, reportArgumentType=false

import asyncio

from measure import DESK, allocated, compare, report, skip, sleep_ms

BAUDRATE = 1000000
UART_BAUDRATE = 115200
FEW = 4  # exchanges in a batch: each takes milliseconds
DATA = bytes(range(4))
REQUEST = b"ping\n"


class NoSPI:
    """Takes no time."""

    def init(self, **config):
        pass

    def write(self, buf):
        pass

    def write_readinto(self, out, into):
        pass


class NoPin:
    OUT = 1

    def init(self, mode, value=0):
        pass

    def __call__(self, *level):
        return 1


class Repeater:
    """A UART that hears itself at once."""

    def __init__(self):
        self._heard = b""

    def write(self, buf):
        self._heard += bytes(buf)
        return len(buf)

    def any(self):
        return len(self._heard)

    def read(self, n):
        got = self._heard[:n]
        self._heard = self._heard[n:]
        return got

    def txdone(self):
        return True

    def flush(self):
        pass


def peripherals():
    if DESK:
        return NoSPI(), NoPin(), Repeater()
    from machine import Pin

    import boards

    board = boards.this_board()
    return board.spi(BAUDRATE), Pin(board.SPI_CS, Pin.OUT, value=1), board.uart(UART_BAUDRATE)


def spi_pieces(spi, cs):
    from buslock.spi import SPIBus

    device = SPIBus(spi).device(cs, baudrate=BAUDRATE)
    into = bytearray(len(DATA))

    async def raw_write(n):
        for _ in range(n):
            cs(0)
            spi.write(DATA)
            cs(1)

    async def write(n):
        for _ in range(n):
            await device.write(DATA)

    async def raw_both(n):
        for _ in range(n):
            cs(0)
            spi.write_readinto(DATA, into)
            cs(1)

    async def both(n):
        for _ in range(n):
            await device.write_readinto(DATA, into)

    return {"raw_write": raw_write, "write": write, "raw_both": raw_both, "both": both}


def uart_pieces(uart):
    from buslock.uart import UARTBus

    node = UARTBus(uart).device()

    async def raw(n):
        for _ in range(n):
            uart.write(REQUEST)
            reply = b""
            while not reply.endswith(b"\n"):
                waiting = uart.any()
                if waiting:
                    reply += uart.read(waiting)
                else:
                    await sleep_ms(1)

    async def exchange(n):
        for _ in range(n):
            await node.exchange(REQUEST, until=b"\n")

    return {"raw": raw, "exchange": exchange}


async def main():
    spi, cs, uart = peripherals()
    try:
        pieces = spi_pieces(spi, cs)
    except ImportError:
        skip("transfers.spi", "there is no buslock.spi yet")
    else:
        times = await compare(pieces)
        for name, yardstick in (("raw_write", None), ("write", "raw_write"), ("raw_both", None), ("both", "raw_both")):
            size = await allocated(pieces[name])
            report("transfers.spi." + name, times[name], times.get(yardstick), size=size)
    try:
        pieces = uart_pieces(uart)
    except ImportError:
        skip("transfers.uart", "there is no buslock.uart yet")
    else:
        times = await compare(pieces, rounds=5, batch=FEW)
        report("transfers.uart.raw", times["raw"], batch=FEW)
        report("transfers.uart.exchange", times["exchange"], times["raw"], batch=FEW)


def run():
    asyncio.run(main())


if __name__ == "__main__":
    run()
