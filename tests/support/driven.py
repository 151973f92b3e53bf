"""Striking a coroutine at its nth await."""

import asyncio

CANCELLED = object()


class Driven:
    """Awaits a coroutine, and tells when its nth step begins: who cancels it then strikes it at its nth await."""

    def __init__(self, coro, n):
        self.coro = coro
        self.left = n
        self.reached = asyncio.Event()

    def __iter__(self):
        return self

    __await__ = __iter__

    def __next__(self):
        # Told before the step: who waits for it runs next, when this step has come to its await.
        self.left -= 1
        if self.left == 0:
            self.reached.set()
        return self.coro.send(None)

    def send(self, value):
        return self.__next__()

    def throw(self, *error):
        return self.coro.throw(*error)

    def close(self):
        self.coro.close()


async def drive(driven, results):
    try:
        results.append(await driven)
    except asyncio.CancelledError:
        results.append(CANCELLED)
        raise
    except Exception as error:
        results.append(error)
    finally:
        driven.reached.set()
