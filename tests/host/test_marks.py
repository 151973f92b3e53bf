"""The copy of the library that notes its statements: it does the same, and tells which have run."""

import sys

import pytest

from tools import environment
from tools.coverage import marks
from tools.coverage.command import ranges

sys.path.insert(0, str(environment.ROOT / "tests"))

SOURCE = '''\
"""A docstring."""

LIMIT = 2


def classify(n):
    """Another."""
    global LIMIT
    if n < 0:
        return "negative"
    elif n > LIMIT:
        result = "large"
    else:
        try:
            result = ["none", "one", "two"][n]
        except IndexError:
            result = "?"
        finally:
            n = None
    return result
'''


def test_statements_that_run_are_noted():
    import support.marks

    support.marks._modules.pop("sample", None)
    source, lines = marks.marked(SOURCE, "sample")
    assert sorted(set(lines)) == [3, 6, 9, 10, 11, 12, 14, 15, 17, 19, 20]
    namespace = {}
    exec(source, namespace)
    assert namespace["__doc__"] == "A docstring."
    assert namespace["classify"].__doc__ == "Another."
    assert [namespace["classify"](n) for n in (1, 5)] == ["one", "large"]
    seen = support.marks._modules["sample"]
    assert sorted({line for line, bit in zip(lines, seen, strict=True) if not bit}) == [10, 17]


def test_what_no_process_has_seen_is_missing(tmp_path):
    (tmp_path / "1.json").write_text('{"runtime": "a", "seen": {"one": "1000"}}')
    (tmp_path / "2.json").write_text('{"runtime": "a", "seen": {"one": "0010"}}')
    (tmp_path / "3.json").write_text('{"runtime": "b", "seen": {}}')
    assert marks.missing(tmp_path, {"one.py": [1, 2, 2, 5]}) == {"a": {"one.py": [2, 5]}, "b": {"one.py": [1, 2, 5]}}


@pytest.mark.parametrize("numbers, text", [([], ""), ([3], "3"), ([1, 2, 3, 7, 9, 10], "1-3, 7, 9-10")])
def test_ranges(numbers, text):
    assert ranges(numbers) == text
