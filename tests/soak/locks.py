"""The stations of the lock layer: one key each, several keys, and a Lazy that fails now and then."""

import asyncio

import test_random
from buslock import Lazy
from support import checks
from support.turns import turns
from test_random import OneKeyEach, SeveralKeys

checks.install(test_random)  # where it runs as a test too, its assertions were rewritten


class Keys:
    """A Lock and a LockTable, with the order of arrival."""

    expected = ()

    def __init__(self, seed, random):
        self.trial = OneKeyEach(seed, 0)
        self.random = random

    async def use(self, worker):
        await self.trial.attempt(self.random, worker)

    async def rest(self):
        self.trial.check_rest()


class ManyKeys(Keys):
    """hold_many, hold_all, try_hold and nested holds of one table."""

    def __init__(self, seed, random):
        self.trial = SeveralKeys(seed, 0)
        self.random = random


class Broken(Exception):
    """What the factory fails with."""


class Made:
    pass


class Lazies:
    """One object that is made, used and closed again and again; making and closing fail now and then."""

    expected = (Broken,)

    def __init__(self, seed, random):
        self.random = random
        self.open = set()
        self.closing = set()
        self.making = 0
        self.lazy = Lazy(
            (self.make_at_once, self.make)[seed % 2],
            close=self.close,
            factory_ms=(None, 4)[seed // 2 % 2],
            retry_ms=(0, 3)[seed // 4 % 2],
        )

    def make_at_once(self):
        if self.random.below(3) == 0:
            raise Broken("not made")
        made = Made()
        self.open.add(made)
        return made

    async def make(self):
        assert not self.making, "made by two at a time"
        self.making += 1
        try:
            for _ in range(self.random.below(4)):
                await asyncio.sleep(self.random.below(3) / 1000)
            return self.make_at_once()
        finally:
            self.making -= 1

    async def close(self, made):
        # Of one whose close was cut short another may be made; the next aclose() ends both.
        assert made in self.open or made in self.closing
        self.open.discard(made)
        self.closing.add(made)
        for _ in range(self.random.below(3)):
            await asyncio.sleep(self.random.below(3) / 1000)
        self.closing.discard(made)

    async def use(self, worker):
        if self.random.below(6) == 0:
            await self.lazy.aclose((None, self.random.below(4))[self.random.below(2)])
            return
        made = await self.lazy.get((None, self.random.below(5))[self.random.below(2)])
        assert made is self.lazy.peek()
        assert self.open == {made}, "two are open"
        await turns(self.random.below(3))

    async def rest(self):
        await self.lazy.aclose()
        assert self.lazy.state == "empty" and self.lazy.peek() is None
        assert not self.open and not self.closing and not self.making, "not closed"
