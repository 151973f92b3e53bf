"""Counting scheduler turns, putting steps of several tasks in order, and expecting errors."""

import asyncio


async def turns(n=1):
    """Lets the scheduler go round n times: every task that is ready runs once in each."""
    for _ in range(n):
        await asyncio.sleep(0)


def raises(expected, function, *args, **kwargs):
    """Calls the function, which must raise `expected` (a type or a tuple of types), and returns the exception."""
    try:
        result = function(*args, **kwargs)
    except expected as e:
        return e
    if hasattr(result, "close") and hasattr(result, "send"):
        result.close()
        raise AssertionError("that made a coroutine: expect its error with `await raises_async(...)`")
    raise AssertionError(_names(expected) + " was not raised; the result was " + repr(result))


async def raises_async(expected, awaitable):
    """The same for something to await."""
    try:
        result = await awaitable
    except expected as e:
        return e
    raise AssertionError(_names(expected) + " was not raised; the result was " + repr(result))


def _names(expected):
    if isinstance(expected, tuple):
        return " or ".join([e.__name__ for e in expected])
    return expected.__name__


class Steps:
    """Puts steps of several tasks in one order, whatever order the scheduler would have chosen.

    `await steps.at(n)` returns when the steps 0 to n-1 have been reached, and makes n the step that was reached last.
    Each number is used once.
    """

    def __init__(self):
        self.reached = -1
        self._waiting = {}  # step: the Event its task waits for

    async def at(self, n):
        if n <= self.reached or n in self._waiting:
            raise AssertionError("step " + str(n) + " is there twice")
        if n > self.reached + 1:
            event = self._waiting[n] = asyncio.Event()
            await event.wait()
            del self._waiting[n]
        self.reached = n
        following = self._waiting.get(n + 1)
        if following:
            following.set()


async def gather_all(*awaitables):
    """Runs coroutines, or tasks, to their end, and returns the list of their results or exceptions.

    Unlike a plain asyncio.gather it never leaves the others running when one fails; cancellations are results too.
    """
    return await asyncio.gather(*awaitables, return_exceptions=True)
