"""tools/timeline: events become spans with who stood in the way, and what is suspicious is found, and only that."""

import pytest
import trace_scenes

from tools.timeline import findings, lanes, reader, spans, summary

HEAD = "~buslock-trace 1 unit=us wrap=1073741824 events={} lost={} at=0\n~B1 i2c0\n"
NAMES = "~K1 B1 key i2c0/0x48\n~K2 B1 wire i2c0 wire\n~K3 B1 all i2c0\n~K4 B1 key i2c0/0x50\n~T1 a\n~T2 b\n"


def built(*lines, lost=0):
    """A timeline of `at name key task [value]`, one a string or divided by commas."""
    records, before = [], 0
    for line in ", ".join(lines).split(", ") if lines else ():
        at, name, key, task, *value = line.split()
        records.append(f"~+{int(at) - before} {name} K{key} T{task} {' '.join(value)}".rstrip())
        before = int(at)
    text = HEAD.format(len(records), lost) + NAMES + "\n".join([*records, f"~end {len(records)}"])
    (found,) = reader.parse(text)
    assert not found.remarks
    return spans.build(found)


def scene(name, **how):
    (found,) = reader.parse(getattr(trace_scenes, name)(**how).dump())
    assert not found.remarks
    return spans.build(found)


def told(timeline):
    return [
        (span.kind, span.key, span.task, span.start, span.end, span.result)
        for span in sorted(timeline.spans, key=lambda s: s.end)
    ]


def kinds(timeline):
    return [finding.kind for finding in findings.find(timeline)]


def test_a_wait_a_hold_and_a_transfer():
    timeline = built(
        *"0 grant 1 1, 10 wait 1 2 0, 50 release 1 1, 50 grant 1 2, 60 start 2 2 4, 90 end 2 2 0, 95 release 1 2".split(
            ", "
        )
    )
    assert told(timeline) == [
        ("hold", 1, 1, 0, 50, ""),
        ("wait", 1, 2, 10, 50, "granted"),
        ("transfer", 2, 2, 60, 90, ""),
        ("hold", 1, 2, 50, 95, ""),
    ]
    (wait,), (transfer,) = timeline.of("wait"), timeline.of("transfer")
    assert wait.behind == (1,) and wait.value == 0
    assert transfer.device == 1 and transfer.value == 4


@pytest.mark.parametrize(("event", "result", "bad"), [("timeout", "timed out", True), ("cancel", "cancelled", False)])
def test_a_wait_in_vain(event, result, bad):
    timeline = built("0 grant 1 1", "10 wait 1 2 0", f"30 {event} 1 2", "40 release 1 1")
    assert told(timeline)[0] == ("wait", 1, 2, 10, 30, result)
    assert timeline.of("wait")[0].bad is bad
    assert [point.kind for point in timeline.points] == [event]


def test_a_rejection_without_a_wait_is_a_point():
    timeline = built("0 grant 1 1", "10 reject 1 2", "40 release 1 1")
    assert told(timeline) == [("hold", 1, 1, 0, 40, "")]
    assert timeline.points == [spans.Point("reject", 1, 2, 10, None)]


def test_errors_have_their_number():
    timeline = built("0 start 2 1 4, 9 end 2 1 19, 20 start 2 1 4, 29 end 2 1 -1, 30 making 4 1, 35 failed 4 1 5")
    assert [span.result for span in timeline.spans] == ["error 19", "error", "error 5"]
    assert all(span.bad for span in timeline.spans)


def test_shared_holds_overlap():
    timeline = built(
        *"0 grant 1 1, 5 grant 1 2, 9 wait 1 0 0, 20 release 1 1, 30 release 1 2, 30 grant 1 0, 31 release 1 0".split(
            ", "
        )
    )
    assert [(span.task, span.end) for span in timeline.of("hold")] == [(1, 20), (2, 30), (0, 31)]
    assert timeline.of("wait")[0].behind == (2, 1)  # who was in the way longest first


