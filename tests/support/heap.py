"""A heap that is full but for some blocks, on MicroPython: whatever is allocated then fails sooner or later.

With the collector off, an allocation that finds no room raises MemoryError at once. One run with no block left, one
with one more, and so on until nothing fails: that is a failure at each allocation of what is run.
"""

import gc

BLOCK = 32  # bytes, on 64 bits
_big = [None] * 4000
_chain = None
_hole = None


def fill(blocks, collect=True):
    """Leave so many blocks in a row (and a handful, which the call itself took). Without `collect` the collector stops."""
    global _chain, _hole
    _hole = bytearray(blocks * BLOCK)
    gc.collect()
    gc.disable()
    n = 0
    size = 1 << 24
    while size > BLOCK:
        try:
            while True:
                _big[n] = bytearray(size)
                n += 1
        except MemoryError:
            size >>= 1
    for _ in range(3):  # the errors above were allocated, too
        gc.collect()
        try:
            while True:
                _chain = (_chain, None)
        except MemoryError:
            pass
    _hole = None
    gc.collect()
    if collect:
        gc.enable()


def empty():
    """There is room again."""
    global _chain
    _chain = None
    for i in range(len(_big)):
        _big[i] = None
    gc.enable()
    gc.collect()
