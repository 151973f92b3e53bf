"""On the virtual clock, tasks run in exactly the order that they have on a real one."""

import os
import subprocess

import pytest

from tools import runtimes

PROGRAMS = 300


def order(runtime: runtimes.Runtime, clock: str) -> list[str]:
    folder = runtimes.ROOT / "tests" / "host"
    request = runtimes.Request(folder, folder, "", clock, [])
    command, variables = runtime.command(request)
    # The same VM, path and heap, with another script.
    command[command.index(str(runtimes.RUNNER)) :] = [str(folder / "random_orders.py"), clock, "0", str(PROGRAMS)]
    done = subprocess.run(command, env={**os.environ, **variables}, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize("name", ["micropython", "micropython-adafruit"])
def test_virtual_order_is_the_real_order(name):
    runtime = runtimes.ALL[name]
    if missing := runtime.missing():
        pytest.skip(missing)
    real = order(runtime, "real")
    assert len(real) == PROGRAMS
    assert sum("C" in line for line in real) > PROGRAMS / 2, "the programs hardly cancel anything"
    assert order(runtime, "virtual") == real
