"""Each runtime is what it says it is, with the asyncio that it is meant to have."""

import asyncio
import sys

from support import clock
from support.turns import turns


def test_asyncio_is_the_runtimes_own():
    if sys.implementation.name == "cpython":
        assert hasattr(asyncio, "Runner")
    else:
        has_adafruit = hasattr(asyncio.core, "_never")
        assert has_adafruit == ("adafruit_ticks" in sys.modules)


def test_import_of_the_library_creates_no_task():
    before = set(sys.modules)
    import buslock

    assert buslock.__version__
    # Names are loaded when they are first used.
    assert [name for name in sys.modules if name.startswith("buslock.") and name not in before] == []


async def test_turns_let_others_run():
    ran = []

    async def other():
        for i in range(3):
            ran.append(i)
            await turns()

    task = asyncio.create_task(other())
    await turns(2)
    assert ran == [0, 1]
    await task


def test_clock_is_real_unless_asked_for():
    assert not clock.is_virtual()
