"""A short soak: everything at once, at random. As long as one likes: `python3 tools/dev.py soak`."""

from soak import round
from support import clock

CLOCK = "virtual"
RUNTIMES = ("micropython", "micropython-adafruit", "cpython", "pico")
LEFT_OUT = {"pico": "more memory than a Pico has: everything at once"}
SLOW = ("test_rounds",)
TIME_LIMIT = 240


async def test_one_round():
    """960 random operations on locks, tables, Lazy, I2C, SPI and UART, with cancellations: all at rest, memory flat."""
    outcomes = {}
    await round.run(1, outcomes)
    assert sum(outcomes.values()) >= round.PAUSES * round.ATTEMPTS


async def test_rounds():
    """The same for several seeds: every kind of end that a station has comes up."""
    outcomes = {}
    for seed in range(2, 10):
        clock.restart()
        await round.run(seed, outcomes)
    for name in ("Keys", "ManyKeys", "Lazies", "I2C", "SPI", "UART"):
        for end in ("done", "CancelledError"):
            assert outcomes.get(name + "." + end, 0) > 20, (name, end, outcomes)
    for end in ("Lazies.Broken", "Lazies.BusClosed", "I2C.NoAck", "I2C.TransferError", "I2C.BusClosed", "UART.NoReply"):
        assert outcomes.get(end, 0) > 5, (end, outcomes)
