"""The timeline as text: what looks wrong, how busy the wires are, every task and key, the longest waits and holds."""

from collections import defaultdict

from tools.timeline import findings
from tools.timeline.spans import OPEN, Span, Timeline, duration, queue

TOP = 5
ROWS = 20  # of tasks and of keys
REMARKS = 12


def text(timeline: Timeline) -> str:
    """All of it."""
    return "\n\n".join(filter(None, [head(timeline), *sections(timeline), remarks(timeline)])) + "\n"


def sections(timeline: Timeline, top: int = TOP) -> list[str]:
    return [
        suspicious(timeline),
        wires(timeline),
        _table("tasks", tasks(timeline)),
        _table("keys", keys(timeline)),
        _table("longest waits", longest_waits(timeline, top)),
        _table("longest holds", longest_holds(timeline, top)),
    ]


def head(timeline: Timeline) -> str:
    dump = timeline.dump
    parts = [
        f"{duration(timeline.end)} of trace: {_count(len(dump.events), 'event')}",
        _count(len(dump.tasks), "task"),
        _count(sum(key.kind == "key" for key in dump.keys.values()), "key"),
        f"times in {'µs' if dump.unit == 'us' else 'ms'}",
    ]
    if dump.lost:
        parts.append(f"{_count(dump.lost, 'older record')} overwritten before")
    if not dump.complete:
        parts.append("incomplete")
    return ", ".join(parts)


def suspicious(timeline: Timeline) -> str:
    found = findings.find(timeline)
    if not found:
        return "Nothing suspicious." if timeline.spans else ""
    return "\n".join(["Suspicious:", *(f"  ! {each.text} (at {duration(each.start)})" for each in found)])


def wires(timeline: Timeline) -> str:
    """How busy each wire was, and with what."""
    lines = []
    for number, key in timeline.dump.keys.items():
        transfers = [span for span in timeline.of("transfer") if span.key == number]
        if key.kind != "wire" and not transfers:
            continue
        share = busy(transfers, timeline)
        moved = sum(span.value or 0 for span in transfers)
        line = f"  {key.name}: busy {_percent(share)} {bar(share)} {_count(len(transfers), 'transfer')}, {_count(moved, 'byte')}"
        if transfers:
            line += f", longest {duration(max(span.length for span in transfers))}"
        if failed := sum(bool(span.error) for span in transfers):
            line += f", {failed} failed"
        lines.append(line)
    return "\n".join(["Wire:", *lines]) if lines else ""


def busy(spans: list[Span], timeline: Timeline) -> float:
    """The share of the time in which at least one of the spans lasts."""
    total = at = 0
    for span in spans:
        total += max(0, span.end - max(at, span.start))
        at = max(at, span.end)
    return total / timeline.end if timeline.end else 0


def bar(share: float, width: int = 20) -> str:
    full = min(width, round(share * width))
    return "█" * full + "░" * (width - full)


def tasks(timeline: Timeline) -> list[list[str]]:
    rows = [["task", "waits", "waited", "longest", "missed", "holds", "held", "transfers", "bytes"]]
    waits, holds, transfers = (_by("task", timeline.of(kind)) for kind in ("wait", "hold", "transfer"))
    numbers = sorted(waits.keys() | holds.keys() | transfers.keys(), key=lambda task: -_total(waits[task]))
    for task in numbers:
        outer = [span for span in holds[task] if timeline.key(span.key).kind != "wire"]
        missed = sum(span.result in ("timed out", "rejected") for span in waits[task])
        moved = sum(span.value or 0 for span in transfers[task])
        rows.append([timeline.task_name(task), *_waited(waits[task]), str(missed), str(len(outer))])
        rows[-1] += [duration(_total(outer)), str(len(transfers[task])), str(moved)]
    return rows


def keys(timeline: Timeline) -> list[list[str]]:
    rows = [["key", "holds", "held", "longest", "waits", "waited", "longest", "missed", "queue"]]
    waits, holds = _by("key", timeline.of("wait")), _by("key", timeline.of("hold"))
    for key in sorted(waits.keys() | holds.keys(), key=lambda key: -_total(waits[key])):
        missed = sum(span.result in ("timed out", "rejected") for span in waits[key])
        longest_queue = max((number for _, number in queue(waits[key])), default=0)
        held = [str(len(holds[key])), _percent(busy(holds[key], timeline)), _longest(holds[key])]
        rows.append([timeline.key_name(key), *held, *_waited(waits[key]), str(missed), str(longest_queue)])
    return rows


def longest_waits(timeline: Timeline, top: int) -> list[list[str]]:
    rows = [["task", "waited", "for", "behind", "at", ""]]
    for span in _top(timeline.of("wait"), top):
        behind = ", ".join(map(timeline.task_name, span.behind[:3])) or "-"
        at = duration(span.start)
        rows.append([timeline.task_name(span.task), duration(span.length), timeline.key_name(span.key), behind, at])
        rows[-1].append("" if span.result == "granted" else span.result)
    return rows


def longest_holds(timeline: Timeline, top: int) -> list[list[str]]:
    rows = [["task", "held", "key", "at", ""]]
    for span in _top(timeline.of("hold"), top):
        note = OPEN if span.result == OPEN else "from before the trace" if span.cut else ""
        rows.append([timeline.task_name(span.task), duration(span.length), timeline.key_name(span.key)])
        rows[-1] += [duration(span.start), note]
    return rows


def remarks(timeline: Timeline) -> str:
    """What was wrong with the dump itself."""
    said = timeline.dump.remarks
    if not said:
        return ""
    more = [f"  ... and {len(said) - REMARKS} more"] if len(said) > REMARKS else []
    return "\n".join(["The dump:", *(f"  {remark}" for remark in said[:REMARKS]), *more])


def _top(spans: list[Span], top: int) -> list[Span]:
    return [span for span in sorted(spans, key=lambda span: -span.length)[:top] if span.length]


def _by(field: str, spans: list[Span]) -> dict[int, list[Span]]:
    groups: dict[int, list[Span]] = defaultdict(list)
    for span in spans:
        groups[getattr(span, field)].append(span)
    return groups


def _total(spans: list[Span]) -> int:
    return sum(span.length for span in spans)


def _waited(waits: list[Span]) -> list[str]:
    return [str(len(waits)), duration(_total(waits)), _longest(waits)]


def _longest(spans: list[Span]) -> str:
    return duration(max(span.length for span in spans)) if spans else "-"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _percent(share: float) -> str:
    return f"{share * 100:.1f} %" if share < 0.0995 else f"{share * 100:.0f} %"


def _table(title: str, rows: list[list[str]]) -> str:
    """Columns under their names; the first column and names to the left, figures to the right."""
    if len(rows) < 2:
        return ""
    more = [f"  ... and {len(rows) - 1 - ROWS} more"] if len(rows) > ROWS + 1 else []
    rows = rows[: ROWS + 1]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    words = {"task", "key", "for", "behind", ""}
    lines = [
        "  ".join(
            cell.ljust(width) if name in words else cell.rjust(width)
            for cell, width, name in zip(row, widths, rows[0], strict=True)
        ).rstrip()
        for row in rows
    ]
    return "\n".join([f"{title.capitalize()}:", *(f"  {line}" for line in lines), *more])
