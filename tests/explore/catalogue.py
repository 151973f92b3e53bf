"""All scenarios by name, the modes in which they run, and which of them are quick."""

import time

from .library import Library
from .scenarios import deadlines, lazies, locks, tables
from .search import Search, replay

# name: (runtime whose model it is, whether ready tasks run in any order and not only in the runtime's own)
MODES = {
    "micropython": ("micropython", False),
    "micropython-any": ("micropython", True),
    "cpython": ("cpython", False),
    "cpython-any": ("cpython", True),
}

_ALL = list(MODES)
_OWN_ORDER = ["micropython", "cpython"]
_ANY = ["micropython-any", "cpython-any"]
# The turns that MicroPython's deadlines take at their end multiply with any order of steps.
_NOT_ANY = ["micropython", "cpython", "cpython-any"]

# scenario: its modes in the full set. Any order includes the runtime's own, which is searched where any order breaks
# what a promise rests on, or has too many states.
FULL = {
    "locks.three_by_one": _ANY,
    "locks.three_by_two": _ANY,
    "locks.three_by_two_acquire": _ANY,
    "locks.four_by_one": _ANY,
    "locks.four_by_two": _ANY,
    "locks.five_by_one": _ANY,
    "locks.all_limited": _ANY,
    "locks.grabbers": _ANY,
    "locks.bounded": _ANY,
    "locks.early": _ANY,
    "locks.crosswise": _ANY,
    "tables.one_key": _ANY,
    "tables.readers_and_a_writer": _ANY,
    "tables.readers_and_writers": _ANY,
    "tables.meeting": _ANY,
    "tables.all_against_two": _ANY,
    "tables.many_against_all": _ANY,
    "tables.many_against_many": _ANY,
    "tables.two_alls": _ANY,
    "tables.passing": _ANY,
    "tables.crossing": _ANY,
    "tables.grabbers": _ANY,
    "tables.bounded": _ANY,
    "tables.at_once": _ANY,
    "tables.key_and_wire": _ANY,
    "deadlines.nested": _NOT_ANY,
    "deadlines.nested_twice_cancelled": _NOT_ANY,
    "deadlines.tie": _NOT_ANY,
    "deadlines.three_in_line": _NOT_ANY,
    "deadlines.wait_for": _ALL,
    "deadlines.inside_a_lock": _ALL,
    "deadlines.tidying": _ALL,
    "deadlines.zero": _OWN_ORDER,
    # On MicroPython a cancel that is on its way through a child is told from a deadline by the order of steps.
    "deadlines.over_a_child": _NOT_ANY,
    "lazies.callers": _ANY,
    "lazies.impatient": _OWN_ORDER,
    "lazies.slow_factory": _NOT_ANY,
    "lazies.closing": _ANY,
    "lazies.closing_with_two_cancels": _ANY,
    "lazies.closing_twice": _ANY,
    "lazies.stubborn": _ANY,
}

# What runs in the tests: seconds on CPython.
QUICK = {
    "locks.three_by_one": _ANY,
    "locks.three_by_two": ["micropython-any"],
    "locks.bounded": ["micropython-any"],
    "locks.early": ["micropython-any"],
    "locks.crosswise": ["cpython-any"],
    "tables.readers_and_a_writer": ["micropython-any"],
    "tables.all_against_two": ["micropython-any"],
    "tables.many_against_many": ["cpython-any"],
    "tables.crossing": ["micropython-any"],
    "deadlines.tidying": _OWN_ORDER,
    "deadlines.over_a_child": _OWN_ORDER,
    "lazies.slow_factory": _OWN_ORDER,
    "lazies.closing": _OWN_ORDER,
    "lazies.closing_twice": ["micropython-any"],
}

_GROUPS = {"locks": locks, "tables": tables, "deadlines": deadlines, "lazies": lazies}
_libraries = {}  # runtime: Library


def scenario(name):
    group, _, function = name.partition(".")
    return getattr(_GROUPS[group], function)


def library(runtime):
    if runtime not in _libraries:
        _libraries[runtime] = Library(runtime)
    return _libraries[runtime]


def search(name, mode, limit=None):
    """A Search, ready to run, of the library as it is."""
    runtime, any_order = MODES[mode]
    return Search(scenario(name), library(runtime), any_order, limit)


def explore(name, mode, limit=None):
    """Runs the search and prints its figures. AssertionError, after the failing schedule was printed step by step, if
    a promise is broken."""
    start = _ms()
    result = search(name, mode, limit).run()
    if result.failure is None:
        print(line(name, mode, result, (_ms() - start) / 1000))
        return result
    trace = result.failure.trace
    show(name, mode, trace)
    raise AssertionError("%s %s: %s; trace: %s" % (name, mode, result.failure.problem, trace))


def show(name, mode, trace):
    """Prints the steps of one schedule; what is wrong, or None."""
    runtime, any_order = MODES[mode]
    print("%s, %s: %s" % (name, mode, trace))
    return replay(scenario(name), library(runtime), trace, any_order)


def line(name, mode, result, seconds):
    schedules = str(result.schedules) if result.complete else "incomplete"
    return "%-34s %-16s %8d states %8d runs %14s schedules %6.1f s" % (
        name,
        mode,
        result.states,
        result.runs,
        schedules,
        seconds,
    )


def _ms():
    return time.ticks_ms() if hasattr(time, "ticks_ms") else time.monotonic_ns() // 1000000
