"""The rewriting of assertions: same meaning, same lines, and values in the message."""

import sys
import types

import pytest
from support import checks

from tools import assertions


def run(body: str, **names):
    """Runs a function with this body, rewritten, and returns the message of its AssertionError, or None."""
    source = "def test():\n" + "".join(f"    {line}\n" for line in body.splitlines())
    rewritten = assertions.rewrite(source)
    assert len(rewritten.splitlines()) == len(source.splitlines())
    assert "_check_" in rewritten or "_true_" in rewritten or "_false_" in rewritten
    module = types.ModuleType("rewritten")
    checks.install(module)
    vars(module).update(names)
    exec(compile(rewritten, "rewritten.py", "exec"), vars(module))
    try:
        module.test()
    except AssertionError as e:
        return str(e)
    return None


@pytest.mark.parametrize(
    ("operator", "good", "bad"),
    [
        ("==", (1, 1), (1, 2)),
        ("!=", (1, 2), (1, 1)),
        ("<", (1, 2), (2, 2)),
        ("<=", (2, 2), (3, 2)),
        (">", (2, 1), (2, 2)),
        (">=", (2, 2), (2, 3)),
        ("is", (None, None), ([], [])),
        ("is not", ([], []), (None, None)),
        ("in", (1, [1]), (2, [1])),
        ("not in", (2, [1]), (1, [1])),
    ],
)
def test_every_comparison(operator, good, bad):
    body = f"assert a {operator} b"
    assert run(body, a=good[0], b=good[1]) is None
    message = run(body, a=bad[0], b=bad[1])
    assert message == f"assert a {operator} b\n  left:  {bad[0]!r}\n  right: {bad[1]!r}"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("assert []", "assert []\n  value: []"),
        ("assert not [1]", "assert not [1]\n  value: [1]"),
        ("assert 1 < 3 < 2", "assert 1 < 3 < 2\n  value: False"),
        ("assert 0 or ''", "assert 0 or ''\n  value: ''"),
        ("assert (1 or 2) == 2", "assert (1 or 2) == 2\n  left:  1\n  right: 2"),
        ("assert (x := 3) == 4, x", "assert (x := 3) == 4\n  left:  3\n  right: 4\n  3"),
        ("assert 1 == 2, 'of %d' % 3", "assert 1 == 2\n  left:  1\n  right: 2\n  of 3"),
        ("assert (\n  1  # one\n  ==\n  2\n)", "assert 1 # one == 2\n  left:  1\n  right: 2"),
        ("assert 1 == \\\n  2", "assert 1 == \\ 2\n  left:  1\n  right: 2"),
        ("x = 'ü'; assert 'ü' == x + 'a'", "assert '\u00fc' == x + 'a'\n  left:  'ü'\n  right: 'üa'"),
        ("if 1: assert 1 == 2; x = 3", "assert 1 == 2\n  left:  1\n  right: 2"),
        ("assert '''a\nb''' == 1", "assert '''a b''' == 1\n  left:  'a\\n    b'\n  right: 1"),
        ("assert (lambda: 1)() == 2", "assert (lambda: 1)() == 2\n  left:  1\n  right: 2"),
        ("assert all(i for i in [1, 0])", "assert all(i for i in [1, 0])\n  value: False"),
    ],
)
def test_forms(body, message):
    assert run(body) == message


def test_each_operand_is_evaluated_once_and_the_message_only_when_needed():
    calls = []
    count = lambda x: calls.append(x) or x  # noqa: E731
    assert run("assert count(1) == count(1), count('message')", count=count) is None
    assert calls == [1, 1]


def test_lines_after_a_long_assertion_keep_their_number():
    source = "def test():\n    assert (\n        1\n        == 1\n    )\n    raise ValueError\n"
    namespace = {"_check_": checks.check, "_note_": checks.note}
    exec(compile(assertions.rewrite(source), "rewritten.py", "exec"), namespace)
    try:
        namespace["test"]()
    except ValueError:
        traceback = sys.exc_info()[2]
        assert traceback is not None and traceback.tb_next is not None
        assert traceback.tb_next.tb_lineno == 6


def test_what_cannot_be_rewritten_is_left_alone():
    for source in ("assert 1 == 2\n", "def test():\n    assert False, 'plain'\n", "class A:\n    assert 1 == 1\n"):
        assert assertions.rewrite(source) == source


def test_long_and_broken_values_are_cut():
    class Broken:
        def __repr__(self):
            raise RuntimeError

    message = run("assert a == b", a="x" * 1000, b=Broken())
    assert message is not None
    assert "... (1002 characters)" in message
    assert "<Broken, its repr raised RuntimeError>" in message
