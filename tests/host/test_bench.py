"""tools/bench: the figures are what they say, and the programs run."""

import json
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import pytest

from tools import bench, bench_chart, bench_figures, bench_places, environment

sys.path.append(str(bench_places.PROGRAMS))
import measure  # noqa: E402  # pyright: ignore[reportMissingImports]

LOCKS = {
    "locks.lock": {"us": 1.0, "ratio": 0.45, "ratio_low": 0.44, "ratio_high": 0.46, "bytes": 0.0},
    "locks.key": {"ratio": 0.9, "ratio_low": 0.8, "ratio_high": 1.0, "bytes": 192.0},
    "locks.key_alone": {"bytes": 192.0},
}


def row(text):
    return next(row for rows in bench_figures.SECTIONS.values() for row in rows if text in row.text)


def test_a_line_of_a_program_is_read():
    name, values = bench_figures.parse("figure locks.lock us=0.512 ratio=0.430 bytes=0.000\n")
    assert name == "locks.lock"
    assert values == {"us": 0.512, "ratio": 0.43, "bytes": 0.0}


def test_limits_are_those_of_the_runtime():
    lock = row("async with Lock() /")
    assert lock.met("micropython", LOCKS) is True
    assert lock.met("pico", LOCKS) is False
    assert lock.met("cpython", LOCKS) is None
    assert row("async with table.hold(key) /").met("micropython", LOCKS) is False
    faster = row("one key for all")
    assert faster.met("micropython", {"tables.one_key": {"ratio": 19.0}}) is False
    assert faster.met("micropython", {"tables.one_key": {"ratio": 21.0}}) is True


def test_what_a_key_allocates_beyond_its_hold_is_a_difference():
    beyond = row("not the hold itself")
    assert beyond.value(LOCKS) == 0
    assert beyond.met("micropython", LOCKS) is True


def test_the_table_names_every_figure_and_what_was_missed():
    text = bench_figures.table("micropython", "the title", LOCKS)
    assert text.startswith("the title\n")
    assert "0.45      0.44 .. 0.46  <= 0.5 met" in text
    assert "<= 0.8 MISSED" in text
    assert bench_figures.missed("micropython", LOCKS) == ["async with table.hold(key) / the same: 0.90, limit 0.8"]


def test_every_limit_is_of_a_known_runtime():
    for rows in bench_figures.SECTIONS.values():
        for each in rows:
            assert set(each.limits) <= set(bench_places.ALL), each.text


def test_the_chart_is_svg_with_a_bar_for_each_value():
    ratio = {"locks.lock": {"ratio": 0.4}, "locks.key": {"ratio": 7.0}}
    svg = bench_chart.draw({"micropython": ("Unix & others", ratio), "pico": ("Pico", {"locks.lock": {"ratio": 0.3}})})
    root = ElementTree.fromstring(svg)
    bars = root.findall("{http://www.w3.org/2000/svg}rect")
    assert len(bars) == 3 + 2  # and one for each runtime in the legend
    # None of them leaves the picture.
    assert all(float(bar.get("x", 0)) + float(bar.get("width", 0)) <= bench_chart.WIDTH for bar in bars)


def test_the_chart_of_nothing_is_svg_too():
    ElementTree.fromstring(bench_chart.draw({}))


@pytest.mark.parametrize("times", [[1, 2, 3], [4, 1, 3, 2], [5]])
def test_the_median_of_different_times_is_the_middle(times):
    assert measure.median(times) == sorted(times)[len(times) // 2] - (0.5 if len(times) % 2 == 0 else 0)


def test_the_median_of_equal_times_lies_within_the_clocks_step(monkeypatch):
    monkeypatch.setattr(measure, "UNIT", 1)
    assert measure.median([20, 20, 20, 20]) == 20
    assert 20 < measure.median([20, 20, 20, 21, 21]) < 20.5
    assert 20.5 < measure.median([20, 20, 21, 21, 21]) < 21


def test_the_leak_is_shown_on_micropython():
    path = ":".join([str(environment.ROOT / "lib"), ".frozen"])
    shown = subprocess.run(
        [*environment.vm(), str(bench_places.PROGRAMS / "leak.py")],
        env={"MICROPYPATH": path},
        capture_output=True,
        text=True,
        timeout=60,
    ).stdout
    theirs, ours = shown.split("buslock.Lock")
    assert theirs.count("LOST") == 3
    assert "LOST" not in ours and ours.count("free") == 4


@pytest.mark.parametrize("runtime", ["micropython", "cpython"])
def test_the_command_measures_and_writes(runtime, tmp_path):
    words = [
        str(environment.python()),
        str(environment.ROOT / "tools" / "dev.py"),
        "bench",
        "--quick",
        f"--runtime={runtime}",
        "--only=locks",
        f"--json={tmp_path / 'b.json'}",
        f"--chart={tmp_path / 'b.svg'}",
    ]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "async with Lock() / async with asyncio.Lock()" in done.stdout
    written = json.loads((tmp_path / "b.json").read_text())["runtimes"][runtime]
    assert written["results"]["locks.asyncio_lock"]["ratio"] == 1
    ElementTree.parse(tmp_path / "b.svg")


def test_a_program_that_fails_is_told_of(tmp_path, monkeypatch):
    (tmp_path / "broken.py").write_text("print('figure a.b us=1.5')\nraise ValueError('no')\n")
    monkeypatch.setattr(bench_places, "PROGRAMS", tmp_path)
    lines = []
    problem = bench_places.ALL["cpython"].run("broken", True, lines.append)
    assert lines == ["figure a.b us=1.5\n"]
    assert problem and "ValueError: no" in problem


def test_every_program_of_the_command_is_there():
    for program in bench.PROGRAMS:
        assert (bench_places.PROGRAMS / f"{program}.py").exists()
