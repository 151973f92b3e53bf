"""A small, obvious parser of a trace's dump, and what an operation of an I2C bus tells: what the tests look at."""

import io

from buslock import Trace
from i2c_rig import Rig
from support import clock


class Dump:
    """`events` has tuples (ticks since the first, name, key, task, value or None); key is "kind text", task "" for none."""

    def __init__(self, trace):
        stream = io.StringIO()
        trace.dump(stream)
        self.text = stream.getvalue()
        lines = self.text.split("\n")
        assert lines.pop() == ""
        assert all(line.startswith("~") for line in lines), lines
        words = lines[0].split(" ")
        assert words[:2] == ["~buslock-trace", "1"]
        self.header = dict([word.split("=") for word in words[2:]])
        assert set(self.header) == {"unit", "wrap", "events", "lost", "at"}
        self.buses = {"B0": ""}
        self.keys = {}
        self.tasks = {"T0": ""}
        self.events = []
        at = 0
        for line in lines[1:-1]:
            words = line[1:].split(" ")
            if words[0][0] == "B":
                assert words[0] not in self.buses
                self.buses[words[0]] = " ".join(words[1:])
            elif words[0][0] == "K":
                assert words[0] not in self.keys and words[1] in self.buses
                self.keys[words[0]] = " ".join(words[2:])
            elif words[0][0] == "T":
                name = " ".join(words[1:])
                assert words[0] not in self.tasks and name not in self.tasks.values()
                self.tasks[words[0]] = name
            else:
                assert words[0][0] == "+"
                assert self.events or words[0] == "+0"
                at += int(words[0])
                value = int(words[4]) if len(words) > 4 else None
                self.events.append((at, words[1], self.keys[words[2]], self.tasks[words[3]], value))
        assert lines[-1] == "~end %d" % len(self.events)
        assert int(self.header["events"]) == len(self.events) >= len(trace)

    def short(self, *kinds):
        """["name key task value"], without times; with `kinds` only those of these kinds of key."""
        found = []
        for _, name, key, task, value in self.events:
            if not kinds or key.split(" ")[0] in kinds:
                text = "%s %s" % (name, " ".join(key.split(" ")[1:]))
                if task:
                    text += " " + task
                if value is not None:
                    text += " %d" % value
                found.append(text)
        return found


def events(trace, *kinds):
    return Dump(trace).short(*kinds)


def traced(kind=Rig, **arguments):
    """A rig with a trace of which the first event is to come; the running task is "main"."""
    trace = Trace()
    trace._now = clock.now_us
    trace.name("main")
    if kind is Rig:
        arguments["name"] = "i2c0"
    return trace, kind(trace=trace, **arguments)


def told(trace, *kinds):
    """The events since the last call."""
    found = events(trace, *kinds)
    trace.clear()
    return found


def transfer(length, task="main", error=0):
    """The wire, taken for one transfer."""
    wire = "i2c0 wire " + task
    return ["grant " + wire, "start %s %d" % (wire, length), "end %s %d" % (wire, error), "release " + wire]


def used(length, task="main", key="i2c0/0x10", error=0):
    """An operation with key and wire that waits for nobody."""
    return ["grant %s %s" % (key, task)] + transfer(length, task, error) + ["release %s %s" % (key, task)]
