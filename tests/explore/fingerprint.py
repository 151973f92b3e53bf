"""A state of a run as a number: two runs with the same number go on in the same way.

Walks the library's own objects, whatever their attributes are, so that it need not be told when those change. What no
decision depends on is left out: statistics, loops, functions. So are most times: how long a task still waits is in the
model's part, as the time until its timer is due.
"""

import hashlib

LEFT_OUT = (
    "since",
    "_since",
    "_world",
    "loop",
    "_loop",
    "_peak",
    "_longest",
    "_counts",
    "_before",
    "behind",
    "_calls",
    "_failures",
    "_last_ms",
    "_pool",
    "name",
    "number",
    "due",
)


class Fingerprint:
    """`passed(ticks)` is the time since then in ms."""

    def __init__(self, passed):
        self._passed = passed
        self._parts = []
        self._seen = {}

    def number(self):
        digest = hashlib.sha256(self.text().encode()).digest()
        return int.from_bytes(digest[:7], "big")

    def text(self):
        return " ".join(self._parts)

    def add(self, x):
        out = self._parts.append
        kind = type(x)
        if kind is str:
            out(x)
        elif x is None or kind is bool or kind is int:
            out(str(x))
        elif kind is list or kind is tuple:
            out("(")
            for item in x:
                self.add(item)
            out(")")
        elif kind is dict:
            out("{")
            for name, key in sorted([(_name(key), key) for key in x], key=_first):
                out(name)
                self.add(x[key])
            out("}")
        elif kind.__name__ == "Task":
            out("T%d" % x.number)  # what it is at is in the model's own part
        elif isinstance(x, BaseException):
            out("!" + kind.__name__)
            self.add(x.args)
        elif isinstance(x, type):
            out(x.__name__)
        elif hasattr(x, "__dict__") and not callable(x):
            self._add_object(x)
        else:
            out("?")

    def _add_object(self, x):
        seen = self._seen.get(id(x))
        if seen is not None:
            self._parts.append("#%d" % seen)
            return
        self._seen[id(x)] = len(self._seen)
        self._parts.append("<" + type(x).__name__)
        attributes = x.__dict__
        for name in sorted(attributes):
            if name not in LEFT_OUT:
                self._parts.append(name)
                self.add(attributes[name])
            elif name == "_since" and attributes.get("_retry_ms"):
                # A failed Lazy is not tried again before its time.
                self.add(min(self._passed(attributes[name]), attributes["_retry_ms"]))
        self._parts.append(">")


def _first(pair):
    return pair[0]


def _name(key):
    return "T%d" % key.number if type(key).__name__ == "Task" else repr(key)
