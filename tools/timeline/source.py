"""Where dumps come from: a file, standard input, what a board prints by itself, or what it answers when asked."""

import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from tools import environment

LOCK = "pico.deploy"  # has mpremote
EXPRESSION = "trace.dump()"
ANSWER_LIMIT = 60  # seconds for a board to answer
QUIET = 0.5  # seconds after which a wait for text says that there was none
CHUNK = 1 << 16


class SourceError(Exception):
    """There is nothing to read; the message says why and the way out."""


def read(where: str) -> bytes:
    """All of a file, or of standard input for "-"."""
    try:
        return sys.stdin.buffer.read() if where == "-" else Path(where).read_bytes()
    except OSError as error:
        raise SourceError(f"{where} cannot be read: {error.strerror or error}") from None


def ask(port: str, expression: str) -> bytes:
    """What the expression prints on the board, in the globals of its main program, without a reset."""
    words = [str(environment.python()), "-m", "mpremote", "connect", port or "auto", "resume", "exec", expression]
    try:
        done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, timeout=ANSWER_LIMIT)
    except subprocess.TimeoutExpired:
        raise SourceError(f"the board has not answered for {ANSWER_LIMIT} s: press its reset button") from None
    # It prints its own errors where the board's output goes.
    if done.returncode == 0 or b"~buslock-trace" in done.stdout:
        return done.stdout
    raise SourceError(_why((done.stdout + done.stderr).decode(errors="replace").strip(), expression))


def _why(said: str, expression: str) -> str:
    last = said.splitlines()[-1] if said else "it said nothing"
    if "NameError" in last or "AttributeError" in last or "ImportError" in last:
        return (
            f"the board cannot run `{expression}` ({last}): say where your program keeps its Trace, for example "
            '--expression "from main import trace; trace.dump()"'
        )
    if "no device found" in said:
        return (
            "no board found: plug it in, or name its port, --board /dev/ttyACM0 (`tools/deploy.py --list` shows them)"
        )
    return f"the board did not give a dump. What mpremote said: {last}"


def follow(where: str) -> Iterator[bytes]:
    """What is written to the file, the pipe or standard input ("-"), as it comes; b"" while nothing does."""
    try:
        # Read below Python's buffers: a thread that waits in them would hold up the end of the program.
        file = 0 if where == "-" else os.open(where, os.O_RDONLY)
        while True:
            text = os.read(file, CHUNK)
            if text:
                yield text
            elif where == "-":
                return
            else:
                time.sleep(QUIET)
                yield b""
    except OSError as error:
        raise SourceError(f"{where} cannot be read: {error.strerror or error}") from None


def ask_again(port: str, expression: str, every: float) -> Iterator[bytes]:
    """Asks the board every so many seconds."""
    while True:
        yield ask(port, expression) + b"\n"
        time.sleep(every)


def listen(port: str) -> Iterator[bytes]:
    """What the board prints by itself; nothing is sent to it, so its program runs on."""
    script = environment.ROOT / "tools" / "timeline" / "listen.py"
    words = [str(environment.python()), str(script), port]
    child = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert child.stdout and child.stderr
    try:
        while text := os.read(child.stdout.fileno(), CHUNK):
            yield text
        raise SourceError(
            child.stderr.read().decode(errors="replace").strip() or "the connection to the board was lost"
        )
    finally:
        child.kill()
        child.wait()


def waiting(source: Callable[[], Iterator[bytes]]) -> Iterator[bytes]:
    """The same, read in a thread, with b"" whenever nothing came for a while: so the screen and Ctrl-C stay alive."""
    chunks: queue.Queue = queue.Queue(maxsize=100)

    def read_all():
        try:
            for chunk in source():
                chunks.put(chunk)
            chunks.put(None)
        except Exception as error:
            chunks.put(error)

    threading.Thread(target=read_all, daemon=True).start()
    while True:
        try:
            chunk = chunks.get(timeout=QUIET)
        except queue.Empty:
            chunk = b""
        if chunk is None:
            return
        if isinstance(chunk, Exception):
            raise chunk
        yield chunk
