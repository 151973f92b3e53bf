"""Each test of tests/test_contract.py can fail: wrong variants of the library, and the tests that find them out.

A variant is code that is put behind the end of modules of the library, in a copy. On CPython, where that is quick.
"""

import json
import subprocess
import sys

import pytest

from tools import assertions, environment, jobs, testfile

TESTS = environment.ROOT / "tests"
CONTRACT = testfile.read(TESTS / "test_contract.py")
EACH = CONTRACT.constants["EACH"]
OVER, HELD, OPERATIONS = EACH["over"], EACH["held"], EACH["operation"]

RUN = """
import sys
from support import clock_cpython
clock_cpython.GRACE_S = 0.01  # no other thread will wake a loop that is stuck
import runner
runner.run("test_contract", sys.argv[1:], "virtual")
"""

NOBODY_IS_IN = {
    "lock.py": """
def _take(self, holder, hold):
    self._holder = holder
    self._hold = hold
    return True

def __aenter__(self):
    self._holder = current_task()
    return DONE

def __aexit__(self, exc_type, exc, tb):
    self._holder = None
    return DONE

def release(self):
    self._holder = None

Lock._take, Lock.__aenter__, Lock.__aexit__, Lock.release = _take, __aenter__, __aexit__, release
""",
    "lockhold.py": """
def __aenter__(self):
    return self._enter()

def _drop(self):
    pass

LockHold.__aenter__, LockHold._drop = __aenter__, _drop
""",
    "table.py": """
def hold(self, key, timeout_ms=None, shared=False, _hold=LockTable.hold):
    return _hold(self, object(), timeout_ms, shared)

def _hold_of(self, task, key):
    return None

LockTable.hold, LockTable._hold_of = hold, _hold_of
""",
    "tablemore.py": """
def hold_many(table, keys, timeout_ms=None, shared=False):
    return table.hold(keys)

def hold_all(table, timeout_ms=None):
    return table.hold(None)
""",
}
LAST_COMES_FIRST = {
    "waitqueue.py": """
def grant(queue, _first=grant):
    queue._line.insert(0, queue._line.pop())
    return _first(queue)
"""
}
# The hand-over is put off by a turn, and whoever asks meanwhile has it.
WHO_ASKS_MEANWHILE = {
    "lock.py": """
import asyncio

def _advance(self, _now=Lock._advance):
    asyncio.get_running_loop().call_soon(_now, self)

Lock._advance = _advance
""",
    "table.py": """
import asyncio

def _advance(self, _now=Entry._advance):
    if self._line:
        asyncio.get_running_loop().call_soon(_now, self)
    else:
        _now(self)

def ask(table, hold, _ask=ask):
    entry = table._entries.get(hold._key)
    if isinstance(entry, Entry) and not entry.holds:
        entry.holds.append(hold)
        hold._task = current_task()
        return None
    return _ask(table, hold)

Entry._advance = _advance
""",
    "gate.py": """
import asyncio

def _drop(self):
    self._table._all = None
    self._table._shut = False
    asyncio.get_running_loop().call_soon(self._table._gate._advance)

AllHold._drop = _drop
""",
}
# Holds that consist of others give back what these have: not what a waiter was granted in vain.
IN_VAIN = {
    "holds.py": """
def _drop(self, _drop=BusHold._drop):
    if self._inner is None or not self._inner.cancelled:
        _drop(self)

BusHold._drop = _drop
""",
    "tablemore.py": """
def _drop(self):
    for hold in self._holds:
        if hold._task is not None and not hold.cancelled:
            hold._task = None
            hold._drop()

ManyHold._drop = _drop
""",
}
A_GRANT_THAT_IS_KEPT = IN_VAIN | {
    "lock.py": "Lock._give_back = lambda self, waiter: None\n",
    "table.py": "Entry._give_back = lambda self, waiter: None\n",
    "gate.py": "Gate._give_back = lambda self, waiter: None\n",
}
WAITS = """
_wait = wait

async def wait(queue, hold, holder, ms):
    %s
"""
A_CANCEL_THAT_IS_LOST = {
    "waitqueue.py": WAITS
    % """
    from .errors import LockTimeout
    import asyncio
    try:
        return await _wait(queue, hold, holder, ms)
    except asyncio.CancelledError:
        raise LockTimeout("lost")
"""
}
BOTH_GRANTED_AND_TOO_LATE = IN_VAIN | {
    "waitqueue.py": WAITS
    % """
    from .errors import LockTimeout
    start = ticks_ms()
    result = await _wait(queue, hold, holder, ms)
    if ms is not None and ticks_diff(ticks_ms(), start) >= ms - 1:
        if hold is not None:
            hold.cancelled = True
        raise LockTimeout("late")
    return result
"""
}
A_LIMIT_THAT_IS_FORGOTTEN = {"waitqueue.py": WAITS % "return await _wait(queue, hold, holder, ms and None)"}
WAITING_WITHOUT_TIME = {"waitqueue.py": WAITS % "return await _wait(queue, hold, holder, ms or None)"}
KEPT_AFTER = """
import sys

def _kept(cls, how):
    given_back = cls.__aexit__

    def __aexit__(self, exc_type, exc, tb):
        return DONE if exc_type is not None and issubclass(exc_type, how) else given_back(self, exc_type, exc, tb)

    cls.__aexit__ = __aexit__
"""


