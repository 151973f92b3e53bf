"""The device side of the tests: runs tests of one module, and prints a line of JSON for each thing that happens.

    runner.py FOLDER MODULE CLOCK TEST...      CLOCK is real, virtual or wrap; with +wrapping, see support/clock.py

FOLDER holds the module with its assertions rewritten, and comes first on the path. On a board, where there is no
command line: `import runner; runner.run("test_lock", ["test_fifo"])`.
"""

import json
import sys
import time

MARK = "@@buslock "


def emit(event, **values):
    values["event"] = event
    print(MARK + json.dumps(values))


def milliseconds():
    return time.ticks_ms() if hasattr(time, "ticks_ms") else time.monotonic_ns() // 1000000


def since(start):
    now = milliseconds()
    return time.ticks_diff(now, start) if hasattr(time, "ticks_diff") else now - start


def run(module_name, names, clock="real"):
    module = begin(module_name, clock)
    if not module:
        return
    wrapping = clock.endswith("+wrapping")
    for name in names:
        run_one(module, name, wrapping)
    marks = sys.modules.get("support.marks")
    if marks:
        import os

        marks.save(os.getenv("BUSLOCK_MARKS"))
    emit("end")


def begin(module_name, clock):
    """The module; None if it cannot be loaded, which has been told."""
    start = milliseconds()
    clock, _, wrapping = clock.partition("+")
    try:
        module = load(module_name, clock, wrapping)
    except Exception as e:
        problem("load", e, start)
        return None
    emit("ready", version=sys.version)
    return module


def load(module_name, clock, wrapping=False):
    import gc

    from support.small import SMALL

    if SMALL and hasattr(gc, "threshold"):
        gc.threshold(32768)  # else what is loaded in the middle of a test lies between garbage, and cuts the heap in pieces
    choose_tasks(clock, wrapping)
    if clock != "real" or wrapping:
        from support import clock as test_clock

        if clock == "real":
            test_clock.install_real()
        else:
            test_clock.install(wrap=clock == "wrap")
    # Before the library: it follows the tasks that are made, and whoever has imported create_task escapes it.
    from support import checks, loop  # noqa: F401

    module = __import__(module_name)
    checks.install(module)
    return module


def choose_tasks(clock, wrapping=False):
    """Adafruit's ticks have 29 bits, those that C code stamps tasks with have 62 on a desk's VM.

    The two agree in the first days after the machine's start. Later, and where the ticks are to wrap, the loop must use
    the tasks that are written in Python.
    """
    if sys.implementation.name == "micropython" and (wrapping or clock == "wrap" or time.ticks_ms() >> 28):
        try:
            import adafruit_ticks  # noqa: F401
        except ImportError:
            if wrapping:
                from support import tasks

                tasks.install()
            return
        sys.modules["_asyncio"] = None


def problem(where, e, start, **values):
    from support.loop import format_exception
    from support.outcome import Skip

    if isinstance(e, Skip):
        emit(where + "-skip", reason=str(e), ms=since(start), **values)
    else:
        emit(where + "-fail", text=format_exception(e), ms=since(start), **values)


def function_of(module, name):
    """What is to be called for "test_fifo", or for "test_fifo[lock]": a test of what is in the brackets."""
    if name[-1] != "]":
        return getattr(module, name)
    name, each = name[:-1].split("[")
    return lambda: getattr(module, name)(each)


def run_one(module, name, wrapping=False):
    from support import clock, loop
    from support.small import KEPT, SMALL

    simulator = sys.modules.get("buslock_sim.clock")
    if simulator and clock.is_virtual():
        simulator.use(clock)
    transcript = sys.modules.get("buslock_sim.transcript")
    if transcript and SMALL:
        transcript.LONGEST = KEPT
    mistakes = sys.modules.get("buslock_sim.errors")
    if mistakes:
        mistakes.forget()  # those of a test that has failed
    emit("start", test=name)
    clock.begin()
    start = milliseconds()
    try:
        begun = clock.now()
        complaints = loop.run(function_of(module, name))
        if wrapping and not complaints:
            took = clock.now() - begun
            clock.wrap_in(max(1, took // 2))
            complaints = loop.run(function_of(module, name))
    except KeyboardInterrupt as e:  # the host's way to ask where a test hangs
        waiting = "".join(["\nunfinished: " + coro for coro in loop.unfinished()])
        emit("test-fail", test=name, text=loop.format_exception(e) + waiting, ms=since(start))
        sys.exit(1)
    except BaseException as e:
        problem("test", e, start, test=name)
        return
    if mistakes:
        for mistake in mistakes.forget():
            complaints.append("a simulated bus minds: " + str(mistake))
    if complaints:
        text = "The test left something behind.\n" + "\n".join(complaints)
        emit("test-fail", test=name, text=text, ms=since(start))
    else:
        emit("test-pass", test=name, ms=since(start))


if __name__ == "__main__":
    folder, module_name, clock = sys.argv[1:4]
    sys.path.insert(0, folder)
    run(module_name, sys.argv[4:], clock)
