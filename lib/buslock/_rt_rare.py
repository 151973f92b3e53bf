"""The part of `_rt` for MicroPython and CircuitPython that few programs need; `_rt` loads it on first use.

What still fewer need is in `_rt_times`, `_rt_alarm` and `_rt_lost`.
"""

import time
from asyncio import core, create_task  # noqa: F401

from ._rt import later

sleep_ms = core.sleep_ms
_HOMES = (
    "_rt_times event_ticks EVENT_UNIT EVENT_WRAP ,"
    "_rt_alarm Alarm settle awaited ,"
    "_rt_lost can_resume on_its_way "
)

_Coroutine = type((lambda: (yield))())

if hasattr(time, "ticks_us"):
    ticks_us = time.ticks_us
    ticks_diff_us = time.ticks_diff
    US_STEP_MS = 0
else:  # CircuitPython
    US_STEP_MS = 1  # what ticks_us() goes on by

    def ticks_us():
        return core.ticks() * 1000

    def ticks_diff_us(end, start):
        return core.ticks_diff(end // 1000, start // 1000) * 1000


try:
    from _thread import get_ident as thread_id
except ImportError:  # a port without threads

    def thread_id():
        return 0


def is_running(loop):
    """Only one loop runs on these runtimes, and that of another core cannot be seen: see Bus.debug."""
    return False


def is_awaitable(x):
    return isinstance(x, (_Coroutine, core.Task)) or hasattr(x, "__await__")


def task_name(task):
    """'display' for a task made by `create_task(display())`: the name of its coroutine function."""
    text = repr(getattr(task, "coro", task)).split("'")
    return text[1] if len(text) > 2 else text[0]


def __getattr__(name):
    home = later._home(_HOMES, name)
    if home is None:
        raise AttributeError(name)
    return getattr(getattr(later, home), name)
