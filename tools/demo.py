"""The command `demo`: an example on Unix MicroPython against simulated chips."""

import os
import subprocess
import sys

from tools import environment

HELP = """Runs examples/NAME.py on Unix MicroPython against simulated chips. The first time it installs that MicroPython.
What follows the name is given to the example."""


def add_arguments(parser):
    parser.add_argument("name", nargs="?", default="read_registers", help="which example (read_registers)")
    parser.set_defaults(takes_rest=True)
    parser.usage = "tools/dev.py demo [NAME] [argument of the example ...]"


def run(args) -> int:
    name = args.name.removesuffix(".py")
    script = environment.ROOT / "examples" / f"{name}.py"
    if not script.exists():
        there = ", ".join(sorted(path.stem for path in script.parent.glob("*.py"))) or "none"
        sys.exit(f"There is no examples/{name}.py. Examples that are there: {there}.")
    environment.ensure("demo")
    command = environment.vm()
    # The root is there for the package `boards`; a board has both below /lib.
    folders = [str(environment.ROOT / "lib"), str(environment.ROOT), ".frozen"]
    environment.say(f"running examples/{name}.py on MicroPython")
    return subprocess.run([*command, str(script), *args.rest], env={**os.environ, "MICROPYPATH": ":".join(folders)}).returncode
