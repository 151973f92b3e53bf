"""What the library costs: per module its source, its .mpy file and the RAM its import keeps; and the budgets.

    python3 tools/size.py            with the emulated Pico if there is an image for it
    python3 tools/size.py --unix     on Unix MicroPython only

The budgets are those of a Pico. A 64-bit VM needs more for the same module, so there is a second set for when no Pico
can be emulated: FACTOR times the Pico's. FACTOR is below what was measured on both (1.437 to 1.57), so that whoever
keeps the one keeps the other.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
if __name__ == "__main__":
    sys.path[0] = str(ROOT)

from tools import deploy_build, environment  # noqa: E402
from tools.pico import firmware  # noqa: E402

HELP = "Source, .mpy and RAM of each module on Unix MicroPython and on the emulated Pico, against the budgets."
FACTOR = 1.43
MARK = "@@size "

# A use is a program that is run before the measuring starts, in a VM of its own: what it has loaded by its end counts.
LOCK = """
import buslock.lock
"""
LOCK_WAITED_FOR = """
from buslock.lock import Lock
async def use():
    lock = Lock()
    async def one():
        async with lock:
            await asyncio.sleep(0)
    tasks = [asyncio.create_task(one()) for _ in range(3)]
    for task in tasks:
        await task
asyncio.run(use())
"""
PERIPHERAL = """
from buslock.i2c import I2CBus
class Peripheral:
    def readfrom_mem(self, *args, **kwargs):
        return b"12"
    writeto_mem = readfrom_mem_into = readfrom = readfrom_into = writeto = writevto = scan = readfrom_mem
"""
I2C = """
async def use():
    device = I2CBus(Peripheral()).device(0x48)
    await device.read_register(0, 2)
asyncio.run(use())
"""
I2C_WAITED_FOR = """
async def use():
    device = I2CBus(Peripheral()).device(0x48)
    async def one():
        async with device.hold() as session:
            await asyncio.sleep(0)
            await session.read_register(0, 2)
    tasks = [asyncio.create_task(one()) for _ in range(3)]
    for task in tasks:
        await task
asyncio.run(use())
"""
I2C_HELD = """
async def use():
    async with I2CBus(Peripheral()).device(0x48).hold() as session:
        await session.read_register(0, 2)
asyncio.run(use())
"""
I2C_TRACED = """
from buslock.trace import Trace
async def use():
    device = I2CBus(Peripheral(), trace=Trace(1)).device(0x48)
    await device.read_register(0, 2)
asyncio.run(use())
"""
SPI = """
from buslock.spi import SPIBus
class Peripheral:
    def write(self, *args, **kwargs):
        return b"12"
    init = read = write_readinto = write
class Pin:
    OUT = 1
    def init(self, *args, **kwargs):
        pass
    def __call__(self, level=1):
        return level
    value = __call__
async def use():
    device = SPIBus(Peripheral()).device(Pin())
    await device.write(b"12")
    await device.read(2)
asyncio.run(use())
"""
UART = """
from buslock.uart import UARTBus
class Peripheral:
    sent = b""
    def write(self, data):
        self.sent += bytes(data)
        return len(data)
    def any(self):
        return len(self.sent)
    def read(self, n=None):
        sent = self.sent
        self.sent = b""
        return sent or None
async def use():
    await UARTBus(Peripheral()).device(1).exchange(b"12", nbytes=2)
asyncio.run(use())
"""
NAMES = f"from buslock import {', '.join(deploy_build.exported())}\n"
USES = {
    "Lock": LOCK,
    "Lock, waited for": LOCK_WAITED_FOR,
    "I2CBus with read_register": PERIPHERAL + I2C,
    "I2CBus, a device held": PERIPHERAL + I2C_HELD,
    "I2CBus, holds waited for": PERIPHERAL + I2C_WAITED_FOR,
    "I2CBus with a trace": PERIPHERAL + I2C_TRACED,
    "SPIBus with write and read": SPI,
    "UARTBus with exchange": UART,
    "every name imported": NAMES,
    "every module loaded": "".join(f"import buslock.{name}\n" for name in deploy_build.modules() if name != "__init__"),
}
# What must not be passed. Where the aim is not reached yet, the budget keeps what has been reached from being lost.
BUDGETS = {
    "Lock": 7 * 1024,
    "I2CBus with read_register": 20 * 1024,
    "I2CBus, a device held": 36 * 1024,
    "SPIBus with write and read": 39 * 1024,
    "UARTBus with exchange": 40 * 1024,
    "every name imported": 48 * 1024,
    "every module loaded": 178 * 1024,
}
AIMS = {"Lock": 5 * 1024, "I2CBus with read_register": 16 * 1024}

LOADED = """
import sys, asyncio
{use}
print({mark!r} + repr([name for name in sys.modules if name.split(".")[0] == "buslock"]))
"""
# Nothing but the imports may allocate between two readings: all names are constants, and the list has its places.
RETAINED = """
import gc, asyncio
names = {names!r}
after = [0] * len(names)
def used():
    gc.collect()
    gc.collect()
    return gc.mem_alloc()
def load():
    for i in range(len(names)):
        __import__(names[i])
        if {each}:
            after[i] = used()
