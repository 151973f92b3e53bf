"""Times pieces of code side by side: batches that take turns, and their medians. Runs wherever the library does.

Each piece is a coroutine function of a number: do it so many times. The loop around it is part of what is timed, and
so is the same for all. Results are lines `figure NAME us=... ratio=...`, which tools/bench.py collects.

By hand: `MICROPYPATH=lib:.:.frozen micropython tools/bench/locks.py`, with `quick` behind it for fewer rounds; on a
board `mpremote mount . exec "import sys; sys.path[:0] = ['lib', 'tools/bench']; import locks; locks.run()"`.
"""
# pyright: reportAttributeAccessIssue=false, reportOptionalMemberAccess=false

import asyncio
import gc
import sys
import time

BATCH = 50
DESK = sys.platform in ("linux", "darwin", "win32")
QUICK = "quick" in sys.argv[1:]
# An emulated board repeats its times to the microsecond, and a real one nearly so.
ROUNDS = (15 if QUICK else 101) if DESK else (1 if QUICK else 3)

if hasattr(time, "ticks_us"):
    UNIT = 1  # of the clock, in microseconds
    now = time.ticks_us

    def since(start):
        """Microseconds since then."""
        return time.ticks_diff(time.ticks_us(), start)

else:
    UNIT = 0.001
    now = getattr(time, "perf_counter_ns", None) or time.monotonic_ns

    def since(start):
        """Microseconds since then."""
        return (now() - start) / 1000


if hasattr(asyncio, "sleep_ms"):
    sleep_ms = asyncio.sleep_ms
    wait_for_ms = asyncio.wait_for_ms
else:

    async def sleep_ms(ms):
        await asyncio.sleep(ms / 1000)

    def wait_for_ms(awaitable, ms):
        return asyncio.wait_for(awaitable, ms / 1000)


async def compare(pieces, rounds=None, batch=BATCH):
    """{name: [microseconds of a batch, one for each round]} for {name: coroutine function}.

    A piece that is not to be timed as a whole returns the microseconds that count.
    """
    rounds = rounds or ROUNDS
    names = list(pieces)
    times = {name: [] for name in names}
    for name in names:
        await pieces[name](batch)  # what is loaded or allocated on first use
    for turn in range(rounds):
        # There and back, so that none always follows the same other one.
        for name in names if turn % 2 == 0 else reversed(names):
            piece = pieces[name]
            gc.collect()
            start = now()
            own = await piece(batch)
            whole = since(start)
            times[name].append(whole if own is None else own)
    return times


async def allocated(piece, batch=BATCH):
    """Bytes for one operation; None where that cannot be seen."""
    if not hasattr(gc, "mem_alloc"):
        return None
    await piece(2)
    # The difference of two lengths, so that what the batch itself takes does not count.
    short = await _allocated(piece, batch)
    return (await _allocated(piece, 2 * batch) - short) / batch


async def _allocated(piece, n):
    gc.collect()
    gc.disable()
    before = gc.mem_alloc()
    await piece(n)
    after = gc.mem_alloc()
    gc.enable()
    return after - before


def median(times):
    """The median. With a coarse clock many times are equal; where among them the middle lies is interpolated."""
    times = sorted(times)
    n = len(times)
    middle = times[n // 2] if n % 2 else (times[n // 2 - 1] + times[n // 2]) / 2
    same = times.count(middle)
    if same < 2:
        return middle
    below = sum([t < middle for t in times])
    return middle - UNIT / 2 + UNIT * (n / 2 - below) / same


def quartiles(values):
    values = sorted(values)
    return values[len(values) // 4], values[(3 * len(values)) // 4]


def report(name, times, yardstick=None, batch=BATCH, size=None):
    """Prints one result. `yardstick` has the times of what it is to be compared with, from the same compare().

    The ratio is the median of the rounds' ratios: a machine that is shared changes its speed in the middle, and then
    the ratio of two medians may be one of a fast half and a slow half.
    """
    middle = median(times)
    low, high = quartiles(times)
    values = [("us", middle / batch), ("us_low", low / batch), ("us_high", high / batch)]
    if yardstick is not None:
        ratios = sorted([t / y for t, y in zip(times, yardstick) if y])  # noqa: B905
        if ratios:
            low, high = quartiles(ratios)
            values += [("ratio", ratios[len(ratios) // 2]), ("ratio_low", low), ("ratio_high", high)]
    if size is not None:
        values.append(("bytes", size))
    figure(name, values)


def figure(name, values):
    """Prints one result, given as pairs."""
    print("figure", name, " ".join([f"{key}={value:.3f}" for key, value in values]))


def skip(name, why):
    print("skip", name, why)
