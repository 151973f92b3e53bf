"""Where the spans of a timeline are drawn: a lane for each wire, key and task, with rows of spans that do not overlap."""

from dataclasses import dataclass

from tools.timeline.spans import Span, Timeline

SECTIONS = ("wires", "keys", "tasks")
# The rows of a key's lane from top to bottom; in a task's lane what is inside something else comes below it.
ORDER = (("transfer",), ("hold",), ("select", "drive"), ("recover", "making", "block"), ("wait",))


@dataclass
class Lane:
    section: str
    name: str
    number: int  # of the key or task
    rows: list[list[Span]]


def lay_out(timeline: Timeline) -> list[Lane]:
    of_keys: dict[int, list[Span]] = {}
    of_tasks: dict[int, list[Span]] = {}
    for span in timeline.spans:
        of_tasks.setdefault(span.task, []).append(span)
        of_keys.setdefault(span.key, []).append(span)
        if span.device:
            of_keys.setdefault(span.device, []).append(span)
    for point in timeline.points:
        if point.kind != "mark":
            of_keys.setdefault(point.key, [])
    lanes = []
    for number in sorted(of_keys):
        kind = timeline.key(number).kind
        rows = [row for kinds in ORDER for row in packed([span for span in of_keys[number] if span.kind in kinds])]
        section = "wires" if kind in ("wire", "bus") else "keys"
        lanes.append(Lane(section, timeline.key_name(number), number, rows))
    for number in sorted(of_tasks):
        lanes.append(Lane("tasks", timeline.task_name(number), number, packed(of_tasks[number])))
    return sorted(lanes, key=lambda lane: SECTIONS.index(lane.section))


def packed(spans: list[Span]) -> list[list[Span]]:
    """As few rows as it takes, each without an overlap."""
    rows: list[list[Span]] = []
    for span in spans:
        for row in rows:
            if row[-1].end <= span.start:
                row.append(span)
                break
        else:
            rows.append([span])
    return rows


def nested(spans: list[Span]) -> list[list[Span]]:
    """Tracks in which spans lie beside or inside each other, as Perfetto wants them."""
    tracks: list[list[Span]] = []
    open_ends: list[list[int]] = []  # of each track, the innermost last
    for span in spans:
        number = next((number for number, ends in enumerate(open_ends) if _fits(span, ends)), len(tracks))
        if number == len(tracks):
            tracks.append([])
            open_ends.append([])
        tracks[number].append(span)
        open_ends[number].append(span.end)
    return tracks


def _fits(span: Span, ends: list[int]) -> bool:
    while ends and ends[-1] <= span.start:
        ends.pop()
    return not ends or span.end <= ends[-1]
