"""From events to spans: what waited, held and used the wire from when to when, and who stood in the way."""

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field

from tools.timeline.dump import EVENTS, Dump, Event, Key

# The event that begins a span, its kind, and what the events that end it say of it.
BEGINS = {
    "wait": "wait",
    "grant": "hold",
    "start": "transfer",
    "select": "select",
    "enable": "drive",
    "recover": "recover",
    "making": "making",
}
ENDS = {
    "timeout": ("wait", "timed out"),
    "cancel": ("wait", "cancelled"),
    "reject": ("wait", "rejected"),
    "release": ("hold", ""),
    "end": ("transfer", ""),
    "deselect": ("select", ""),
    "disable": ("drive", ""),
    "recovered": ("recover", ""),
    "ready": ("making", ""),
    "failed": ("making", "failed"),
}
SPANS = ("wait", "hold", "transfer", "select", "drive", "recover", "making", "block")
BAD = ("timed out", "rejected", "failed", "error")
OPEN = "not over yet"


@dataclass(slots=True, eq=False)
class Span:
    kind: str
    key: int
    task: int
    start: int
    end: int
    value: int | None = None  # wait: tasks before it; transfer: bytes; block: ms
    result: str = ""
    error: int = 0  # errno of a transfer or a recovery
    cut: bool = False  # its beginning was lost
    device: int = 0  # the key for which a transfer was made
    behind: tuple[int, ...] = ()  # the tasks that held what a wait was for

    @property
    def length(self) -> int:
        return self.end - self.start

    @property
    def bad(self) -> bool:
        return self.result.startswith(BAD)


@dataclass(frozen=True, slots=True)
class Point:
    kind: str
    key: int
    task: int
    at: int
    value: int | None = None


@dataclass
class Timeline:
    dump: Dump
    end: int = 0  # µs; it begins at 0
    spans: list[Span] = field(default_factory=list)  # by their start
    points: list[Point] = field(default_factory=list)

    def of(self, kind: str) -> list[Span]:
        return [span for span in self.spans if span.kind == kind]

    def key(self, number: int) -> Key:
        return self.dump.key(number)

    def key_name(self, number: int) -> str:
        """`i2c0/0x48`, `i2c0 wire`, `i2c0 (all)`."""
        key = self.dump.key(number)
        return f"{key.name} (all)" if key.kind == "all" and "all" not in key.name else key.name

    def task_name(self, number: int) -> str:
        return self.dump.task(number)


def build(dump: Dump) -> Timeline:
    return _Replay(dump).timeline()


def duration(us: float) -> str:
    """`820 µs`, `12.4 ms`, `3.21 s`."""
    for unit, size in (("s", 1_000_000), ("ms", 1000)):
        if abs(us) >= size:
            value = us / size
            digits = 2 if abs(value) < 10 else 1 if abs(value) < 100 else 0
            return f"{value:.{digits}f} {unit}"
    return f"{us:.0f} µs"


def overlapping(spans: list[Span], start: int, end: int) -> Iterator[Span]:
    """Those of the spans, sorted by start and short of one another, that share time with start..end."""
    place = bisect_left(spans, end, key=lambda span: span.start)
    for span in reversed(spans[max(0, place - 64) : place]):  # shared holds overlap; 64 at once is plenty
        if span.end > start:
            yield span


def queue(waits: list[Span]) -> list[tuple[int, int]]:
    """The number of waiting tasks as steps: (time, number from then on)."""
    changes: dict[int, int] = {}
    for wait in waits:
        changes[wait.start] = changes.get(wait.start, 0) + 1
        changes[wait.end] = changes.get(wait.end, 0) - 1
    steps = []
    number = 0
    for at in sorted(changes):
        if changes[at]:
            number += changes[at]
            steps.append((at, number))
    return steps


