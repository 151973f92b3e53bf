"""The timeline as JSON in Chrome's trace event format: opens in ui.perfetto.dev, chrome://tracing and speedscope."""

import json

from tools.timeline.lanes import SECTIONS, lay_out, nested
from tools.timeline.spans import Span, Timeline, queue

PROCESSES = {"tasks": 1, "keys": 2, "wires": 3}


def text(timeline: Timeline) -> str:
    document = {"displayTimeUnit": "ms", "otherData": {"unit": timeline.dump.unit, "lost": str(timeline.dump.lost)}}
    return json.dumps(document | {"traceEvents": events(timeline)}, indent=None, separators=(",", ":")) + "\n"


def events(timeline: Timeline) -> list[dict]:
    """A process for each section, a thread for each lane; more threads where spans overlap without lying in each other."""
    found = []
    for name, process in PROCESSES.items():
        found.append(_named("process_name", process, 0, name))
        found.append(_named("process_sort_index", process, 0, SECTIONS.index(name)))
    threads = dict.fromkeys(PROCESSES, 0)
    first: dict[tuple[str, int], int] = {}
    for lane in lay_out(timeline):
        process = PROCESSES[lane.section]
        spans = sorted((span for row in lane.rows for span in row), key=lambda span: (span.start, -span.end))
        for number, track in enumerate(nested(spans)):
            threads[lane.section] += 1
            thread = threads[lane.section]
            first.setdefault((lane.section, lane.number), thread)
            found.append(_named("thread_name", process, thread, lane.name + (f" ({number + 1})" if number else "")))
            found.append(_named("thread_sort_index", process, thread, thread))
            found += [_slice(timeline, span, process, thread, lane.section) for span in track]
        found += _queue(timeline, spans, process, lane.name)
    for point in timeline.points:
        place = ("tasks", point.task)
        event = {"ph": "i", "cat": "point", "ts": point.at, "pid": PROCESSES["tasks"], "tid": first.get(place, 0)}
        name = timeline.key_name(point.key) if point.kind == "mark" else f"{point.kind} {timeline.key_name(point.key)}"
        found.append(event | {"name": name, "s": "t" if place in first and point.kind != "mark" else "g"})
    return found


def _slice(timeline: Timeline, span: Span, process: int, thread: int, section: str) -> dict:
    what = timeline.key_name(span.key) if section == "tasks" else timeline.task_name(span.task)
    args: dict = {"key": timeline.key_name(span.key), "task": timeline.task_name(span.task)}
    if span.value is not None:
        args[{"wait": "in line before", "transfer": "bytes", "block": "ms"}.get(span.kind, "value")] = span.value
    if span.device:
        args["device"] = timeline.key_name(span.device)
    if span.behind:
        args["behind"] = ", ".join(map(timeline.task_name, span.behind))
    if span.result:
        args["result"] = span.result
    event = {"name": f"{span.kind} {what}", "cat": span.kind, "ph": "X", "ts": span.start, "dur": span.length}
    return event | {"pid": process, "tid": thread, "args": args}


def _queue(timeline: Timeline, spans: list[Span], process: int, name: str) -> list[dict]:
    """A counter of the tasks that wait for a key."""
    steps = queue([span for span in spans if span.kind == "wait"]) if process != PROCESSES["tasks"] else []
    return [
        {"name": f"waiting for {name}", "cat": "queue", "ph": "C", "ts": at, "pid": process, "args": {"tasks": number}}
        for at, number in steps
    ]


def _named(what: str, process: int, thread: int, value) -> dict:
    args = {"sort_index": value} if what.endswith("sort_index") else {"name": value}
    return {"name": what, "ph": "M", "pid": process, "tid": thread, "ts": 0, "args": args}
