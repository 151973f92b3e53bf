"""tools/timeline: dumps are read, also cut, mixed up and noisy ones, and each loss is named with its line."""

import pytest
import trace_scenes
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.configuration import set_hypothesis_home_dir

from tools import environment
from tools.timeline import dump, lanes, page, perfetto, reader, spans, summary, svg, vcd

set_hypothesis_home_dir(environment.VENV / "hypothesis")
SETTINGS = settings(max_examples=150, deadline=None, database=None, derandomize=True)

PLAIN = """\
~buslock-trace 1 unit=us wrap=1073741824 events=4 lost=0 at=123456
~B1 i2c0
~K1 B1 key i2c0/0x48
~K2 B1 wire i2c0 wire
~T1 display
~+0 wait K1 T1 2
~+120 grant K1 T1
~+5 start K2 T1 2
~+181 end K2 T1 0
~end 4
"""


def parsed(text):
    (found,) = reader.parse(text)
    return found


def remarks(text):
    return [str(remark) for each in reader.parse(text) for remark in each.remarks]


def events(text):
    return [(event.at, event.name, event.key, event.task, event.value) for event in parsed(text).events]


ALL = [(0, "wait", 1, 1, 2), (120, "grant", 1, 1, None), (125, "start", 2, 1, 2), (306, "end", 2, 1, 0)]


def test_a_whole_dump():
    found = parsed(PLAIN)
    assert events(PLAIN) == ALL
    assert found.remarks == [] and found.complete
    assert found.keys == {1: dump.Key(1, "key", "i2c0/0x48"), 2: dump.Key(1, "wire", "i2c0 wire")}
    assert (found.buses, found.tasks, found.lost) == ({1: "i2c0"}, {1: "display"}, 0)


def test_no_dump_at_all():
    assert reader.parse("") == reader.parse("hello\nworld ~ 3\n") == []


def test_milliseconds_and_overwritten_events():
    text = PLAIN.replace("unit=us", "unit=ms").replace("lost=0", "lost=12")
    assert events(text)[1] == (120_000, "grant", 1, 1, None)
    assert parsed(text).lost == 12


def test_other_output_between_and_around():
    text = "boot\n" + PLAIN.replace("~+120", "21.5 °C\nhumidity ~ 40 %\n~+120").replace("~+5", "\x1b[0mtemp 3~+5")
    assert events(text) == ALL
    assert remarks(text) == [
        "line 8: lines of other output, skipped: 2",
        "line 11: other output before the record, skipped: '?[0mtemp 3'",
    ]


def test_joined_lines_are_taken_apart():
    text = PLAIN.replace("display\n", "display").replace("T1 2\n", "T1 2", 1)
    assert events(text) == ALL and parsed(text).tasks == {1: "display"}
    assert remarks(text) == ["line 5: 3 records in one line, taken apart"]


def test_a_tilde_in_a_name_begins_no_record():
    assert parsed(PLAIN.replace("display", "a~b ~end of day ~+5")).tasks == {1: "a~b ~end of day ~+5"}


@pytest.mark.parametrize(
    ("old", "new", "at", "said"),
    [
        ("~+5 start K2 T1 2", "~+5 sta", 306, "line 8: a cut event, skipped (its time counts): '~+5 sta'"),
        ("~+5 start K2 T1 2", "~+5", 301, "line 8: a cut event, skipped; times after it may be too early: '~+5'"),
        (
            "~+5 start K2 T1 2",
            "~+5 sta~+0 clo",
            306,
            "line 8: a cut event, skipped (its time counts): '~+5 sta~+0 clo'",
        ),
        (
            "~+5 start K2 T1 2",
            f"~+{'9' * 5000} start K2 T1",
            301,
            "line 8: a cut event, skipped; times after it may be too early: '~+%s…'" % ("9" * 38),
        ),
        ("~+5 start K2 T1 2", "~x", 301, "line 8: not a record, skipped: '~x'"),
    ],
)
def test_a_cut_event(old, new, at, said):
    text = PLAIN.replace(old, new)
    assert events(text)[-1] == (at, "end", 2, 1, 0)
    assert remarks(text) == [said, "line 10: 3 events were read of 4: 1 are missing"]