def test_a_hold_of_all_stands_in_the_way_of_each_key():
    timeline = built(
        *"0 grant 3 1, 5 wait 4 2 0, 20 release 3 1, 20 grant 4 2, 25 wait 3 1 0, 40 release 4 2, 40 grant 3 1".split(
            ", "
        )
    )
    assert [wait.behind for wait in timeline.of("wait")] == [(1,), (2,)]


def test_what_began_before_an_overflow():
    timeline = built("0 release 1 1", "5 end 2 2 0", "9 timeout 1 2", lost=40)
    assert told(timeline) == [("hold", 1, 1, 0, 0, ""), ("transfer", 2, 2, 0, 5, ""), ("wait", 1, 2, 0, 9, "timed out")]
    assert all(span.cut for span in timeline.spans)
    assert "40 older records overwritten" in summary.head(timeline)


def test_handed_over_and_cancelled_before_it_ran():
    timeline = built(
        "0 grant 1 1, 5 wait 1 2 0, 9 release 1 1, 9 grant 1 2, 12 release 1 2, 12 cancel 1 2, 20 mark 4 1"
    )
    assert told(timeline) == [
        ("hold", 1, 1, 0, 9, ""),
        ("wait", 1, 2, 5, 9, "granted"),
        ("hold", 1, 2, 9, 12, ""),
    ]


def test_a_grant_without_a_wait_was_free():
    assert told(built("5 grant 1 1, 9 release 1 1, 9 grant 1 1, 12 release 1 1")) == [
        ("hold", 1, 1, 0, 4, ""),
        ("hold", 1, 1, 4, 7, ""),
    ]


def test_what_is_not_over_at_the_end():
    timeline = built("0 grant 1 1", "5 wait 1 2 0", "9 start 2 1 1")
    assert {(span.end, span.result) for span in timeline.spans} == {(9, "not over yet")}


def test_a_hold_that_another_task_ends():
    assert told(built("0 grant 1 1", "9 release 1 2")) == [("hold", 1, 1, 0, 9, "")]


def test_a_block_ends_where_it_is_recorded():
    timeline = built("0 grant 1 1", "40000 block 1 1 30", "50000 block 1 1 70")
    assert [(span.start, span.end, span.cut) for span in timeline.of("block")] == [
        (0, 50000, True),
        (10000, 40000, False),
    ]


def test_an_event_out_of_order():
    timeline = built("0 grant 1 1", "20 release 1 1", "10 start 2 1 1", "15 end 2 1 0")
    assert told(timeline) == [("transfer", 2, 1, 10, 15, ""), ("hold", 1, 1, 0, 20, "")]


def test_the_display_that_hogs_the_bus_is_found_and_gone_when_mended():
    found = findings.find(scene("contention"))
    assert [finding.kind for finding in found] == ["deadline", "idle"]
    assert "sensor misses its deadline for i2c0/0x48" in found[0].text and "mostly behind display" in found[0].text
    assert "display holds i2c0/0x48 for 90.0 ms and leaves the wire idle" in found[1].text
    assert "others waited up to 20.0 ms" in found[1].text
    assert kinds(scene("contention", fixed=True)) == []


def test_a_sleep_that_nobody_waits_for_says_so():
    (found,) = findings.find(built("0 grant 1 1", "30000 release 1 1"))
    assert "nobody had to wait" in found.text
    assert kinds(built("0 grant 1 1", "19000 release 1 1")) == []


def test_many_short_sleeps_within_a_hold_count_when_others_wait():
    steps = ["0 grant 2 1", "100 wait 2 2 0"]
    for at in range(0, 32_000, 8_000):  # half the time a transfer, half a sleep
        steps += [f"{at + 4_000} start 2 1 40", f"{at + 8_000} end 2 1 0"]
    timeline = built(*steps, "32000 release 2 1", "32000 grant 2 2", "32100 release 2 2")
    (found,) = findings.find(timeline)
    assert (
        "a holds i2c0 wire for 32.0 ms and leaves the wire idle for 16.0 ms of it; others waited up to 31.9"
        in found.text
    )
    assert kinds(built(*[step for step in steps if "wait" not in step], "32000 release 2 1")) == []


