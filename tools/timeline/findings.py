"""What looks wrong in a timeline, each with the time to look at and what usually helps."""

from bisect import bisect_left
from collections import Counter, defaultdict
from dataclasses import dataclass

from tools.timeline.spans import OPEN, Span, Timeline, duration, overlapping, queue

SLEEP = 20_000  # µs of idle wire within a hold that look like a sleep
BLOCK = 5_000  # µs without the loop that a reading can miss
AGAIN = 3  # as often as this is no accident


@dataclass(frozen=True)
class Finding:
    kind: str
    text: str
    key: int
    task: int
    start: int  # µs: where to look
    end: int
    weight: int  # µs that it cost, the worst first


def find(timeline: Timeline) -> list[Finding]:
    found = [
        *_still_open(timeline),
        *_idle_holds(timeline),
        *_blocked_loops(timeline),
        *_missed_deadlines(timeline),
        *_growing_queues(timeline),
        *_mutual_waits(timeline),
        *_failed_transfers(timeline),
    ]
    return sorted(found, key=lambda finding: -finding.weight)


def _idle_holds(timeline: Timeline):
    """Holds in which the holder neither transfers nor waits: for long at once, or for much of it while others waited."""
    blocks = timeline.of("block")  # then nobody can do anything
    active: dict[int, list[Span]] = defaultdict(list)
    for span in timeline.spans:
        if span.kind in ("transfer", "wait"):
            active[span.task].append(span)
    waits = _by(timeline.of("wait"), "key")
    seen: dict[tuple[int, int], list[tuple[int, int, Span]]] = defaultdict(list)
    for hold in timeline.of("hold"):
        if hold.length < SLEEP or timeline.key(hold.key).kind not in ("key", "wire", "all"):
            continue
        gaps = _gaps(hold, [*_inside(active[hold.task], hold), *_inside(blocks, hold)])
        idle, longest = sum(gaps), max(gaps)
        kept = [wait for wait in overlapping(waits[hold.key], hold.start, hold.end) if hold.task in wait.behind]
        waited = max((wait.length for wait in kept), default=0)
        at_once = longest >= SLEEP and longest * 2 >= hold.length
        if at_once or (min(idle, waited) >= SLEEP / 2 and idle * 4 >= hold.length):
            seen[hold.task, hold.key].append((waited, idle, hold))
    for (task, key), holds in seen.items():
        waited, idle, hold = max(holds, key=lambda each: each[:2])
        times = f", {len(holds)} times like that" if len(holds) > 1 else ""
        who = f"others waited up to {duration(waited)}" if waited else "nobody had to wait for it"
        text = (
            f"{timeline.task_name(task)} holds {timeline.key_name(key)} for {duration(hold.length)} and leaves the wire "
            f"idle for {duration(idle)} of it{times}; {who}. Is there a sleep inside the hold? Release before it"
        )
        yield Finding("idle", text, key, task, hold.start, hold.end, max(waited, idle // 100))


def _by(spans: list[Span], field: str) -> dict[int, list[Span]]:
    groups: dict[int, list[Span]] = defaultdict(list)
    for span in spans:
        groups[getattr(span, field)].append(span)
    return groups


def _inside(spans: list[Span], hold: Span) -> list[Span]:
    """Those of spans that follow each other which share time with the hold."""
    first = bisect_left(spans, hold.start, key=lambda span: span.start)
    last = bisect_left(spans, hold.end, key=lambda span: span.start)
    return spans[max(0, first - 1) : last]


def _gaps(hold: Span, used: list[Span]) -> list[int]:
    """The times within the hold that none of the spans covers."""
    gaps, at = [], hold.start
    for start, end in [*sorted((span.start, span.end) for span in used), (hold.end, hold.end)]:
        gaps.append(max(0, min(start, hold.end) - at))
        at = max(at, end)
    return gaps


def _blocked_loops(timeline: Timeline):
    groups: dict[tuple[int, int], list[Span]] = defaultdict(list)
    for span in timeline.of("block"):
        if span.length >= BLOCK:
            groups[span.task, span.key].append(span)
    for (task, key), spans in groups.items():
        worst = max(spans, key=lambda span: span.length)
        times = f", {len(spans)} times" if len(spans) > 1 else ""
        text = (
            f"a synchronous driver call of {timeline.task_name(task)} at {timeline.key_name(key)} stopped the whole "
            f"loop for {duration(worst.length)}{times}. Use the awaited operations, or shorter calls"
        )
        yield Finding("block", text, key, task, worst.start, worst.end, worst.length)


def _missed_deadlines(timeline: Timeline):
    waits: dict[tuple[int, int], list[Span]] = defaultdict(list)
    for span in timeline.of("wait"):
        waits[span.task, span.key].append(span)
    for (task, key), spans in waits.items():
        missed = [span for span in spans if span.result == "timed out"]
        if len(missed) < AGAIN:
            continue
        holders = Counter(holder for span in missed for holder in span.behind[:1])
        behind = "".join(f"; mostly behind {timeline.task_name(task)}" for task, _ in holders.most_common(1))
        text = (
            f"{timeline.task_name(task)} misses its deadline for {timeline.key_name(key)} again and again: "
            f"{len(missed)} of {len(spans)} waits timed out{behind}"
        )
        weight = sum(span.length for span in missed)
        yield Finding("deadline", text, key, task, missed[0].start, missed[-1].end, weight)


def _growing_queues(timeline: Timeline):
    """The mean length of the queue in the last third, against that in the first."""
    third = timeline.end // 3
    for key, spans in _by(timeline.of("wait"), "key").items():
        steps = queue(spans)
        first, middle, last = (_mean(steps, third * i, third * (i + 1)) for i in range(3))
        if last >= first + 1.5 and last >= 1.5 * middle and middle > first:
            longest = max(number for _, number in steps)
            text = (
                f"the queue at {timeline.key_name(key)} grows: {first:.1f} tasks waiting in the first third, "
                f"{middle:.1f} in the second, {last:.1f} in the last, {longest} at most. More is asked of it than it can do"
            )
            yield Finding("queue", text, key, 0, third * 2, timeline.end, int(last * third))


def _mean(steps: list[tuple[int, int]], start: int, end: int) -> float:
    total = number = 0
    at = start
    for when, then in [*steps, (end, 0)]:
        if when > start:
            total += number * (max(at, min(when, end)) - at)
            at = max(at, min(when, end))
        number = then
    return total / (end - start) if end > start else 0


def _mutual_waits(timeline: Timeline):
    """Two tasks of which each finds the other in its way, nearly every time."""
    holds = Counter(span.task for span in timeline.of("hold") if timeline.key(span.key).kind != "wire")
    behind: dict[tuple[int, int], list[Span]] = defaultdict(list)
    for span in timeline.of("wait"):
        if timeline.key(span.key).kind != "wire":
            for holder in span.behind:
                behind[span.task, holder].append(span)
    for (one, other), spans in behind.items():
        back = behind.get((other, one), [])
        if (
            one < other
            and len(spans) >= AGAIN <= len(back)
            and all(len(waits) >= 0.8 * holds[task] for task, waits in ((one, spans), (other, back)))
        ):
            text = (
                f"{timeline.task_name(one)} and {timeline.task_name(other)} always wait for each other at "
                f"{timeline.key_name(spans[0].key)}: {len(spans)} and {len(back)} waits. Shorter holds, or one task for both"
            )
            both = spans + back
            weight = sum(span.length for span in both) // 2
            start = min(span.start for span in both)
            yield Finding("mutual", text, spans[0].key, one, start, max(span.end for span in both), weight)


def _failed_transfers(timeline: Timeline):
    groups: dict[int, list[Span]] = defaultdict(list)
    for span in timeline.of("transfer"):
        if span.error:
            groups[span.device or span.key].append(span)
    for key, spans in groups.items():
        errors = Counter(span.error for span in spans)
        which = ", ".join(
            f"{count} × errno {error}" if error != -1 else f"{count} ×" for error, count in errors.items()
        )
        text = f"{len(spans)} transfers with {timeline.key_name(key)} failed: {which}"
        yield Finding("error", text, key, spans[0].task, spans[0].start, spans[-1].end, 1000 * len(spans))


def _still_open(timeline: Timeline):
    """Waits without an end that take up most of the trace: a lock that is lost, or a task that hangs."""
    for span in timeline.of("wait"):
        if span.result == OPEN and span.length * 2 > timeline.end > 0 and span.length >= SLEEP:
            holders = ", ".join(map(timeline.task_name, span.behind)) or "nobody that can be seen"
            text = (
                f"{timeline.task_name(span.task)} still waits for {timeline.key_name(span.key)} at the end, for "
                f"{duration(span.length)}; held by {holders}"
            )
            yield Finding("open", text, span.key, span.task, span.start, span.end, span.length)
