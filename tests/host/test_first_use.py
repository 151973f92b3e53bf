"""The first use of something loads modules, which stops the loop for milliseconds: not where that does harm."""

import subprocess
import sys

import pytest

from tools import environment

ROOT = environment.ROOT

# Three tasks ask their nodes for the first time, at once. The UART sends for some turns of the loop.
RS485 = """
import asyncio
import sys

sys.path.insert(0, "lib")
from buslock import UARTBus

before = None


class Pin:
    OUT = 1

    def init(self, *args, **kwargs):
        pass

    def __call__(self, level=0):
        global before
        loaded = set(sys.modules)
        if level:
            before = loaded
        elif before is not None:
            print(sorted(loaded - before))
            before = None

    value = __call__


class UART:
    baudrate = 115200
    sent = b""
    looks = 0

    def write(self, data):
        self.sent += bytes(data)
        return len(data)

    def any(self):
        return len(self.sent)

    def read(self, n):
        sent, self.sent = self.sent, b""
        return sent

    def txdone(self):
        self.looks += 1
        return self.looks % 5 == 0

    def flush(self):
        pass


async def main():
    bus = UARTBus(UART(), de=Pin())
    request = bytes(40)  # it takes longer than the loop is stopped for at its end
    nodes = ((1, None), (2, None), (3, 999))
    await asyncio.gather(*[bus.device(n).exchange(request, nbytes=1, timeout_ms=ms) for n, ms in nodes])


asyncio.run(main())
"""


@pytest.mark.parametrize("runtime", ["micropython", "cpython"])
def test_nothing_is_loaded_while_the_drive_is_enabled(runtime):
    """Or DE drops late, and the first reply is lost."""
    command = environment.vm() if runtime == "micropython" else [sys.executable]
    done = subprocess.run([*command, "-c", RS485], capture_output=True, text=True, cwd=ROOT, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["[]"] * 3
