"""The virtual clock of tests/support: time jumps when all tasks wait, and orders are those of a real clock."""

import asyncio
import sys

from support import clock
from support.outcome import Stuck
from support.turns import raises, raises_async, turns

CLOCK = "virtual"
HOUR_S = 3600


async def test_sleeping_takes_no_time_but_virtual():
    start = clock.now()
    await asyncio.sleep(HOUR_S)
    assert clock.now() - start == HOUR_S * 1000


async def test_time_stands_still_while_a_task_is_ready():
    start = clock.now()
    await turns(1000)
    assert clock.now() == start


async def test_timers_fire_in_order_and_on_time():
    start = clock.now()
    log = []

    async def sleeper(seconds):
        await asyncio.sleep(seconds)
        log.append((seconds, clock.now() - start))

    await asyncio.gather(*[sleeper(s) for s in (30, 1, 20, 1.5, 10)])
    assert log == [(1, 1000), (1.5, 1500), (10, 10000), (20, 20000), (30, 30000)]


async def test_blocking_sleep_moves_the_clock_past_a_timer():
    start = clock.now()
    log = []

    async def sleeper():
        await asyncio.sleep(1)
        log.append(clock.now() - start)

    task = asyncio.create_task(sleeper())
    await turns()
    clock.advance(5000)
    assert log == []
    await task
    assert log == [5000]


async def test_a_woken_task_runs_after_those_that_were_ready_before():
    log = []
    event = asyncio.Event()

    async def waiter():
        await event.wait()
        log.append("woken")

    async def ready():
        await turns()
        log.append("ready")

    tasks = [asyncio.create_task(waiter()), asyncio.create_task(ready())]
    await turns()
    event.set()
    await asyncio.gather(*tasks)
    assert log == ["ready", "woken"]


async def test_a_cancelled_sleeper_runs_after_those_that_were_ready_before():
    log = []

    async def sleeper():
        try:
            await asyncio.sleep(HOUR_S)
        except asyncio.CancelledError:
            log.append("cancelled")

    async def ready():
        await turns()
        log.append("ready")

    tasks = [asyncio.create_task(sleeper()), asyncio.create_task(ready())]
    await turns()
    start = clock.now()
    tasks[0].cancel()
    await turns(2)
    assert log == ["ready", "cancelled"]
    assert clock.now() == start
    await tasks[1]


async def test_wait_for_times_out():
    start = clock.now()

    async def never():
        await asyncio.Event().wait()

    await raises_async(asyncio.TimeoutError, asyncio.wait_for(never(), 2.5))
    assert clock.now() - start == 2500


def test_waiting_for_what_never_comes_is_an_error():
    async def main():
        await asyncio.Event().wait()

    raises(Stuck, asyncio.run, main())
    if sys.implementation.name != "cpython":
        asyncio.new_event_loop()  # main() is left behind there