def kept_after(how):
    """Holds that are not given back when that ends them."""
    return {
        "holding.py": f"{KEPT_AFTER}\n_kept(Hold, {how})\n",
        "lock.py": f"{KEPT_AFTER}\n_kept(Lock, {how})\n",
        "table.py": f"{KEPT_AFTER}\n_kept(KeyHold, {how})\n",
    }


def not_released_after(how):
    """Operations whose key is kept when that ends them."""
    return {
        "holding.py": f"""
import sys

def release(self, _release=Hold.release):
    if not (sys.exc_info()[0] and issubclass(sys.exc_info()[0], {how})):
        _release(self)

Hold.release = release
""",
    }


RELEASED_IN_VAIN = {
    "holding.py": "Hold.release = lambda self: None\n",
    "lock.py": "Lock.release = lambda self: None\n",
}
ENTERED_AGAIN = {
    "holding.py": "Hold._refuse = lambda self: None\n",
    "table.py": """
def _enter(self):
    self._task = None
    queue = ask(self._table, self)
    return given(self) if queue is None else wait(queue, self, current_task(), self._timeout)

KeyHold._enter = _enter
""",
}
ITS_OWN_IS_NOT_SEEN = {"table.py": "LockTable._hold_of = lambda self, task, key: None\n"}

CANCEL = "__import__('asyncio').CancelledError"
# Who occupies the others has something else than those who wait, and stands behind them when it asks for that.
ONE_LINE = tuple(name for name in OVER if "_of_" not in name)
BLOCKS = tuple(name for name in OVER if name not in ("call", "exchange"))

# (what is wrong, the test, over what, the variant)
VARIANTS = [
    ("nobody is ever in", "test_exclusion", OVER, NOBODY_IS_IN),
    ("the last one comes first", "test_first_come_first_served", OVER, LAST_COMES_FIRST),
    ("who asks meanwhile has it", "test_who_asks_again_comes_last", ONE_LINE, WHO_ASKS_MEANWHILE),
    ("a grant is kept by a cancelled waiter", "test_cancelled_when_it_is_handed_over", OVER, A_GRANT_THAT_IS_KEPT),
    ("a cancel of a waiter is lost", "test_cancelled_at_each_await", OVER, A_CANCEL_THAT_IS_LOST),
    ("a cancelled block keeps it", "test_cancelled_at_each_await", BLOCKS, kept_after(CANCEL)),
    ("granted and too late", "test_a_time_limit_that_ends_with_the_hand_over", OVER, BOTH_GRANTED_AND_TOO_LATE),
    ("a limit is forgotten", "test_a_time_out", OVER, A_LIMIT_THAT_IS_FORGOTTEN),
    ("0 waits", "test_no_time_at_all", OVER, WAITING_WITHOUT_TIME),
    ("a block that fails keeps it", "test_an_error_inside", BLOCKS, kept_after("Exception")),
    ("an operation that fails keeps it", "test_an_error_inside", ("call", "exchange"), not_released_after("Exception")),
    ("release() does nothing", "test_released_early", HELD, RELEASED_IN_VAIN),
    ("nobody is ever in", "test_taken_twice", HELD, NOBODY_IS_IN),
    ("a hold is entered again", "test_a_hold_is_for_one_block", HELD[1:], ENTERED_AGAIN),
    ("the own hold is not seen", "test_under_the_own_hold", OPERATIONS, ITS_OWN_IS_NOT_SEEN),
]


def outcomes(folder, items) -> dict[str, dict]:
    """The runner's events of these items, with the library in that folder; each in the same process."""
    (folder / "test_contract.py").write_text(assertions.rewrite(CONTRACT.source), encoding="utf-8")
    path = ":".join(map(str, (folder, TESTS, environment.ROOT / "lib")))
    done = subprocess.run(
        [sys.executable, "-c", RUN, *items], env={"PYTHONPATH": path}, capture_output=True, text=True, timeout=120
    )
    events = [json.loads(line.partition(jobs.MARK)[2]) for line in done.stdout.splitlines() if jobs.MARK in line]
    return {event["test"]: event for event in events if event["event"] in ("test-pass", "test-fail")}


def copy_of_library(folder, variant):
    source = environment.ROOT / "lib" / "buslock"
    (folder / "buslock").mkdir()
    for path in source.glob("*.py"):
        text = path.read_text(encoding="utf-8") + variant.get(path.name, "")
        (folder / "buslock" / path.name).write_text(text, encoding="utf-8")


@pytest.mark.parametrize(
    ("test", "over", "variant"), [v[1:] for v in VARIANTS], ids=[f"{v[1]}: {v[0]}" for v in VARIANTS]
)
def test_finds(test, over, variant, tmp_path):
    copy_of_library(tmp_path, variant)
    items = [f"{test}[{name}]" for name in over]
    seen = outcomes(tmp_path, items)
    assert sorted(seen) == sorted(items)
    assert [item for item in items if seen[item]["event"] == "test-pass"] == []


def test_all_pass_with_the_library_itself(tmp_path):
    copy_of_library(tmp_path, {})
    tests = {test for _, test, _, _ in VARIANTS}
    items = [item for item in CONTRACT.tests if item.partition("[")[0] in tests and item.endswith(("[key]", "[call]"))]
    seen = outcomes(tmp_path, items)
    assert {seen[item]["event"] for item in items} == {"test-pass"}
    assert len(seen) == len(items)


def test_no_test_is_without_a_variant():
    tests = {item.partition("[")[0] for item in CONTRACT.tests} - {"test_all_are_there"}
    assert tests == {test for _, test, _, _ in VARIANTS}
