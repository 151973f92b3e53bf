"""The command `soak`: everything at once at random, on every runtime, for as long as one likes."""

import os
import subprocess

from tools import environment, runtimes

HELP = """Random operations on locks, tables, Lazy and simulated I2C, SPI and UART buses, with deadlines, cancellations,
failing chips and noise, on virtual time (tests/soak). At every pause all is at rest and memory is what it was. The seed of
a round that fails is printed: --seed runs that round again, alone."""
DEFAULT_S = 20  # for each runtime: a minute for all
PROGRAM = environment.ROOT / "tests" / "soak" / "program.py"


def add_arguments(parser):
    parser.add_argument("--minutes", type=float, help="for each runtime (default: a minute for all of them together)")
    parser.add_argument("--seed", type=int, help="run this round only")
    parser.add_argument("--rounds", type=int, default=0, help="end after so many, however long that takes")
    parser.add_argument("--first", type=int, default=1, metavar="SEED", help="the seed of the first round (default: 1)")
    parser.add_argument("--runtime", action="append", choices=[r.name for r in runtimes.ALL.values() if r.default])


def run(args) -> int:
    environment.ensure("demo", "dev", "adafruit")
    seconds = DEFAULT_S if args.minutes is None else 60 * args.minutes
    first, rounds = (args.first, args.rounds) if args.seed is None else (args.seed, 1)
    if rounds:
        seconds = 1 << 30
    good = True
    for runtime in runtimes.ALL.values():
        if not runtime.default or (args.runtime and runtime.name not in args.runtime):
            continue
        if missing := runtime.missing():
            environment.say(f"{runtime.name} left out: {missing}")
            continue
        print(f"{runtime.name}, from seed {first} on", flush=True)
        request = runtimes.Request(PROGRAM.parent.parent, PROGRAM.parent.parent, "", "virtual", [])
        command, variables = runtime.command(request)
        # The same VM, path and heap, with another program.
        command[command.index(str(runtimes.RUNNER)) :] = [str(PROGRAM), str(seconds), str(first), str(rounds)]
        done = subprocess.run(command, cwd=environment.ROOT, env={**os.environ, **variables})
        good = good and done.returncode == 0
    return 0 if good else 1
