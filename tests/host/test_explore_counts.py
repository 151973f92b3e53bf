"""The explorer makes the same choices on Unix MicroPython as on CPython: the same states, runs and schedules."""

import os
import subprocess
import sys

import pytest

from tools import environment

PROGRAM = """
import sys
from explore import catalogue
for i in range(1, len(sys.argv), 2):
    result = catalogue.search(sys.argv[i], sys.argv[i + 1]).run()
    print(result.states, result.runs, result.schedules, result.failure)
"""
SEARCHES = (
    ("locks.early", "micropython-any"),
    ("locks.crosswise", "cpython-any"),
    ("tables.many_against_many", "micropython-any"),
    ("tables.at_once", "cpython-any"),
    ("deadlines.tidying", "micropython"),
    ("deadlines.tidying", "cpython"),
    ("lazies.slow_factory", "micropython"),
    ("lazies.closing", "cpython"),
)


def figures(command: list[str], variable: str) -> list[str]:
    path = f"{environment.ROOT / 'tests'}:{environment.ROOT / 'lib'}:.frozen"
    words = [word for search in SEARCHES for word in search]
    done = subprocess.run(
        [*command, "-c", PROGRAM, *words], capture_output=True, text=True, env={**os.environ, variable: path}
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()


def test_counts_are_the_same():
    vm = environment.find_vm()
    if vm is None:
        pytest.skip("no MicroPython: `python3 tools/dev.py test` installs it, or says how to get one")
    ours = figures([sys.executable], "PYTHONPATH")
    assert len(ours) == len(SEARCHES)
    assert figures([*vm, "-X", "heapsize=32M"], "MICROPYPATH") == ours
