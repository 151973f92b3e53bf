"""A clock whose ticks wrap one second after the start: sleeps and timers go over the wrap."""

import asyncio
import sys

from support import clock

CLOCK = "wrap"


async def test_sleeps_go_over_the_wrap():
    start = clock.now()
    log = []

    async def sleeper(seconds):
        await asyncio.sleep(seconds)
        log.append((seconds, clock.now() - start))

    await asyncio.gather(*[sleeper(s) for s in (3, 0.5, 1, 2)])
    assert log == [(0.5, 500), (1, 1000), (2, 2000), (3, 3000)]


def test_the_ticks_did_wrap_where_they_can():
    if sys.implementation.name == "cpython":
        wrapped = clock.now() >> 30
    elif hasattr(asyncio.core, "_never"):
        wrapped = clock.now() >> 29 and asyncio.core.ticks() < 1 << 28
    else:
        wrapped = True
    assert wrapped
