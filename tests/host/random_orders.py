"""Run by test_clock_order.py on a VM: prints the order in which the tasks of random programs ran.

    random_orders.py CLOCK SEED COUNT

The tasks give up their turn, sleep, wait for events and each other, and cancel each other. No sleep ever ends by
itself, so nothing but the scheduler decides about the order.
"""

import random
import sys

clock, first, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
if clock == "virtual":
    from support import clock as test_clock

    test_clock.install()

import asyncio  # noqa: E402
from asyncio import core  # noqa: E402

ACTIONS = "turn turn sleep wait wait cancel cancel wake join".split()
TASKS = 5
STEPS = 12


def program(seed):
    random.seed(seed)
    log = []
    tasks = []
    events = [asyncio.Event() for _ in range(3)]
    plans = [[(random.choice(ACTIONS), random.randrange(TASKS)) for _ in range(STEPS)] for _ in range(TASKS)]

    def wake(k):
        events[k % 3].set()
        events[k % 3].clear()

    async def body(me):
        for step, (what, k) in enumerate(plans[me]):
            log.append("%d.%d" % (me, step))
            try:
                if what == "turn":
                    await core.sleep_ms(0)
                elif what == "sleep":
                    await core.sleep_ms(1000000)
                elif what == "wait":
                    await events[k % 3].wait()
                elif what == "wake":
                    wake(k)
                elif what == "cancel" and k != me:
                    tasks[k].cancel()
                elif what == "join" and k > me:
                    await tasks[k]
            except asyncio.CancelledError:
                log.append("%d.%dC" % (me, step))

    async def main():
        for i in range(TASKS):
            tasks.append(asyncio.create_task(body(i)))
        for _ in range(40):
            await core.sleep_ms(0)
            log.append("m")
            if random.random() < 0.5:
                wake(random.randrange(3))
            if random.random() < 0.4:
                tasks[random.randrange(TASKS)].cancel()

    asyncio.new_event_loop()
    core.cur_task = None
    try:
        asyncio.run(main())
    except AssertionError:
        log.append("assert")  # asyncio's own: a cancel that was passed on to the task that sent it
    return log


for seed in range(first, first + count):
    print(seed, " ".join(program(seed)))
