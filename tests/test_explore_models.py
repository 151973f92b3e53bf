"""The models of tests/explore against the runtimes that they model: the same programs, the same order of events."""

import asyncio
import sys

CLOCK = "virtual"
LEFT_OUT = {"pico": "the explorer is for a desk: it makes thousands of schedules"}
CPYTHON = sys.implementation.name == "cpython"

if CPYTHON:
    from explore.cpython_model import loop as model
else:
    from explore.micropython_model import core as model


class _Real:
    """The runtime itself."""

    CancelledError = asyncio.CancelledError
    create_task = staticmethod(asyncio.create_task)

    @staticmethod
    def sleep(ms):
        return asyncio.sleep(ms / 1000) if CPYTHON else asyncio.sleep_ms(ms)


class _Modelled:
    """Its model. Time goes on only when nothing else can happen."""

    if CPYTHON:
        from explore.cpython_model import asyncio as _modelled

        create_task = staticmethod(_modelled.create_task)
        CancelledError = _modelled.CancelledError

        @staticmethod
        def sleep(ms):
            return _Modelled._modelled.sleep(ms / 1000)

    else:
        from explore.micropython_model import CancelledError

        @staticmethod
        def create_task(coro):
            return model.create_task(coro)

        @staticmethod
        def sleep(ms):
            return model.sleep_ms(ms)


def _run_modelled(program):
    model.reset(False, print)
    events = []
    _Modelled.create_task(program(_Modelled, events.append))
    while True:
        options = model.options()
        if not options:
            return events
        model.perform(options[0])


async def _same(program):
    events = []
    await program(_Real, events.append)
    assert events
    assert _run_modelled(program) == events


async def _worker(rt, log, name, *naps):
    try:
        for nap in naps:
            log(name)
            await rt.sleep(nap)
        log(name + " ends")
    except rt.CancelledError:
        log(name + " cancelled")
        raise


async def _settle(rt, turns=4):
    for _ in range(turns):
        await rt.sleep(0)


async def test_ready_tasks_take_turns():
    async def program(rt, log):
        for name in "abc":
            rt.create_task(_worker(rt, log, name, 0, 0))
        log("main")
        await _settle(rt)
        log("main ends")

    await _same(program)


async def test_sleepers_wake_in_the_order_of_their_times():
    async def program(rt, log):
        for name, ms in (("a", 30), ("b", 10), ("c", 20), ("d", 0)):
            rt.create_task(_worker(rt, log, name, ms, 0))
        await rt.sleep(60)
        log("main ends")

    await _same(program)


async def test_a_cancel_reaches_a_sleeper_at_once_and_in_order():
    async def program(rt, log):
        tasks = [rt.create_task(_worker(rt, log, name, 1000)) for name in "abc"]
        await rt.sleep(0)
        rt.create_task(_worker(rt, log, "new", 0))
        for task in (tasks[2], tasks[0], tasks[1]):
            log(task.cancel())
        await _settle(rt)
        log([task.cancel() for task in tasks])

    await _same(program)


async def test_a_cancel_before_the_first_step():
    async def program(rt, log):
        task = rt.create_task(_worker(rt, log, "a", 0))
        task.cancel()
        await _settle(rt)
        log(task.done())

    await _same(program)


async def test_two_cancels_before_one_step():
    async def program(rt, log):
        async def stubborn():
            for _ in range(3):
                try:
                    await rt.sleep(50)
                    log("slept")
                except rt.CancelledError:
                    log("cancelled")

        task = rt.create_task(stubborn())
        await rt.sleep(0)
        task.cancel()
        task.cancel()
        await _settle(rt)
        task.cancel()
        await _settle(rt)
        log(task.done())
        await rt.sleep(120)
        log(task.done())

    await _same(program)


async def test_a_cancel_of_a_task_that_is_ready():
    async def program(rt, log):
        task = rt.create_task(_worker(rt, log, "a", 0, 0, 0))
        await rt.sleep(0)
        task.cancel()
        await _settle(rt)

    await _same(program)


async def test_a_cancel_goes_through_to_the_awaited_task():
    async def program(rt, log):
        async def parent():
            child = rt.create_task(_worker(rt, log, "child", 1000))
            try:
                await child
            except rt.CancelledError:
                log("parent cancelled")
                log(child.done())
                raise

        task = rt.create_task(parent())
        await _settle(rt)
        task.cancel()
        await _settle(rt, 6)
        log(task.done())

    await _same(program)


async def test_an_awaited_task_passes_its_result_and_its_error():
    async def program(rt, log):
        async def child(error):
            await rt.sleep(0)
            if error:
                raise error
            return "result"

        log(await rt.create_task(child(None)))
        try:
            await rt.create_task(child(ValueError("x")))
        except ValueError as error:
            log(str(error))

    await _same(program)


async def test_cancels_that_cross_a_wake_up():
    async def program(rt, log):
        a = rt.create_task(_worker(rt, log, "a", 20, 0))
        b = rt.create_task(_worker(rt, log, "b", 20, 0))
        await rt.sleep(20)
        log("main")
        a.cancel()
        b.cancel()
        await _settle(rt)

    await _same(program)
