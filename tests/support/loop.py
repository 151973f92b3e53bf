"""Runs one test in an event loop of its own, and finds what it has left behind.

run(function) calls the function, and if that made a coroutine runs it to its end. It returns a list of complaints:
tasks that never ended, errors that nobody has seen, coroutines that were never awaited (CPython can tell). What the
test raises goes through.
"""

import asyncio
import gc
import sys

GRACE_TURNS = 3  # for tasks that were cancelled or woken in the test's last step

if sys.implementation.name == "cpython":
    import traceback
    import warnings

    def format_exception(e):
        return "".join(traceback.format_exception(e)).rstrip()

    def run(function):
        complaints = []
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            result = function()
            if hasattr(result, "send"):
                with asyncio.Runner() as runner:
                    runner.get_loop().set_exception_handler(
                        lambda loop, context: complaints.append(_described(context)),
                    )
                    runner.run(_the_test(result, complaints))
                    gc.collect()  # what was lost says so when it is collected
            gc.collect()
        for warning in caught:
            if issubclass(warning.category, (RuntimeWarning, ResourceWarning)):
                complaints.append(str(warning.message))
        return complaints

    def forget_ended():
        """asyncio forgets them by itself."""

    def unfinished():
        return []  # an interrupt has cancelled the tasks, and the traceback shows where

    async def _the_test(coro, complaints):
        await coro
        for _ in range(GRACE_TURNS):
            await asyncio.sleep(0)
        for task in asyncio.all_tasks():
            if task is not asyncio.current_task():
                complaints.append("a task is left that has not ended: " + repr(task.get_coro()))

    def _described(context):
        e = context.get("exception")
        return context["message"] + ("\n" + format_exception(e) if e else "")

else:
    import io
    from asyncio import core

    from support.small import SMALL

    _tasks = []  # those made by create_task in this test, without many that have ended
    _few = 4 if SMALL else 64  # whoever has ended keeps what it used, such as a bus with chips
    _many = _few
    # sleep() sets this one object and returns it; a sleep that is never awaited spoils the next one.
    _sleeper = core.sleep_ms(0)

    def format_exception(e):
        text = io.StringIO()
        if hasattr(sys, "print_exception"):
            sys.print_exception(e, text)
        else:
            import traceback  # CircuitPython

            traceback.print_exception(e, file=text)
        return text.getvalue().rstrip()

    def run(function):
        complaints = []
        core.cur_task = None
        _sleeper.state = None
        asyncio.new_event_loop()
        core.Loop.set_exception_handler(
            lambda loop, context: complaints.append(
                "Task exception was never retrieved\n" + format_exception(context["exception"])
            )
        )
        result = function()
        if hasattr(result, "send"):
            asyncio.run(_the_test(result, complaints))
        for coro in unfinished():
            complaints.append("a task is left that has not ended: " + coro)
        if core._io_queue.map:
            complaints.append("a stream is left that is still waited for")
        _tasks.clear()
        gc.collect()
        return complaints

    def unfinished():
        """The coroutines of the tasks that have not ended."""
        left = [task for task in _tasks if not task.done()]
        head = core._task_queue.peek()
        if head is not None and head not in left:
            left.append(head)
        return [repr(task.coro) for task in left]

    def forget_ended():
        """Lets go of the tasks that have ended, for those who look at memory."""
        alive = [task for task in _tasks if not task.done()]
        _tasks.clear()
        _tasks.extend(alive)

    async def _the_test(coro, complaints):
        await coro
        if _sleeper.state is not None:
            complaints.append("a sleep was called and never awaited")
            _sleeper.state = None
        for _ in range(GRACE_TURNS):
            await core.sleep_ms(0)

    def _round_sleeps():
        """CircuitPython's floats have 22 bits, so that its asyncio.sleep(6 / 1000) is one of 5 ms."""

        def sleep(t):
            return core.sleep_ms(int(t * 1000 + 0.5))

        core.sleep = asyncio.sleep = sleep

    if sys.implementation.name == "circuitpython":
        _round_sleeps()

    def _follow_tasks():
        """The VM keeps no list of all tasks: one that is parked for ever is known only to whoever made it."""
        make_task = core.create_task
        make_loop = core.new_event_loop

        def create_task(coro):
            global _many
            task = make_task(coro)
            if len(_tasks) >= _many:
                forget_ended()
                _many = max(_few, 2 * len(_tasks))
            _tasks.append(task)
            return task

        def new_event_loop():
            _tasks.clear()  # what was stranded with the old loop was stranded on purpose
            return make_loop()

        core.create_task = asyncio.create_task = create_task
        core.new_event_loop = asyncio.new_event_loop = new_event_loop

    _follow_tasks()
