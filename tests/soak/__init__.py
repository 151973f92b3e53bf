"""The soak: everything at once, at random, on virtual time, for as long as one likes.

A round (round.py) is a few tasks that use the stations (locks.py, lazies.py, buses.py) at random, with deadlines,
timeouts and cancellations. Now and then it pauses: all tasks end, everything must be at rest, and memory must be what
it was. A round is told by its seed alone, so the one that fails can be run again: `tools/dev.py soak --seed N`.
"""