def test_a_cut_event_with_the_next_behind_it():
    text = PLAIN.replace("~+120 grant K1 T1\n", "~+120 gra")
    assert events(text) == [ALL[0], *ALL[2:]]
    assert remarks(text)[:2] == [
        "line 7: 2 records in one line, taken apart",
        "line 7: a cut event, skipped (its time counts): '~+120 gra'",
    ]


def test_text_behind_an_event():
    text = PLAIN.replace("T1 2\n~+120", "T1 2temp\n~+120")
    assert events(text) == [(0, "wait", 1, 1, None), *ALL[1:]]
    assert remarks(text) == ["line 6: text after the record, skipped: '2temp'"]


def test_no_header():
    text = PLAIN.split("\n", 1)[1]
    assert events(text) == ALL
    assert remarks(text) == ["line 1: records without a header before them: taking the times for microseconds"]


def test_a_cut_header():
    assert events(PLAIN.replace(" wrap=1073741824 events=4 lost=0 at=123456", "")) == ALL
    assert remarks(PLAIN.replace(" wrap=1073741824 events=4 lost=0 at=123456", "")) == [
        "line 1: the header is incomplete: no wrap, events, lost"
    ]


def test_a_newer_version():
    text = (
        PLAIN.replace("trace 1", "trace 2")
        .replace("at=", "core=1 at=")
        .replace("grant", "hop")
        .replace(" key ", " zone ")
    )
    assert [each[1] for each in events(text)] == ["wait", "hop", "start", "end"]
    assert remarks(text) == [
        "line 1: version 2 of the format; this program knows version 1 and reads what it can",
        "line 1: unknown field 'core' in the header, skipped",
        "line 3: unknown kind of key 'zone', shown like a key",
        "line 7: unknown event 'hop', shown as a point",
    ]


def test_definitions_that_are_lost():
    text = PLAIN.replace("~K2 B1 wire i2c0 wire\n", "").replace("~T1 display\n", "")
    found = parsed(text)
    assert found.key(2) == dump.Key(0, "wire", "K2") and found.task(1) == "T1"
    assert len(remarks(text)) == 2 and "K2 is not defined" in remarks(text)[1]


def test_a_second_definition_of_a_number():
    text = PLAIN.replace("~T1 display\n", "~T1 display\n~T1 sensor\n~T1 display\n")
    assert parsed(text).tasks == {1: "display"}
    assert remarks(text) == ["line 6: a second name for the same number, skipped: 'sensor'"]


def test_ticks_that_wrap_and_steps_back():
    text = PLAIN.replace("~+120", "~+1073741704").replace("~+5 ", "~-3 ").replace("~+181", f"~+{181 + (1 << 30)}")
    assert [each[0] for each in events(text)] == [0, -120, -123, 58]
    assert remarks(text) == ["line 9: 1073742005 ticks are more than their period of 1073741824: taken modulo that"]


def test_no_end():
    text = PLAIN.replace("~end 4\n", "")
    assert events(text) == ALL and not parsed(text).complete
    assert remarks(text) == ["line 10: the dump has no end line: it was cut, or is still being written"]


def test_an_end_alone():
    assert reader.parse("~end 3\n") == []
    assert remarks("~end 3\n" + PLAIN) == ["line 1: an end line without a dump before it, skipped"]


def test_two_dumps_and_one_within_the_other():
    assert len(reader.parse(PLAIN + "other\n" + PLAIN)) == 2
    cut = PLAIN[: PLAIN.index("~+5")]
    first, second = reader.parse(cut + PLAIN)
    assert (len(first.events), len(second.events)) == (2, 4)
    assert str(first.remarks[0]) == "line 8: another dump begins before the end of this one"
    assert second.complete and not second.remarks


