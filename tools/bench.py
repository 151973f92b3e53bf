"""The command `bench`: measures the library against what it replaces, as ratios within one run.

The programs that measure are in tools/bench; they run by hand too, on a board as well.
"""

import json
from pathlib import Path

from tools import bench_chart, bench_figures, bench_places, environment

HELP = """Measures the library against asyncio's own locks and the raw calls, on Unix MicroPython, CPython and, where a
firmware image is at hand (PICO_UF2), the emulated Pico. Judge by the ratios: no machine is quiet. A limit that is
missed is shown; the exit code tells of it with --strict only."""
# Short ones first: on a slow machine there is something to read soon.
PROGRAMS = ("locks", "waits", "lazies", "registers", "transfers", "transactions", "traces", "leaks", "growth", "tables")
JSON = environment.VENV / "bench.json"
CHART = environment.VENV / "bench.svg"


def add_arguments(parser):
    parser.add_argument(
        "--runtime", action="append", choices=list(bench_places.ALL), help="on this runtime only (may be repeated)"
    )
    parser.add_argument("--only", action="append", choices=PROGRAMS, metavar="NAME", help=", ".join(PROGRAMS))
    parser.add_argument("--quick", action="store_true", help="fewer rounds, for a first look")
    parser.add_argument("--strict", action="store_true", help="exit code 1 when a limit is missed")
    parser.add_argument("--json", type=Path, default=JSON, metavar="FILE", help=f"default {_shown(JSON)}")
    parser.add_argument("--chart", type=Path, default=CHART, metavar="FILE", help=f"default {_shown(CHART)}")


def run(args) -> int:
    report = {}
    failures = []
    for name in args.runtime or bench_places.USUAL:
        place = bench_places.ALL[name]
        missing = place.prepare()
        if missing:
            environment.say(f"{name} left out: {missing}")
            failures += [f"{name}: {missing}"] if args.runtime else []
            continue
        results = {}
        for program in args.only or PROGRAMS:
            environment.say(f"{program} on {name}")
            problem = place.run(program, args.quick, lambda line: _take(line, results))
            if problem:
                failures.append(f"{program} on {name}:\n{problem}")
        report[name] = {"title": place.title, "results": results, "figures": bench_figures.judged(name, results)}
        print(f"\n{bench_figures.table(name, place.title, results)}\n", flush=True)
    _write(args.json, json.dumps({"quick": args.quick, "runtimes": report}, indent=1) + "\n")
    _write(args.chart, bench_chart.draw({name: (of["title"], of["results"]) for name, of in report.items()}))
    misses = [f"{name}: {miss}" for name, of in report.items() for miss in bench_figures.missed(name, of["results"])]
    for heading, lines in (("limits missed", misses), ("programs that failed", failures)):
        if lines:
            print(f"\n{heading}:\n  " + "\n  ".join(lines))
    return 1 if failures or (misses and args.strict) else 0


def _take(line: str, results: dict) -> None:
    if line.startswith("skip "):
        _, name, why = line.split(None, 2)
        environment.say(f"{name} left out: {why.strip()}")
        return
    name, values = bench_figures.parse(line)
    results[name] = values


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    environment.say(f"wrote {_shown(path)}")


def _shown(path: Path) -> Path:
    return path.relative_to(environment.ROOT) if path.is_relative_to(environment.ROOT) else path
