"""Reads dumps of a trace into events, also damaged ones: what cannot be read is named in a remark, with its line.

Records begin with "~", so they are found among whatever else the board printed, and after half a line that was cut. An
event's time is counted from the event before: where one is lost, those after it may be too early, and a remark says so.
"""

import re
from collections.abc import Iterator

from tools.timeline.dump import EVENTS, KINDS, UNITS, WRAP, Dump, Event, Key, Remark, clean

FIELDS = {"unit", "wrap", "events", "lost", "at"}

# In the middle of a line only what has the whole form of a record begins one: a name may have a "~" in it.
_BEGIN = re.compile(r"~(?=buslock-trace \d|B\d+ \S|K\d+ B\d+ |T\d+ \S|[+-]\d+ [a-z]+ K\d|end \d+\s*$)")
_HEADER = re.compile(r"~buslock-trace(?: (\d{1,9}))?(.*)")
_BUS = re.compile(r"~B(\d{1,9}) (.+)")
_KEY = re.compile(r"~K(\d{1,9}) B(\d{1,9}) (\S+) (.+)")
_TASK = re.compile(r"~T(\d{1,9}) (.+)")
_EVENT = re.compile(r"~([+-]-?\d{1,15}) ([A-Za-z_]+) K(\d{1,9}) T(\d{1,9})(?: (-?\d{1,15})(?!\S))?(.*)")
_TIME = re.compile(r"~([+-]-?\d{1,15}) ")
_END = re.compile(r"~end (\d{1,9})\b")
_FIELD = re.compile(r"([a-z_]{1,20})=(\S+)")


def decode(data: bytes) -> str:
    """The text of a file; redirecting with ">" in an old PowerShell makes UTF-16 of it."""
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return data.decode("utf-16", "replace")
    return data.decode("utf-8-sig", "replace")


def parse(text: str | bytes) -> list[Dump]:
    """Every dump in the text, in order; none if there is no record in it."""
    reader = Reader()
    dumps = []
    for line in lines(decode(text) if isinstance(text, bytes) else text):
        dumps += reader.feed(line)
    return dumps + reader.close()


def lines(text: str) -> list[str]:
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


