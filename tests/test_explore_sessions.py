"""Random sessions of a few tasks at a LockTable, held against a plain table: see tests/explore/session.py."""

from explore.library import Library
from explore.play import play, replay

RUNTIMES = ("micropython", "cpython", "pico")
LEFT_OUT = {"pico": "too slow on an emulated board: thousands of schedules"}
TIME_LIMIT = 240  # seconds, of a busy machine
SESSIONS = 60


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
