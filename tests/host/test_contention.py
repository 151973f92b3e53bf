"""examples/contention.py: it runs before and after the fix, and its trace shows what the fix changes."""

import subprocess

import pytest

from tools import environment

COMMAND = [str(environment.ROOT / "tools" / "dev.py"), "demo", "contention"]


def run(*arguments: str) -> list[str]:
    environment.ensure("demo")
    done = subprocess.run(
        [str(environment.python()), *COMMAND, *arguments], cwd=environment.ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def grants_of_the_wire(lines: list[str], task: str) -> int:
    """How often the task was given the wire, read off the dump."""
    wire = next(line.split()[0] for line in lines if line.endswith(" wire i2c0 wire")).removeprefix("~")
    number = next(line.split()[0] for line in lines if line.endswith(f" {task}") and line.startswith("~T"))
    return sum(line.split(" ", 1)[1:] == [f"grant {wire} {number.removeprefix('~')}"] for line in lines)


@pytest.mark.parametrize(("arguments", "grants"), [((), 4), (("fixed",), 64)])
def test_the_display_keeps_the_wire_until_it_is_fixed(arguments, grants):
    """Four frames of eight pages of two writes: once a frame before, for each write after."""
    lines = run(*arguments)
    assert any(line.startswith("sensor: ") for line in lines)
    assert "i2c0" in lines  # the title of the statistics
    dump = [line for line in lines if line.startswith("~")]
    assert dump[0].startswith("~buslock-trace 1 ") and " lost=0 " in dump[0] and dump[-1].startswith("~end ")
    assert grants_of_the_wire(dump, "display") == grants
    # Whoever waited, waited for the display: with the fix nobody has to wait for the wire at all.
    waits = int(next(line.split()[1] for line in lines if line.strip().startswith("wire_waits")))
    assert (waits > 0) == (not arguments)
