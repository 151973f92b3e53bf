"""Random sessions of a few tasks at a LockTable, held against a plain table: see tests/explore/session.py."""

import sys

from explore.library import Library
from explore.session import Session, replay

RUNTIMES = ("micropython", "cpython")
SESSIONS = 60
OPERATIONS = 40


def numbers(seed):
    """The same everywhere."""
    while True:
        seed = (seed * 1103515245 + 12345) & 0x7FFFFFFF
        yield seed >> 8


def play(library, seed):
    chance = numbers(seed)
    with library:
        session = Session(library)
        try:
            for _ in range(OPERATIONS):
                operations = session.possible()
                # The first three let tasks run and time pass.
                session.do(operations[next(chance) % (3 if next(chance) % 3 == 0 else len(operations))])
            session.finish()
        except AssertionError as error:
            raise AssertionError("seed %d: %s\nsession: %s" % (seed, error, " | ".join(session.done[1:])))
        finally:
            session.close()
    return session.events


def test_sessions_on_the_model_of_micropython():
    library = Library("micropython")
    assert len([event for seed in range(SESSIONS) for event in play(library, seed)]) > 500


def test_sessions_on_the_model_of_cpython():
    library = Library("cpython")
    assert len([event for seed in range(SESSIONS) for event in play(library, seed)]) > 500


def test_a_session_runs_again_from_its_text():
    for runtime in ("micropython", "cpython"):
        events = replay(
            Library(runtime),
            "hold 0 a | hold 1 a 5 | all 2 | hold 3 b | run | try 0 b | run | time | run | cancel 2 | run",
        )
        assert events == [
            "0 has a",
            "0 tries: True",  # a holder passes the waiting hold_all
            "1 is late",
            "2 is cancelled",
            "0 releases",
            "3 has b",
            "0 releases",
            "3 releases",
        ]
