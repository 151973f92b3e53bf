"""What an `assert` of a test becomes, so that a failing one shows values where the VM's own shows none.

The host puts `assert _check_("==", a, b, "a == b"), _note_("message")` in the place of `assert a == b, "message"`
(tools/assertions.py). Each operand is evaluated once, in its own place, and the message only when it is needed.
"""

LONGEST = 400  # characters shown of one value

_text = ""


def check(operator, left, right, source):
    """Whether `left operator right` holds; if not, the text for note() is kept."""
    global _text
    if operator == "==":
        good = left == right
    elif operator == "!=":
        good = left != right
    elif operator == "<":
        good = left < right
    elif operator == "<=":
        good = left <= right
    elif operator == ">":
        good = left > right
    elif operator == ">=":
        good = left >= right
    elif operator == "is":
        good = left is right
    elif operator == "is not":
        good = left is not right
    elif operator == "in":
        good = left in right
    elif operator == "not in":
        good = left not in right
    else:
        raise ValueError(operator)
    if not good:
        _text = "assert " + source + "\n  left:  " + shown(left) + "\n  right: " + shown(right)
    return good


def check_true(value, source):
    """Whether the value counts as true."""
    global _text
    if not value:
        _text = "assert " + source + "\n  value: " + shown(value)
        return False
    return True


def check_false(value, source):
    """Whether the value counts as false; source is the whole condition, with its `not`."""
    global _text
    if value:
        _text = "assert " + source + "\n  value: " + shown(value)
        return False
    return True


def note(*message):
    """The text of the check that failed last, with the test's own message if it has one."""
    if not message:
        return _text
    return _text + "\n  " + str(message[0])


def shown(value):
    try:
        text = repr(value)
    except Exception as e:  # a broken __repr__ must not hide the failure it is shown for
        text = "<" + type(value).__name__ + ", its repr raised " + type(e).__name__ + ">"
    if len(text) > LONGEST:
        text = text[:LONGEST] + "... (" + str(len(text)) + " characters)"
    return text


def install(module):
    """Gives a test module the names that its rewritten assertions use."""
    module._check_ = check
    module._true_ = check_true
    module._false_ = check_false
    module._note_ = note
