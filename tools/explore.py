"""The command `explore`: every interleaving of the scenarios in tests/explore, on CPython or on Unix MicroPython."""

import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

from tools import environment

HELP = """Runs the real lock code through every interleaving of the scenarios in tests/explore and prints, for each, its
states, the runs made, and the schedules that they stand for. A broken promise is printed step by step with its trace;
--replay runs such a trace again."""
RUN = """
import sys
from explore import catalogue
name, mode, limit, trace = sys.argv[1:5]
if trace == "-":
    catalogue.explore(name, mode, int(limit) or None)
elif catalogue.show(name, mode, trace):
    sys.exit(1)
"""


def add_arguments(parser):
    parser.add_argument("scenario", nargs="*", help="names or parts of them, such as locks.three_by_two (default: all)")
    parser.add_argument("--mode", action="append", help="micropython, cpython, micropython-any, cpython-any")
    parser.add_argument("--quick", action="store_true", help="only the set that runs in the tests")
    parser.add_argument("--vm", action="store_true", help="on Unix MicroPython instead of CPython")
    parser.add_argument("--limit", type=int, default=0, metavar="STATES", help="give up after so many states")
    parser.add_argument("--replay", metavar="TRACE", help="run one schedule of one scenario in one mode, step by step")
    parser.add_argument("--list", action="store_true", help="name the scenarios and end")


def run(args) -> int:
    sys.path[:0] = [str(environment.ROOT / "lib"), str(environment.ROOT / "tests")]
    from explore import catalogue

    chosen = [
        (name, mode)
        for name, modes in (catalogue.QUICK if args.quick and not args.replay else catalogue.FULL).items()
        for mode in (args.mode if args.replay and args.mode else modes)
        if (not args.mode or mode in args.mode) and (not args.scenario or any(part in name for part in args.scenario))
    ]
    if args.list:
        for name in dict.fromkeys(name for name, _ in chosen):
            print(f"{name:32} {catalogue.scenario(name).__doc__.splitlines()[0]}")
        return 0
    if not chosen:
        print("no such scenario: `tools/dev.py explore --list` names them")
        return 2
    if args.replay is not None and len(chosen) != 1:
        print("a trace belongs to one scenario and one mode: name both")
        return 2
    if args.vm:
        environment.ensure("demo")
    start = time.monotonic()
    # Processes of their own: one for each core, and none inherits what another has in memory.
    with ThreadPoolExecutor(os.cpu_count()) as workers:
        good = list(workers.map(lambda pair: _one(pair[0], pair[1], args), chosen))
    print(f"{good.count(True)} of {len(good)} hold in every interleaving ({time.monotonic() - start:.0f} s)")
    return 0 if all(good) else 1


def _one(name: str, mode: str, args) -> bool:
    command = [*environment.vm(), "-X", "heapsize=256M"] if args.vm else [sys.executable]
    path = ":".join([str(environment.ROOT / "tests"), str(environment.ROOT / "lib"), ".frozen"])
    variables = {**os.environ, "MICROPYPATH" if args.vm else "PYTHONPATH": path}
    trace = "-" if args.replay is None else args.replay
    done = subprocess.run(
        [*command, "-c", RUN, name, mode, str(args.limit), trace], capture_output=True, text=True, env=variables
    )
    print(done.stdout + done.stderr, end="", flush=True)
    return done.returncode == 0
