"""What a dump of a trace holds: its events, and the names of their keys and tasks."""

from dataclasses import dataclass, field

EVENTS = {
    *(
        "wait",
        "grant",
        "timeout",
        "cancel",
        "reject",
        "release",
        "start",
        "end",
        "select",
        "deselect",
        "enable",
        "disable",
    ),
    *("recover", "recovered", "making", "ready", "failed", "close", "closed", "block", "mark"),
}
KINDS = {"key", "wire", "all", "lazy", "bus", "mark"}
UNITS = {"us": 1, "ms": 1000}  # microseconds in one
WRAP = 1 << 30


@dataclass(frozen=True, slots=True)
class Event:
    at: int  # µs since the first event
    name: str
    key: int
    task: int
    value: int | None
    line: int


@dataclass(frozen=True, slots=True)
class Key:
    bus: int
    kind: str
    name: str


@dataclass(frozen=True, slots=True)
class Remark:
    line: int
    text: str

    def __str__(self):
        return f"line {self.line}: {self.text}"


@dataclass
class Dump:
    line: int  # of its header
    unit: str = "us"
    wrap: int = WRAP
    lost: int = 0
    announced: int | None = None  # events that the header promises
    complete: bool = False
    buses: dict[int, str] = field(default_factory=dict)
    keys: dict[int, Key] = field(default_factory=dict)
    tasks: dict[int, str] = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)
    remarks: list[Remark] = field(default_factory=list)

    def key(self, number: int) -> Key:
        return self.keys.get(number) or Key(0, "key", f"K{number}")

    def task(self, number: int) -> str:
        return self.tasks.get(number) or (f"T{number}" if number else "no task")

    def bus(self, number: int) -> str:
        return self.buses.get(number) or (f"B{number}" if number else "")


def clean(name: str) -> str:
    return "".join(c if c.isprintable() else "?" for c in name).strip()[:200] or "?"
