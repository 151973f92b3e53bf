"""Random sessions of a few tasks at a LockTable, each held against a plain table; a failing one is made short.

The engine is the explorer's: nothing is left to chance but what hypothesis chooses. The session that fails is printed
as text, and what that text does on Unix MicroPython stands beside it.
"""

import os
import subprocess
import sys

import pytest

from tools import environment

sys.path[:0] = [str(environment.ROOT / "lib"), str(environment.ROOT / "tests")]

from explore.library import Library  # noqa: E402
from explore.play import possible  # noqa: E402
from explore.session import TASKS, Session  # noqa: E402
from hypothesis import HealthCheck, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402
from hypothesis.configuration import set_hypothesis_home_dir  # noqa: E402
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule, run_state_machine_as_test  # noqa: E402

set_hypothesis_home_dir(environment.VENV / "hypothesis")
SETTINGS = settings(
    max_examples=100,
    stateful_step_count=40,
    deadline=None,
    database=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),  # pyright: ignore[reportArgumentType]
)
libraries = {}


class Sessions(RuleBasedStateMachine):
    runtime = ""

    def __init__(self):
        super().__init__()
        if self.runtime not in libraries:
            libraries[self.runtime] = Library(self.runtime)
        self.library = libraries[self.runtime]
        with self.library:
            self.session = Session(self.library)

    def choose(self, data, *names):
        """One of the operations that make sense now and begin with one of these words."""
        operations = [each for each in possible(self.session) if each.split()[0] in names]
        if operations:
            self.do(data.draw(st.sampled_from(operations)))

    def do(self, operation):
        with self.library:
            try:
                self.session.do(operation)
            except AssertionError as error:
                raise told(error, self.runtime, self.session.done) from None

    @rule(data=st.data())
    def hold(self, data):
        self.choose(data, "hold")

    @rule(data=st.data())
    def hold_more(self, data):
        self.choose(data, "many", "all")

    @rule(data=st.data())
    def try_hold(self, data):
        self.choose(data, "try")

    @precondition(lambda self: any(map(self.session.can_release, range(TASKS))))
    @rule(data=st.data())
    def release(self, data):
        self.choose(data, "release")

    @rule(data=st.data())
    def cancel(self, data):
        self.choose(data, "cancel")

    @rule()
    def step(self):
        self.do("step")

    @rule()
    def run_all(self):
        self.do("run")

    @rule()
    def time(self):
        self.do("time")

    def teardown(self):
        with self.library:
            try:
                self.session.finish()
            except AssertionError as error:
                raise told(error, self.runtime, self.session.done) from None
            finally:
                self.session.close()


def told(error, runtime, operations):
    text = " | ".join(operations[1:])  # the first is the session's own
    return AssertionError(f"{error}\nsession: {text}\nthe same on MicroPython: {on_micropython(runtime, text)}")


def on_micropython(runtime, text):
    vm = environment.find_vm()
    if vm is None:
        return "not tried: there is none"
    program = (
        "import sys; from explore import library, play; print(play.replay(library.Library(sys.argv[1]), sys.argv[2]))"
    )
    path = f"{environment.ROOT / 'tests'}:{environment.ROOT / 'lib'}:.frozen"
    done = subprocess.run(
        [*vm, "-c", program, runtime, text], capture_output=True, text=True, env={**os.environ, "MICROPYPATH": path}
    )
    return (done.stdout or done.stderr).strip().splitlines()[-1]


@pytest.mark.parametrize("runtime", ["micropython", "cpython"])
def test_table_behaves_as_a_plain_one(runtime):
    machine = type("Sessions", (Sessions,), {"runtime": runtime})
    run_state_machine_as_test(machine, settings=SETTINGS)
