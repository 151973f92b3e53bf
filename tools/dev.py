"""The project's commands: `python3 tools/dev.py demo`, `python3 tools/dev.py test`.

Each command is a module of this folder with HELP, add_arguments(parser) and run(args), imported only when it is asked
for. To add one, write the module and name it in COMMANDS.
"""

import sys

# Said before anything that an older Python could not even parse.
if sys.version_info < (3, 11):  # noqa: UP036
    sys.exit(
        "buslock's tools need Python 3.11 or newer; this is Python %d.%d (%s). "
        "Start them with a newer one, for example: python3.12 tools/dev.py demo"
        % (sys.version_info[0], sys.version_info[1], sys.executable)
    )

import argparse
import importlib
import os

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# command: (module, what it does)
COMMANDS = {
    "demo": ("tools.demo", "run an example on Unix MicroPython against simulated chips"),
    "test": ("tools.testing", "run ruff, the type checker and the tests on every runtime"),
    "package": ("tools.package", "write package.json anew from the files in lib/buslock"),
    "size": ("tools.size", "what each module costs in flash and RAM, against the budgets"),
    "deploy": ("tools.deploy", "put the library on a board"),
    "explore": ("tools.explore", "try every interleaving of the full set of scenarios"),
    "mutate": ("tools.mutation.command", "change the lock code in small ways, each of which the tests must notice"),
    "soak": ("tools.soak", "use everything at once, at random, for as long as you like"),
    "coverage": ("tools.coverage.command", "which lines and branches of the library the tests reach"),
    "pico": ("tools.pico.script", "run a program on an emulated Pico with real firmware"),
    "trace": ("tools.trace", "what a bus did: summary, timeline page, SVG, Perfetto and VCD from a dump of its trace"),
    "bench": ("tools.bench", "measure the library against asyncio's own locks and the raw calls"),
}


def main(argv):
    # The package `tools` is found from the checkout's root; this script's own folder would offer its modules a second
    # time, under other names.
    sys.path[0] = ROOT
    parser = argparse.ArgumentParser(prog="tools/dev.py", description="Commands for working on buslock.")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    chosen = next((word for word in argv if not word.startswith("-")), None)
    for name, (module_name, text) in COMMANDS.items():
        if name == chosen:
            module = importlib.import_module(module_name)
            command = commands.add_parser(name, help=text, description=module.HELP)
            module.add_arguments(command)
            command.set_defaults(run=module.run)
        else:
            commands.add_parser(name, help=text)
    args, rest = parser.parse_known_args(argv)
    if rest and not getattr(args, "takes_rest", False):
        parser.error("unknown arguments: " + " ".join(rest))
    args.rest = rest
    try:
        return args.run(args)
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
