"""tools/timeline: what is written for other programs is what they read. The page has a test of its own."""

import importlib
import io
import json
import re
import xml.etree.ElementTree as ElementTree

import pytest
import trace_scenes

from tools import environment
from tools.timeline import dump, page, perfetto, reader, spans, svg, vcd

environment.ensure("vcd")
importlib.invalidate_caches()

from vcd.reader import TokenKind, tokenize  # noqa: E402  # pyright: ignore[reportMissingImports]

SVG = "{http://www.w3.org/2000/svg}"
SCENES = ["contention", "blocking", "quarrel", "growing"]
ODD = "</script><b>&\"'"


def scene(name, **how):
    (found,) = reader.parse(getattr(trace_scenes, name)(**how).dump())
    return spans.build(found)


def odd_names():
    (found,) = reader.parse(
        trace_scenes.contention(until=50_000).dump().replace("display", ODD).replace("i2c0/0x3c", f"i2c0/{ODD}")
    )
    return spans.build(found)


# ---- SVG


@pytest.mark.parametrize("name", SCENES)
def test_svg_has_each_lane_and_nothing_outside(name):
    timeline = scene(name)
    root = ElementTree.fromstring(svg.text(timeline, "a title"))
    words = [text.text for text in root.iter(f"{SVG}text")]
    height = float(root.get("viewBox", "").split()[3])
    assert words[0] == "a title"
    for key in {span.key for span in timeline.spans}:
        assert timeline.key_name(key) in words
    for task in {span.task for span in timeline.spans}:
        assert timeline.task_name(task) in words
    boxes = boxes_of(root)
    assert boxes
    for _, x, y, width, tall in boxes:
        assert svg.LEFT - 0.1 <= x and x + width <= svg.WIDTH - svg.RIGHT + 1 and 0 < y < y + tall < height


def boxes_of(root):
    found = []
    for path in root.iter(f"{SVG}path"):
        for x, y, width, tall in re.findall(r"M([\d.]+) ([\d.]+)h([\d.]+)v([\d.]+)H", path.get("d", "")):
            found.append((path.get("class"), float(x), float(y), float(width), float(tall)))
    return found


def test_svg_draws_a_span_where_it_is():
    timeline = scene("contention")
    (missed, *_) = [span for span in timeline.of("wait") if span.bad]
    width = svg.WIDTH - svg.LEFT - svg.RIGHT
    expected = svg.LEFT + width * missed.start / timeline.end
    bad = [box for box in boxes_of(ElementTree.fromstring(svg.text(timeline, "t"))) if box[0] == "bad"]
    assert any(
        abs(x - expected) < 0.2 and abs(w + 0.6 - width * missed.length / timeline.end) < 0.2 for _, x, _, w, _ in bad
    )


def test_svg_of_a_part():
    timeline = scene("contention")
    part = svg.text(timeline, "t", 100_000, 200_000)
    assert len(boxes_of(ElementTree.fromstring(part))) < len(boxes_of(ElementTree.fromstring(svg.text(timeline, "t"))))
    assert "120 ms" in part and "400 ms" not in part


def test_svg_follows_light_and_dark():
    text = svg.text(scene("contention"), "t")
    light, dark = svg.COLOURS["hold"][:2]
    assert (
        text.index(f".hold {{ fill: {light}")
        < text.index("@media (prefers-color-scheme: dark) { .wait")
        < text.index(dark)
    )


def test_svg_escapes_names_and_of_nothing_is_one_too():
    ElementTree.fromstring(svg.text(odd_names(), ODD))
    ElementTree.fromstring(svg.text(spans.build(dump.Dump(1)), "t"))


def test_svg_of_many_events_stays_small():
    assert len(svg.text(scene("busy"), "t")) < 1_000_000


# ---- Perfetto


def check_trace_events(document):
    """The rules of Chrome's trace event format for the kinds of events that are written here, and no other kinds.

    Complete events of one thread have to lie beside or inside each other.
    """
    assert set(document) <= {
        "traceEvents",
        "displayTimeUnit",
        "otherData",
        "stackFrames",
        "systemTraceEvents",
        "samples",
    }
    assert document["displayTimeUnit"] in ("ms", "ns")
    threads, named = {}, set()
    for event in document["traceEvents"]:
        assert isinstance(event["name"], str) and event["name"]
        assert isinstance(event["ts"], int | float) and event["ts"] >= 0
        assert isinstance(event["pid"], int)
        allowed = {"name", "ph", "ts", "pid", "tid", "args", "cat"}
        match event["ph"]:
            case "X":
                assert set(event) <= allowed | {"dur"} and event["dur"] >= 0 and isinstance(event["tid"], int)
                threads.setdefault((event["pid"], event["tid"]), []).append((event["ts"], event["ts"] + event["dur"]))
            case "M":
                kind, value = event["name"], event["args"]
                assert set(event) <= allowed
                if kind.endswith("_name"):
                    assert list(value) == ["name"] and isinstance(value["name"], str)
                else:
                    assert kind in ("process_sort_index", "thread_sort_index") and isinstance(value["sort_index"], int)
                named.add((event["pid"], event["tid"]))
            case "i":
                assert set(event) <= allowed | {"s"} and event["s"] in ("g", "p", "t")
            case "C":
                assert set(event) <= allowed and event["args"]
                assert all(isinstance(value, int | float) for value in event["args"].values())
            case other:
                raise AssertionError(f"phase {other}")
    for thread, times in threads.items():
        assert thread in named
        open_ends = []
        for start, end in sorted(times, key=lambda each: (each[0], -each[1])):
            while open_ends and open_ends[-1] <= start:
                open_ends.pop()
            assert not open_ends or end <= open_ends[-1], thread
            open_ends.append(end)


