"""The timeline as one HTML file that needs nothing else: page.html with its style, its scripts and the data put in."""

import html
import json
from pathlib import Path

from tools.timeline import findings, summary
from tools.timeline.lanes import lay_out
from tools.timeline.spans import SPANS, Timeline

FOLDER = Path(__file__).parent
SCRIPTS = ("page_rows.js", "page_draw.js", "page.js")


def text(timeline: Timeline, title: str) -> str:
    page = (FOLDER / "page.html").read_text(encoding="utf-8")
    parts = {
        "TITLE": html.escape(title),
        "STYLE": (FOLDER / "page.css").read_text(encoding="utf-8"),
        "DATA": embedded(data(timeline)),
        "SCRIPT": "\n".join((FOLDER / name).read_text(encoding="utf-8") for name in SCRIPTS),
    }
    before, *pieces = page.split("{{")
    return before + "".join(parts[name] + rest for name, rest in (piece.split("}}", 1) for piece in pieces))


def embedded(value) -> str:
    """JSON that cannot end the element that it stands in, whatever the names are."""
    return json.dumps(value, separators=(",", ":")).replace("<", "\\u003c")


def data(timeline: Timeline) -> dict:
    """Columns of numbers: 50,000 events stay below two megabytes."""
    spans = timeline.spans
    numbers = {id(span): i for i, span in enumerate(spans)}
    results = sorted({span.result for span in spans})
    return {
        "head": summary.head(timeline),
        "end": timeline.end,
        "tasks": {
            number: timeline.task_name(number) for number in {0, *(each.task for each in (*spans, *timeline.points))}
        },
        "keys": {number: timeline.key_name(number) for number in timeline.dump.keys},
        "wires": [number for number, key in timeline.dump.keys.items() if key.kind == "wire"],
        "kinds": SPANS,
        "results": results,
        "kind": [SPANS.index(span.kind) for span in spans],
        "start": [span.start for span in spans],
        "length": [span.length for span in spans],
        "key": [span.key for span in spans],
        "task": [span.task for span in spans],
        "value": [span.value for span in spans],
        "result": [results.index(span.result) for span in spans],
        "bad": [int(span.bad) for span in spans],
        "cut": [i for i, span in enumerate(spans) if span.cut],
        "device": {i: span.device for i, span in enumerate(spans) if span.device},
        "behind": {i: span.behind for i, span in enumerate(spans) if span.behind},
        "lanes": [
            {"section": lane.section, "name": lane.name, "number": lane.number}
            | {"rows": [[numbers[id(span)] for span in row] for row in lane.rows]}
            for lane in lay_out(timeline)
        ],
        "points": [[point.kind, point.key, point.task, point.at] for point in timeline.points],
        "findings": [
            [each.kind, each.text, each.key, each.task, each.start, each.end] for each in findings.find(timeline)
        ],
        "remarks": [str(remark) for remark in timeline.dump.remarks],
    }
