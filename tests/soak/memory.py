"""Memory that may not grow."""

import gc
import sys

from support import loop

if hasattr(gc, "mem_alloc"):
    UNIT = "bytes"
    # The collector takes whatever looks like a pointer for one: a stale word on the stack can keep a dead task with all
    # that it knew, 9 KB at once, until something else lies there.
    SLACK = 16384

    def used():
        loop.forget_ended()
        gc.collect()
        gc.collect()  # what a finaliser had held
        return gc.mem_alloc()

else:
    UNIT = "blocks"
    # Caches of the interpreter, texts and counters: about one block for two rounds, none of them allocated in the library
    # (looked at with tracemalloc over 140 rounds). What one operation in a hundred leaves behind is ten blocks a round.
    SLACK = 2000

    def used():
        gc.collect()
        return sys.getallocatedblocks()


class Level:
    """The least that is in use in a window of so many looks, held against that of the third window.

    In the first two, modules are loaded, devices made, and statistics get their rows.
    """

    def __init__(self, window):
        self.window = window
        self.looks = 0
        self.first = self.latest = None

    def look(self):
        now = used()
        if self.looks % self.window == 0 or now < self.latest:
            self.latest = now
        self.looks += 1
        if self.looks % self.window:
            return
        if self.looks <= 3 * self.window:
            self.first = self.latest
        elif self.latest > self.first + SLACK:
            raise AssertionError("memory grows: %d %s in use, %d at the beginning" % (self.latest, UNIT, self.first))