def test_files_of_windows():
    assert events(PLAIN.replace("\n", "\r\n")) == ALL
    assert events(PLAIN.replace("\n", "\r\n").encode("utf-16")) == ALL
    assert events(b"\xef\xbb\xbf" + PLAIN.encode()) == ALL


def test_names_with_control_characters():
    assert parsed(PLAIN.replace("display", "dis\x1b[31mplay\x00")).tasks == {1: "dis?[31mplay?"}


LINES = trace_scenes.contention(until=300_000).dump().splitlines()
NOISE = st.text(st.sampled_from("~+-KTB 019endwaitgrt#\x00\r\x1b\ud7ff°\n") | st.characters(), max_size=20)


@st.composite
def damaged(draw):
    """The text of a damaged dump, and the event lines that were not touched."""
    whole = list(enumerate(LINES))
    touched = set()
    for _ in range(draw(st.integers(1, 8))):
        place = draw(st.integers(0, len(whole) - 1))
        number, line = whole[place]
        how = draw(st.sampled_from(["drop", "cut", "noise within", "noise between", "join", "repeat header"]))
        if how == "noise between":
            whole.insert(place, (-1, draw(NOISE)))
        elif how == "repeat header":
            whole.insert(place, (-1, LINES[0]))
        elif how == "join" and place + 1 < len(whole) and number >= 0 and number not in touched:
            after, text = whole[place + 1]
            if after >= 0 and after not in touched and line.startswith("~+") and text.startswith("~+"):
                whole[place : place + 2] = [(number, line + text)]
                touched |= {number, after}  # may be cut later; whether both are kept is another test
        elif how == "drop":
            touched.add(number)
            del whole[place]
        elif line:
            touched.add(number)
            at = draw(st.integers(0, len(line)))
            rest = "" if how == "cut" else draw(NOISE) + line[at:]
            whole[place] = (number, line[:at] + rest)
    kept = [
        LINES[number] for number, _ in whole if number >= 0 and number not in touched and LINES[number].startswith("~+")
    ]
    return "\n".join(line for _, line in whole), kept


def key_of(line):
    _, name, key, task, *value = line.split()
    return name, int(key[1:]), int(task[1:]), int(value[0]) if value else None


@SETTINGS
@given(damaged())
def test_damage_loses_only_what_it_touches(case):
    text, kept = case
    found = reader.parse(text)
    read = iter((event.name, event.key, event.task, event.value) for each in found for event in each.events)
    for line in kept:
        assert key_of(line) in read, line  # consumes: so they are in order, too
    for each in found:
        everything(each)


@SETTINGS
@given(st.binary(max_size=300) | st.binary(max_size=60).map(lambda noise: PLAIN.encode() + noise + PLAIN.encode()))
def test_any_bytes_are_read_without_a_traceback(data):
    for each in reader.parse(data):
        everything(each)


EVENT = st.builds(
    "~+{} {} K{} T{} {}".format,
    st.integers(0, 50) | st.integers(0, 1 << 31),
    st.sampled_from([*sorted(dump.EVENTS), "novel"]),
    st.integers(0, 4),
    st.integers(0, 3),
    st.integers(-1, 200),
)
DEFINED = "~buslock-trace 1 unit=us wrap=1073741824 events=1 lost=0 at=0\n~B1 i2c0\n~K1 B1 key a\n~K2 B1 wire w\n~K3 B1 all t\n"


@SETTINGS
@given(st.lists(EVENT, max_size=40))
def test_any_order_of_events_is_drawn(lines):
    (found,) = reader.parse(DEFINED + "\n".join(lines))
    assert len(found.events) == len(lines)
    everything(found)


def everything(found):
    """Whatever was read can be drawn and told."""
    timeline = spans.build(found)
    assert all(0 <= span.start <= span.end <= timeline.end for span in timeline.spans)
    for lane in lanes.lay_out(timeline):
        for row in lane.rows:
            assert all(one.end <= other.start for one, other in zip(row, row[1:], strict=False))
    for write in (summary.text, lambda t: page.text(t, "t"), lambda t: svg.text(t, "t"), perfetto.text, vcd.text):
        assert write(timeline)