@pytest.mark.parametrize("name", SCENES)
def test_perfetto_keeps_to_the_format(name):
    check_trace_events(json.loads(perfetto.text(scene(name))))


def test_perfetto_has_each_span_for_its_task_and_its_key():
    timeline = scene("contention")
    found = json.loads(perfetto.text(timeline))["traceEvents"]
    slices = [event for event in found if event["ph"] == "X"]
    of_tasks = [event for event in slices if event["pid"] == perfetto.PROCESSES["tasks"]]
    assert len(of_tasks) == len(timeline.spans)
    assert len(slices) == 2 * len(timeline.spans) + sum(bool(span.device) for span in timeline.spans)
    names = {(e["pid"], e["tid"]): e["args"]["name"] for e in found if e["name"] == "thread_name"}
    (missed, *_) = [event for event in of_tasks if event["args"].get("result") == "timed out"]
    assert names[missed["pid"], missed["tid"]].split(" (")[0] == "sensor"
    assert missed["args"] == {
        "key": "i2c0/0x48",
        "task": "sensor",
        "in line before": 0,
        "behind": "display",
        "result": "timed out",
    }
    assert missed["dur"] == 20_000
    assert {"clock set", "timeout i2c0/0x48"} == {event["name"] for event in found if event["ph"] == "i"}


def test_perfetto_counts_the_queue():
    found = [event for event in perfetto.events(scene("growing")) if event["ph"] == "C"]
    assert {event["name"] for event in found} == {"waiting for i2c0/0x48"}
    assert max(event["args"]["tasks"] for event in found) == 15
    assert found[-1]["args"]["tasks"] == 0


# ---- VCD


def signals(text):
    """{name: [(time, value)]}, by somebody else's reader."""
    names, changes, now = {}, {}, 0
    for token in tokenize(io.BytesIO(text.encode())):
        if token.kind is TokenKind.VAR:
            names[token.var.id_code] = token.var.reference
            changes[token.var.reference] = []
        elif token.kind is TokenKind.CHANGE_TIME:
            assert token.time_change >= now
            now = token.time_change
        elif token.kind is TokenKind.CHANGE_SCALAR:
            changes[names[token.scalar_change.id_code]].append((now, int(token.scalar_change.value)))
        elif token.kind is TokenKind.CHANGE_REAL:
            changes[names[token.real_change.id_code]].append((now, token.real_change.value))
        elif token.kind is TokenKind.TIMESCALE:
            assert str(token.timescale) == "1 us"
    return changes


@pytest.mark.parametrize("name", SCENES)
def test_vcd_is_read_and_each_signal_begins_at_once(name):
    found = signals(vcd.text(scene(name)))
    assert found
    for changes in found.values():
        assert changes[0][0] == 0
        assert all(one[1] != other[1] for one, other in zip(changes, changes[1:], strict=False))


def test_vcd_has_what_happened():
    timeline = scene("contention")
    found = signals(vcd.text(timeline))
    (first, *_) = timeline.of("transfer")
    assert found["i2c0_wire_busy"][:2] == [(0, 1), (first.end, 0)]
    (missed, *_) = [span for span in timeline.of("wait") if span.bad]
    assert (missed.start, 1) in found["i2c0_0x48_waiting"] and (missed.end, 0) in found["i2c0_0x48_waiting"]
    assert (missed.start, 1.0) in found["i2c0_0x48_queue"]
    long = max(
        (span for span in timeline.of("hold") if timeline.key_name(span.key) == "i2c0/0x48"), key=lambda s: s.length
    )
    assert (long.start, 1) in found["i2c0_0x48_by_display"]


def test_vcd_names_stay_apart():
    timeline = scene("contention")
    timeline.dump.tasks[2] = "display "
    timeline.dump.tasks[3] = "dis play/%"
    names = re.findall(r"\$var \S+ \d+ (\S+) (\S+) \$end", vcd.text(timeline))
    assert len({code for code, _ in names}) == len({name for _, name in names}) == len(names)


def test_vcd_codes_are_letters():
    codes = [vcd._code(number) for number in range(5000)]
    assert len(set(codes)) == 5000 and all(code.isalpha() for code in codes)


# ---- the page's data; the page itself is in test_trace_page.py


def test_names_cannot_end_the_pages_data():
    text = page.text(odd_names(), ODD)
    assert text.count("</script>") == 2  # its own: the data's and the script's
    body = text[text.index('id="data">') + 10 :]
    assert json.loads(body[: body.index("</script>")])["tasks"]["1"] == ODD
    assert f"<h1>{ODD}" not in text


def test_the_page_loads_nothing():
    text = page.text(scene("contention"), "t")
    assert "default-src 'none'" in text
    assert not re.search(r"""(src|href)\s*=\s*["'](?!data:)|@import|url\(|https?:""", text)
    assert "{{" not in text.split('id="data">')[0]
