"""The explorer: every interleaving of a few tasks over the real lock code.

A scenario (scenarios/) is a few tasks that use a Lock, a LockTable, a deadline or a Lazy. The library's own modules
run, its `_rt` included, on a model of the runtime behind them (micropython_model, cpython_model) in which nothing
happens by itself: which task takes the next step, whether a timer is due before that, whether a cancellation arrives
here, is a choice. The search (search.py) makes every choice, one after the other, and remembers the states it has seen
(fingerprint.py). After each step the promises are checked (ledger.py, world.py, structure.py).

What must not be missed is tried out with wrong variants of the library (variants/). Random sessions at a table
(session.py, play.py) are held against one that is as plain as can be (plain.py).

A schedule is written as the choices that were not forced, such as `r r t c1 r`:

    r    the task that is next in the runtime's own order takes a step    r2   task 2 takes a step (order "any")
    t    time goes on until the next timer is due                         c1   task 1 is cancelled
    x0   the scenario's own choice number 0, of those it offers

Nothing here needs CPython: the same search runs on Unix MicroPython, with the same counts.
"""
