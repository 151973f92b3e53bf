"""tools/pico/prune.py: of a test module, what one test needs."""

import ast

import pytest

from tools import environment, testfile
from tools.pico import prune

TESTS = environment.ROOT / "tests"

MODULE = '''"""What it is."""

import sys
from support import clock
from support.turns import raises, turns
import patched.deep  # noqa: F401
from rig import A, Rig

CLOCK = "virtual"
FEW, MANY = 3, 300
sys.ready = FEW

try:
    import _thread
except ImportError:
    _thread = None


def deco(f):
    return f


class Base:
    limit = MANY


@deco
class Used(Base):
    def method(self):
        return helper()


def helper():
    return turns


def test_one():
    assert Used().method()


async def test_two():
    rig = Rig(A)
    raises(ValueError, rig)
    assert _thread is None
'''
RIG = """import asyncio
import far

A = 1
B = 2


class Rig:
    def wait(self):
        return asyncio.sleep


def unused():
    return far.away
"""


def names(source):
    """What the module's own statements give it."""
    found = set()
    for node in ast.parse(source).body:
        found |= prune._given(node)
    return found


def test_what_a_test_uses_stays_and_nothing_else():
    one = prune.prune(MODULE, {"test_one"})
    assert names(one) == {"sys", "turns", "patched", "FEW", "MANY", "deco", "Base", "Used", "helper", "test_one"}
    assert "raises" not in one and "What it is" not in one
    two = prune.prune(MODULE, {"test_two"})
    assert names(two) == {"sys", "raises", "patched", "A", "Rig", "FEW", "MANY", "_thread", "test_two"}


def test_statements_that_do_something_stay():
    assert "sys.ready = FEW" in prune.prune(MODULE, {"test_two"})


def test_every_line_keeps_its_number():
    lines = MODULE.splitlines()
    for number, line in enumerate(prune.prune(MODULE, {"test_one"}).splitlines()):
        assert line in ("", lines[number]) or line.startswith(("from", "import"))


def test_modules_beside_it_are_pruned_to_what_is_taken_from_them():
    sources = {"test_x.py": MODULE, "rig.py": RIG, "far.py": "x = 1\n"}
    pruned = prune.for_some(sources, "test_x", {"test_two"})
    assert set(pruned) == {"test_x.py", "rig.py"}
    assert names(pruned["rig.py"]) == {"asyncio", "A", "Rig"}
    assert set(prune.for_some(sources, "test_x", {"test_one"})) == {"test_x.py"}
    whole = MODULE.replace("from rig import A, Rig", "import rig\nfrom rig import Rig").replace("Rig(A)", "Rig(rig.B)")
    sources["test_x.py"] = whole
    pruned = prune.for_some(sources, "test_x", {"test_two"})
    assert pruned["rig.py"] == RIG
    assert pruned["far.py"] == sources["far.py"]


@pytest.mark.parametrize("path", sorted(TESTS.glob("test_*.py")), ids=lambda path: path.stem)
def test_of_tests_of_the_library_nothing_is_missing(path):
    """Whatever name a pruned module uses is given by it, if the whole module gives it."""
    file = testfile.read(path)
    if file.is_host:
        return
    source = file.source
    given = names(source)
    tests = [name.partition("[")[0] for name in file.tests]
    for test in {tests[0], tests[len(tests) // 2], tests[-1]}:
        pruned = prune.prune(source, {test})
        missing = (prune._used(ast.parse(pruned)) & given) - names(pruned)
        assert not missing, test