def test_waiting_for_the_wire_is_no_sleep():
    timeline = built("0 grant 2 2, 0 grant 1 1, 10 wait 2 1 0, 29000 release 2 2, 29000 grant 2 1, 29010 release 1 1")
    assert [(finding.task, finding.key) for finding in findings.find(timeline)] == [(2, 2)]


def test_the_driver_that_stops_the_loop_is_found():
    found = findings.find(scene("blocking"))
    assert [finding.kind for finding in found] == ["block", "error"]
    assert "driver at i2c0/0x3c stopped the whole loop for 35.0 ms, 6 times" in found[0].text
    assert found[1].text.endswith("9 transfers with i2c0/0x68 failed: 9 × errno 19")


def test_tasks_that_always_wait_for_each_other_are_found():
    (found,) = findings.find(scene("quarrel"))
    assert found.kind == "mutual" and "left and right always wait for each other at i2c0/0x48" in found.text


def test_a_growing_queue_is_found_and_a_short_one_is_not():
    (found,) = findings.find(scene("growing"))
    assert found.kind == "queue" and "the queue at i2c0/0x48 grows" in found.text
    assert "queue" not in kinds(scene("busy", events=2000))


def test_a_wait_without_an_end_is_found():
    found = findings.find(built("0 grant 1 1", "10 wait 1 2 0", "90000 mark 4 1"))
    assert [finding.kind for finding in found] == ["open", "idle"]
    assert "b still waits for i2c0/0x48 at the end, for 90.0 ms; held by a" in found[0].text


def test_the_summary_has_the_figures():
    timeline = built(
        "0 grant 1 1",
        "0 start 2 1 8",
        "400 end 2 1 0",
        "500 wait 1 2 0",
        "900 release 1 1",
        "900 grant 1 2",
        "1000 release 1 2",
    )
    text = summary.text(timeline)
    assert text.startswith("1.00 ms of trace: 7 events, 2 tasks, 2 keys, times in µs\n\nNothing suspicious.\n")
    assert "i2c0 wire: busy 40 % ████████░░░░░░░░░░░░ 1 transfer, 8 bytes, longest 400 µs\n" in text
    rows = {row[0]: row for row in summary.tasks(timeline)[1:]}
    assert rows["b"] == ["b", "1", "400 µs", "400 µs", "0", "1", "100 µs", "0", "0"]
    rows = {row[0]: row for row in summary.keys(timeline)[1:]}
    assert rows["i2c0/0x48"] == ["i2c0/0x48", "2", "100 %", "900 µs", "1", "400 µs", "400 µs", "0", "1"]
    assert summary.longest_waits(timeline, 5)[1:] == [["b", "400 µs", "i2c0/0x48", "a", "500 µs", ""]]
    assert summary.longest_holds(timeline, 1)[1:] == [["a", "900 µs", "i2c0/0x48", "0 µs", ""]]


def test_many_tasks_are_cut_short_and_said():
    text = summary.text(scene("growing"))
    assert "  ... and 10 more\n" in text
    assert max(map(len, text.splitlines())) < 200


def test_nothing_recorded():
    assert summary.text(built()).startswith("0 µs of trace: 0 events")


@pytest.mark.parametrize(
    ("us", "text"),
    [(0, "0 µs"), (999, "999 µs"), (1000, "1.00 ms"), (12_340, "12.3 ms"), (999_999, "1000 ms"), (2_500_000, "2.50 s")],
)
def test_durations(us, text):
    assert spans.duration(us) == text


def test_lanes_are_in_sections_and_without_overlap():
    timeline = scene("busy", events=4000)
    found = lanes.lay_out(timeline)
    assert [lane.section for lane in found] == sorted((lane.section for lane in found), key=lanes.SECTIONS.index)
    assert sum(len(row) for lane in found if lane.section == "tasks" for row in lane.rows) == len(timeline.spans)


def test_nested_tracks():
    def span(start, end):
        return spans.Span("hold", 1, 1, start, end)

    outer, inner, beside, across = span(0, 10), span(2, 5), span(5, 9), span(8, 12)
    assert lanes.nested([outer, inner, beside, across]) == [[outer, inner, beside], [across]]
