"""A clock whose ticks wrap one second after the start: sleeps and timers go over the wrap."""

import asyncio
import sys

from buslock._rt import ticks_ms
from support import clock, tasks

CLOCK = "wrap"


async def test_sleeps_go_over_the_wrap():
    start = clock.now()
    log = []

    async def sleeper(seconds):
        await asyncio.sleep(seconds)
        log.append((seconds, clock.now() - start))

    await asyncio.gather(*[sleeper(s) for s in (3, 0.5, 1, 2)])
    assert log == [(0.5, 500), (1, 1000), (2, 2000), (3, 3000)]


async def test_the_ticks_did_wrap_where_they_can():
    if sys.implementation.name == "cpython":
        period = 30
    elif hasattr(asyncio.core, "_never"):
        period = 29
    elif tasks.is_installed():
        period = 30
    else:
        return  # 62 bits: never
    # A second after the start of the clock, or in the middle of this.
    first = ticks_ms()
    await asyncio.sleep(2)
    assert ticks_ms() < first or first < 1 << period - 1
