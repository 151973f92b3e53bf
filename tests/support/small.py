"""Where there is little memory and time: on a board, emulated or not."""

import sys

SMALL = sys.platform in ("rp2", "RP2040", "esp32", "esp8266")
KEPT = 150 if SMALL else 1000  # entries of a wire's transcript, which take 100 bytes each
SEVENTH = 7  # of what a desk goes through from end to end a board tries one in so many
_begun = 0  # of these


def every(n, few=5):
    """The numbers up to n; on a board a `few` of them, the first and the last too."""
    if not SMALL:
        return range(n)
    return [i * (n - 1) // (few - 1) for i in range(few)]


def samples(first=0, step=1):
    """Where something is to strike, until there is nothing left: first, first + step, and so on.

    On a board one in seven of these, and from another one each time, so that together they meet all.
    """
    if SMALL:
        first += step * _another()
        step *= SEVENTH
    while True:
        yield first
        first += step


def some(items):
    """All of them; on a board one in seven, and from another one each time."""
    return items[_another() % len(items) :: SEVENTH] if SMALL else items


def sampled(n):
    """Is the n-th of many combinations tried? On a board one in seven is."""
    return not SMALL or n % SEVENTH == 0


def _another():
    global _begun
    _begun += 1
    return (_begun - 1) % SEVENTH


def few_ports(*names):
    """Of the ports that the simulator imitates, those that are tried here: on a board its own and CircuitPython's."""
    if not SMALL:
        return names
    return tuple([name for name in names if name in ("rp2", "circuitpython")])