class Reader:
    """Takes lines one after the other, and gives each dump back when it is over."""

    def __init__(self):
        self.line = 0
        self.dump: Dump | None = None
        self.pending: list[Remark] = []  # of lines before the first record
        self._other = [0, 0]  # lines that are no records since the last dump, and the first of them
        self._clock = 0
        self._unknown: set[str] = set()

    def feed(self, line: str) -> list[Dump]:
        """The dumps that end with this line."""
        self.line += 1
        over = []
        for record in self._records(line):
            over += self._record(record)
        return over

    def close(self) -> list[Dump]:
        """The dump that has no end."""
        if self.dump is None:
            return []
        self._remark("the dump has no end line: it was cut, or is still being written")
        return self._finish()

    def _records(self, line: str) -> Iterator[str]:
        begins = [found.start() for found in _BEGIN.finditer(line)]
        if line.startswith("~") and 0 not in begins:
            begins.insert(0, 0)
        if not begins:
            if line.strip():
                self._other[0] += 1
                self._other[1] = self._other[1] or self.line
            return
        if line[: begins[0]].strip():
            self._remark(f"other output before the record, skipped: {_short(line[: begins[0]])}")
        if len(begins) > 1:
            self._remark(f"{len(begins)} records in one line, taken apart")
        for begin, end in zip(begins, [*begins[1:], len(line)], strict=True):
            yield line[begin:end].rstrip()

    def _record(self, record: str) -> list[Dump]:
        if record.startswith("~buslock-trace"):
            over = []
            if self.dump is not None:
                self._remark("another dump begins before the end of this one")
                over = self._finish()
            self._header(record)
            return over
        if found := _END.match(record):
            return self._end(int(found[1]))
        dump = self._current()
        if found := _EVENT.fullmatch(record):
            self._event(dump, found)
        elif found := _KEY.fullmatch(record):
            kind = found[3]
            if kind not in KINDS:
                self._remark(f"unknown kind of key {_short(kind)}, shown like a key")
            self._define(dump.keys, int(found[1]), Key(int(found[2]), kind, clean(found[4])))
        elif found := _BUS.fullmatch(record):
            self._define(dump.buses, int(found[1]), clean(found[2]))
        elif found := _TASK.fullmatch(record):
            self._define(dump.tasks, int(found[1]), clean(found[2]))
        else:
            self._damaged(dump, record)
        return []

    def _current(self) -> Dump:
        if self.dump is None:
            self._begin()
            self._remark("records without a header before them: taking the times for microseconds")
        assert self.dump is not None
        return self.dump

    def _begin(self) -> None:
        self.dump = Dump(self.line, remarks=self.pending)
        self.pending = []
        self._other = [0, 0]  # what a board prints before it is no loss
        self._clock = 0
        self._unknown = set()

    def _header(self, record: str) -> None:
        self._begin()
        dump = self._current()
        found = _HEADER.match(record)
        version, rest = (found[1], found[2]) if found else (None, "")
        if version not in (None, "1"):
            self._remark(f"version {version} of the format; this program knows version 1 and reads what it can")
        fields = dict(_FIELD.findall(rest))
        for name in sorted(fields.keys() - FIELDS):
            self._remark(f"unknown field {_short(name)} in the header, skipped")
        missing = [name for name in ("unit", "wrap", "events", "lost") if name not in fields]
        if missing or version is None:
            self._remark("the header is incomplete" + (f": no {', '.join(missing)}" if missing else ""))
        unit = fields.get("unit", "us")
        if unit not in UNITS:
            self._remark(f"unknown unit {_short(unit)}, taken for microseconds")
        dump.unit = unit if unit in UNITS else "us"
        dump.wrap = _number(fields.get("wrap")) or WRAP
        dump.lost = _number(fields.get("lost")) or 0
        dump.announced = _number(fields.get("events"))

    def _event(self, dump: Dump, found: re.Match) -> None:
        delta, name, key, task, value, rest = found.groups()
        if rest.strip():
            self._remark(f"text after the record, skipped: {_short(rest)}")
        self._advance(dump, delta)
        if name not in EVENTS and name not in self._unknown:
            self._unknown.add(name)
            self._remark(f"unknown event {_short(name)}, shown as a point")
        number = None if value is None else int(value)
        dump.events.append(Event(self._clock, name, int(key), int(task), number, self.line))

    def _advance(self, dump: Dump, delta: str) -> None:
        """More than half of the period is a step back: an interrupt's event can come between."""
        ticks = int(delta.replace("--", "-").replace("+-", "-").replace("-+", "-"))
        if not -dump.wrap < ticks < dump.wrap:
            self._remark(f"{ticks} ticks are more than their period of {dump.wrap}: taken modulo that")
        ticks %= dump.wrap
        if ticks > dump.wrap // 2:
            ticks -= dump.wrap
        self._clock += ticks * UNITS[dump.unit]

    def _damaged(self, dump: Dump, record: str) -> None:
        if found := _TIME.match(record):
            self._advance(dump, found[1])
            self._remark(f"a cut event, skipped (its time counts): {_short(record)}")
        elif record[1:2] in ("+", "-"):
            self._remark(f"a cut event, skipped; times after it may be too early: {_short(record)}")
        else:
            self._remark(f"not a record, skipped: {_short(record)}")

    def _define(self, names: dict, number: int, value) -> None:
        if names.setdefault(number, value) != value:
            self._remark(f"a second name for the same number, skipped: {_short(getattr(value, 'name', value))}")

    def _end(self, count: int) -> list[Dump]:
        if self.dump is None:
            self.pending.append(Remark(self.line, "an end line without a dump before it, skipped"))
            return []
        self.dump.complete = True
        self.dump.announced = count
        return self._finish()

    def _finish(self) -> list[Dump]:
        dump = self._current()
        self.dump = None
        read = len(dump.events)
        if dump.announced is not None and dump.announced != read:
            missing = dump.announced - read
            said = f"{missing} are missing" if missing > 0 else f"{-missing} too many"
            dump.remarks.append(Remark(self.line, f"{read} events were read of {dump.announced}: {said}"))
        if self._other[0]:
            dump.remarks.append(Remark(self._other[1], f"lines of other output, skipped: {self._other[0]}"))
            self._other = [0, 0]
        _name_the_undefined(dump)
        dump.remarks.sort(key=lambda remark: remark.line)
        return [dump]

    def _remark(self, text: str) -> None:
        (self.pending if self.dump is None else self.dump.remarks).append(Remark(self.line, text))


def _name_the_undefined(dump: Dump) -> None:
    for event in dump.events:
        if event.key not in dump.keys:
            # What an event says of its key goes a long way.
            kind = {"start": "wire", "end": "wire", "making": "lazy", "mark": "mark"}.get(event.name, "key")
            dump.keys[event.key] = Key(0, kind, f"K{event.key}")
            dump.remarks.append(Remark(event.line, f"K{event.key} is not defined: its name was lost"))
        if event.task and event.task not in dump.tasks:
            dump.tasks[event.task] = f"T{event.task}"
            dump.remarks.append(Remark(event.line, f"T{event.task} is not defined: its name was lost"))


def _number(text: str | None) -> int | None:
    return int(text) if text and re.fullmatch(r"\d{1,15}", text) else None


def _short(text: str) -> str:
    text = "".join(c if c.isprintable() else "?" for c in text.strip())
    return repr(text[:40] + ("…" if len(text) > 40 else ""))