before = used()
before = used()
load()
after[-1] = used()
print({mark!r} + repr([a - before for a in after if a]))
"""


class SizeError(Exception):
    """A program that measures has failed; the message has its output."""


@dataclass
class Use:
    """The RAM of one use: that of each module it has loaded, in the order of loading."""

    modules: dict[str, int] = field(default_factory=dict)

    @property
    def total(self) -> int:
        return sum(self.modules.values())


class Unix:
    name = "Unix"
    factor = FACTOR

    def __init__(self, folder: Path):
        self._folder = folder
        for name, data in compiled().items():
            path = folder / name
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(data)

    def run(self, code: str) -> str:
        return _run(environment.vm(), code, {"MICROPYPATH": f"{self._folder}:.frozen"})


class Pico:
    name = "Pico"
    factor = 1.0

    def run(self, code: str) -> str:
        return _run([str(environment.python()), str(ROOT / "tools" / "pico" / "script.py")], code, {})


def _run(command: list[str], code: str, variables: dict[str, str]) -> str:
    """What the program prints."""
    with tempfile.TemporaryDirectory(prefix="buslock-size-") as folder:
        program = Path(folder) / "program.py"
        program.write_text(code)
        done = subprocess.run([*command, str(program)], env={**os.environ, **variables}, capture_output=True, text=True)
    if done.returncode:
        raise SizeError(f"the measuring failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def compiled() -> dict[str, bytes]:
    return deploy_build.compiled(deploy_build.sources(deploy_build.modules()))


def loaded_by(unix: Unix, use: str) -> list[str]:
    """The modules that the use has loaded at its end, the same on every board; what others need comes first."""
    names = _answer(unix.run(LOADED.format(use=USES[use], mark=MARK)))
    order = [f"buslock.{module}" for module in deploy_build.closure(deploy_build.modules()) if module != "__init__"]
    return ["buslock", *(name for name in order if name in names)]


def measure(where: Unix | Pico, names: list[str], each: bool = True) -> Use:
    """The RAM that the modules keep; without `each` only their sum, as that of the last, in a fraction of the time."""
    retained = _answer(where.run(RETAINED.format(names=names, mark=MARK, each=each)))
    own = [after - before for before, after in zip([0, *retained], retained, strict=False)]
    return Use(dict(zip(names if each else names[-1:], own, strict=True)))


def over_budget(use: str, where: Unix | Pico, found: Use) -> str | None:
    """None, or how far the use is over its budget."""
    budget = BUDGETS.get(use)
    if budget is None or found.total <= budget * where.factor:
        return None
    return f"{use} keeps {found.total} bytes on {where.name}; its budget there is {int(budget * where.factor)}"


def _answer(printed: str):
    for line in printed.splitlines():
        if line.startswith(MARK):
            return json.loads(line.removeprefix(MARK).replace("'", '"'))
    raise SizeError(f"the measuring printed no result:\n{printed}")


def report(results: dict[str, dict[str, Use]]) -> str:
    """The two tables; `results` is {"Unix": {use: Use}, "Pico": ...}."""
    mpy = compiled()
    lines = [f"{'module':14}{'.py':>8}{'.mpy':>8}" + "".join(f"{f'RAM {name}':>12}" for name in results)]
    everything = [result["every module loaded"].modules if "every module loaded" in result else {} for result in results.values()]
    for name in everything[0]:
        module = name.removeprefix("buslock.") if "." in name else "__init__"
        py = len((deploy_build.LIBRARY / f"{module}.py").read_bytes())
        lines.append(
            f"{module:14}{py:8}{len(mpy[f'buslock/{module}.mpy']):8}"
            + "".join(f"{modules[name]:12}" for modules in everything)
        )
    lines += ["", f"{'use':28}{'.mpy':>8}" + "".join(f"{f'RAM {name}':>12}" for name in results) + "  budget (Pico)"]
    for use in next(iter(results.values())):
        names = next(iter(results.values()))[use].modules
        files = sum(len(mpy[f"buslock/{name.partition('.')[2] or '__init__'}.mpy"]) for name in names)
        budget = f"{BUDGETS[use]:8}" if use in BUDGETS else ""
        budget += f", aim {AIMS[use]}" if use in AIMS else ""
        lines.append(f"{use:28}{files:8}" + "".join(f"{result[use].total:12}" for result in results.values()) + budget)
    return "\n".join(lines)


def add_arguments(parser):
    parser.add_argument("--unix", action="store_true", help="on Unix MicroPython only")


def run(args) -> int:
    environment.ensure("demo", "dev")
    if Path(sys.prefix).resolve() != environment.VENV.resolve():
        again = [str(environment.python()), str(Path(__file__).resolve()), *(["--unix"] if args.unix else [])]
        return subprocess.run(again).returncode
    with tempfile.TemporaryDirectory(prefix="buslock-size-") as folder:
        return _measure_all(Unix(Path(folder)), args.unix)


def _measure_all(unix: Unix, only_unix: bool) -> int:
    places: list[Unix | Pico] = [unix]
    missing = None if only_unix else firmware.missing()
    if missing:
        environment.say(f"without the Pico: {missing}")
    elif not only_unix:
        places.append(Pico())
    results: dict[str, dict[str, Use]] = {place.name: {} for place in places}
    wrong = []
    for use in USES:
        try:
            names = loaded_by(unix, use)
            found = {place.name: measure(place, names) for place in places}
        except SizeError as e:
            wrong.append(f"{use}: {e}")
            continue
        for place in places:
            results[place.name][use] = found[place.name]
            wrong += filter(None, [over_budget(use, place, found[place.name])])
    print("\n".join([report(results), "", *wrong]))
    return 1 if wrong else 0


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(prog="tools/size.py", description=HELP)
    add_arguments(arguments)
    sys.exit(run(arguments.parse_args()))