class _Replay:
    def __init__(self, dump: Dump):
        self.dump = dump
        # An interrupt's event can stand behind those that came after it.
        self.events = sorted(dump.events, key=lambda event: event.at)
        self.origin = self.events[0].at if self.events else 0
        self.spans: list[Span] = []
        self.points: list[Point] = []
        self.open: dict[tuple[str, int], list[Span]] = {}
        self.begun: set[tuple[str, int, int]] = set()  # kind, key and task

    def timeline(self) -> Timeline:
        for event in self.events:
            self._event(event, event.at - self.origin)
        end = self.events[-1].at - self.origin if self.events else 0
        for spans in self.open.values():
            for span in spans:
                span.end, span.result = end, OPEN
        # Longer ones first, so that what is inside a span comes after it.
        self.spans.sort(key=lambda span: (span.start, -span.end))
        _find_blockers(self.dump, self.spans)
        _find_devices(self.dump, self.spans)
        return Timeline(self.dump, end, self.spans, self.points)

    def _event(self, event: Event, at: int) -> None:
        name = event.name
        if name == "grant":
            self._end("wait", event, at, "granted")
        if kind := BEGINS.get(name):
            self._begin(kind, event, at)
        elif name in ENDS:
            kind, result = ENDS[name]
            self._end(kind, event, at, result)
        elif name == "block":
            length = max(0, event.value or 0) * 1000
            span = Span("block", event.key, event.task, max(0, at - length), at, event.value)
            span.cut = at < length
            self.spans.append(span)
        if name in ("timeout", "reject", "cancel", "close", "closed", "mark") or name not in EVENTS:
            self.points.append(Point(name, event.key, event.task, at, event.value))

    def _begin(self, kind: str, event: Event, at: int) -> None:
        span = Span(kind, event.key, event.task, at, at, event.value)
        self.spans.append(span)
        self.open.setdefault((kind, event.key), []).append(span)
        self.begun.add((kind, event.key, event.task))

    def _end(self, kind: str, event: Event, at: int, result: str) -> None:
        spans = self.open.get((kind, event.key), [])
        span = next((span for span in spans if span.task == event.task), None)
        if span is None and kind != "wait" and spans:
            span = spans[0]  # another task ended it, or none
        if span is not None:
            spans.remove(span)
        elif event.name not in ("grant", "reject") and (kind, event.key, event.task) not in self.begun:
            # From before the trace. A task that was handed a key and cancelled before it ran has a grant, a release and
            # only then a cancel: that is the end of nothing.
            span = Span(kind, event.key, event.task, 0, at, cut=True)
            self.spans.append(span)
        else:
            return
        span.end, span.result = at, result
        if event.name in ("end", "recovered", "failed") and event.value:
            span.error = event.value
            span.result = f"error {event.value}" if event.value != -1 else "error"


def _find_blockers(dump: Dump, spans: list[Span]) -> None:
    """Who held it while a task waited. A hold of the whole table stands in the way of each key, and each key in its."""
    holds: dict[int, list[Span]] = {}
    for span in spans:
        if span.kind == "hold":
            holds.setdefault(span.key, []).append(span)
    alls = {key.bus: number for number, key in dump.keys.items() if key.kind == "all"}
    for wait in spans:
        if wait.kind != "wait" or not wait.length:
            continue
        key = dump.key(wait.key)
        if key.kind == "all":
            keys = [number for number in holds if dump.key(number).bus == key.bus and dump.key(number).kind != "wire"]
        else:
            keys = [wait.key, alls[key.bus]] if key.kind == "key" and key.bus in alls else [wait.key]
        shares: dict[int, int] = {}
        for number in keys:
            for hold in overlapping(holds.get(number, []), wait.start, wait.end):
                share = min(hold.end, wait.end) - max(hold.start, wait.start)
                shares[hold.task] = shares.get(hold.task, 0) + share
        wait.behind = tuple(sorted(shares, key=lambda task: -shares[task]))


def _find_devices(dump: Dump, spans: list[Span]) -> None:
    """For which device a task used the wire: the key of that bus that it held then."""
    held: dict[tuple[int, int], list[Span]] = {}
    for span in spans:
        place = (span.task, dump.key(span.key).bus)
        if span.kind == "hold" and dump.key(span.key).kind == "key":
            held.setdefault(place, []).append(span)
        elif span.kind == "transfer":
            for hold in reversed(held.get(place, [])[-8:]):
                if hold.end >= span.end:
                    span.device = hold.key
                    break
