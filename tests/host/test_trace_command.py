"""tools/trace.py: the command, the live view in a terminal, and dumps asked of a board that is a pty, by mpremote."""

import contextlib
import importlib
import io
import os
import pty
import signal
import subprocess
import sys
import threading
import time

import pytest
import trace_scenes

from tools import environment
from tools.timeline import live, reader, source

environment.ensure(source.LOCK)
importlib.invalidate_caches()
SCRIPT = str(environment.ROOT / "tools" / "trace.py")
DUMP = trace_scenes.contention(until=300_000).dump()


def command(*words, **how):
    return subprocess.run([sys.executable, SCRIPT, *words], capture_output=True, text=True, timeout=120, **how)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "bus.txt"
    path.write_text(DUMP)
    return path


def test_a_file_and_all_that_can_be_written(file, tmp_path):
    words = [f"--{kind}={tmp_path / kind}" for kind in ("html", "svg", "perfetto", "vcd")]
    done = command(str(file), *words)
    assert (done.returncode, done.stderr) == (0, "")
    assert "display holds i2c0/0x48 for 90.0 ms" in done.stdout
    assert done.stdout.count("-- wrote") == 4
    assert "<h1>bus.txt</h1>" in (tmp_path / "html").read_text()
    assert all((tmp_path / kind).stat().st_size > 1000 for kind in ("svg", "perfetto", "vcd"))


def test_standard_input_and_the_developers_command(file):
    done = command("-", input=DUMP)
    assert done.stdout == command(str(file)).stdout
    words = [sys.executable, str(environment.ROOT / "tools" / "dev.py"), "trace", str(file)]
    assert subprocess.run(words, capture_output=True, text=True, timeout=120).stdout == done.stdout


def test_a_part_and_a_title_of_the_picture(file, tmp_path):
    done = command(str(file), "--svg", str(tmp_path / "a.svg"), "--between", "100", "200", "--title", "before")
    assert done.returncode == 0
    assert "before" in (text := (tmp_path / "a.svg").read_text()) and "240 ms" not in text


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ([], 2, "Say what to read"),
        (["x", "--board"], 2, "Say what to read"),
        (["nowhere.txt"], 1, "nowhere.txt cannot be read: No such file"),
        (["-"], 1, "there is no dump: no line begins with"),
        (["-", "--follow"], 0, ""),
    ],
)
def test_nothing_to_read(words, code, said):
    done = command(*words, input="hello\n")
    assert done.returncode == code and said in done.stderr and "Traceback" not in done.stderr


def test_a_place_that_cannot_be_written(file):
    done = command(str(file), "--svg", "/nowhere/a.svg")
    assert done.returncode == 1 and done.stderr == "/nowhere/a.svg cannot be written: No such file or directory\n"


def test_a_reader_that_stops_reading(file, tmp_path):
    words = f"{sys.executable} {SCRIPT} {file} --svg {tmp_path / 'a.svg'} | head -1"
    done = subprocess.run(
        words, shell=True, capture_output=True, text=True, timeout=120, env={**os.environ, "PYTHONUNBUFFERED": "1"}
    )
    assert done.stdout.count("\n") == 1 and done.stderr == ""
    assert (tmp_path / "a.svg").exists()


def test_several_dumps(tmp_path):
    both = tmp_path / "both"
    both.write_text(trace_scenes.quarrel().dump() + "in between\n" + DUMP)
    last, first = command(str(both)), command(str(both), "--dump", "1")
    assert last.stdout.startswith("2 dumps; this is number 2") and "display" in last.stdout
    assert first.stdout.startswith("2 dumps; this is number 1") and "always wait for each other" in first.stdout
    assert "there is no dump 3: 2 were found" in command(str(both), "--dump", "3").stderr


def test_damage_is_told_with_its_line(file):
    file.write_text(DUMP.replace("~T2 sensor\n", "~T2 sen\x00sor\ntemperature 21\n", 1) + "~+5 gra")
    done = command(str(file), "--dump", "1")
    assert "The dump:\n  line " in done.stdout and "lines of other output, skipped: 1" in done.stdout
    assert (done.returncode, done.stderr) == (0, "")


# ---- live


def test_the_stream_is_cut_anywhere():
    data = ("boot\r\n" + DUMP + "temp 21 °C\n" + DUMP).replace("\n", "\r\n").encode()
    for size in (1, 7, 1000, len(data)):
        chunks = (data[at : at + size] for at in range(0, len(data), size))
        found = [each for each in live.dumps(chunks) if each]
        assert [len(each.events) for each in found] == [len(reader.parse(DUMP)[0].events)] * 2


def test_without_a_terminal_each_view_is_printed():
    done = command("-", "--follow", input=DUMP + DUMP)
    assert done.returncode == 0
    assert done.stdout.count("Suspicious:") == 2 and "\x1b" not in done.stdout


def test_nothing_has_come():
    out = io.StringIO()
    assert live.follow([b"hello\n", b""], out) == 0
    assert out.getvalue() == "no dump has come\n"


@contextlib.contextmanager
def in_terminal(*words, stdin=subprocess.PIPE):
    """The command in a terminal of its own; with wait(text), which returns all that was shown up to there."""
    ours, theirs = pty.openpty()
    child = subprocess.Popen(
        [sys.executable, SCRIPT, *words], stdin=stdin, stdout=theirs, stderr=theirs, start_new_session=True
    )
    os.close(theirs)
    shown = b""

    def wait(text=None, meanwhile=lambda: None):
        nonlocal shown
        end = time.monotonic() + 60
        while text is None or text not in shown.decode(errors="replace"):
            assert time.monotonic() < end, shown
            meanwhile()
            try:
                chunk = os.read(ours, 4096)
            except OSError:  # the other end was closed
                break
            shown += chunk
        return shown.decode(errors="replace")

    try:
        yield child, wait
    finally:
        if child.poll() is None:
            child.kill()
        child.wait()
        os.close(ours)
        if child.stdin:
            child.stdin.close()


def say(child, text):
    child.stdin.write(text.encode())
    child.stdin.flush()


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_the_live_view_ends_cleanly(how):
    with in_terminal("-", "--follow") as (child, wait):
        assert wait("waiting for the first dump").startswith(live.ENTER)
        say(child, DUMP)
        assert "display holds i2c0/0x48" in wait("dump 1,")
        say(child, trace_scenes.quarrel().dump())
        wait("dump 2,")
        child.send_signal(how)
        shown = wait()
        assert child.wait(30) == 0
    # The terminal is as it was, and the last view is left on it.
    assert shown.count(live.ENTER) == shown.count(live.LEAVE) == 1
    assert "always wait for each other" in shown[shown.index(live.LEAVE) :]
    assert "Traceback" not in shown


def test_a_file_that_grows_is_followed(tmp_path):
    growing = tmp_path / "log"
    growing.write_text(DUMP[:200])
    with in_terminal(str(growing), "--follow") as (child, wait):
        wait("waiting for the first dump")
        with growing.open("a") as more:
            more.write(DUMP[200:])
        wait("dump 1,")
        child.send_signal(signal.SIGINT)
        wait()
        assert child.wait(30) == 0


def test_the_view_fits_a_small_terminal(monkeypatch):
    monkeypatch.setattr(live.shutil, "get_terminal_size", lambda *size, **fallback: (40, 10))
    out = io.StringIO()
    screen = live.Screen(out)
    screen.show(reader.parse(DUMP)[0])
    lines = out.getvalue().split("\r\n")
    assert len(lines) <= 10 and all(len(line) <= 40 + len("\x1b[H\x1b[K") for line in lines[:-1])


# ---- a board


class Board(threading.Thread):
    """A pty that answers as MicroPython's raw REPL does."""

    def __init__(self, answers=None):
        super().__init__(daemon=True)
        self.ours, theirs = pty.openpty()
        self.port = os.ttyname(theirs)
        self.theirs = theirs
        self.answers = answers or (lambda code: (DUMP, ""))
        self.asked = []
        self.interrupted = 0
        self.start()

    def run(self):
        raw, code = False, b""
        with contextlib.suppress(OSError):
            while True:
                for byte in os.read(self.ours, 4096):
                    if raw and byte == 1 and code == b"\x05A":  # raw paste, which this board has not
                        code = b""
                        self.say("R\x00")
                    elif byte == 1:
                        raw, code = True, b""
                        self.say("raw REPL; CTRL-B to exit\r\n>")
                    elif byte == 2:
                        raw = False
                        self.say("\r\nMicroPython\r\n>>> ")
                    elif byte == 4 and raw:
                        self.asked.append(code.decode())
                        out, errors = self.answers(code.decode())
                        code = b""
                        self.say(f"OK{out}\x04{errors}\x04>".replace("\n", "\r\n"))
                    elif byte == 3:
                        self.interrupted += 1
                    elif raw:
                        code += bytes([byte])

    def say(self, text):
        os.write(self.ours, text.encode())

    def close(self):
        os.close(self.theirs)  # ends the reading, if nobody else has it open
        self.join(10)
        assert not self.is_alive(), "the port is still open somewhere"
        os.close(self.ours)


@pytest.fixture
def board():
    made = []

    def make(*how):
        made.append(Board(*how))
        return made[-1]

    yield make
    for each in made:
        each.close()


def test_a_board_is_asked(board):
    asked = board()
    done = command("--board", asked.port)
    assert done.returncode == 0, done.stderr
    assert "display holds i2c0/0x48" in done.stdout
    assert asked.asked == ["trace.dump()"]


def test_a_board_is_asked_something_else(board):
    asked = board()
    assert command("--board", asked.port, "--expression", "import app; app.t.dump()").returncode == 0
    assert asked.asked == ["import app; app.t.dump()"]


def test_a_board_without_a_trace(board):
    failing = board(lambda code: ("", "Traceback (most recent call last):\nNameError: name 'trace' isn't defined\n"))
    done = command("--board", failing.port)
    assert done.returncode == 1
    assert "the board cannot run `trace.dump()` (NameError: name 'trace' isn't defined)" in done.stderr
    assert "--expression" in done.stderr and "Traceback" not in done.stderr


def test_a_board_that_fails_within_the_dump(board):
    cut = DUMP[: len(DUMP) // 2]
    failing = board(lambda code: (cut, "Traceback\nMemoryError: \n"))
    done = command("--board", failing.port)
    assert done.returncode == 0 and "incomplete" in done.stdout and "the dump has no end line" in done.stdout


def test_no_board():
    done = command("--board", "/dev/ttyNOBODY")
    assert done.returncode == 1 and "/dev/ttyNOBODY" in done.stderr and "Traceback" not in done.stderr


def test_a_board_is_listened_to(board):
    talking = board()
    with in_terminal("--board", talking.port, "--follow") as (child, wait):
        wait("waiting for the first dump")
        # Until the port is open, what it says is lost.
        wait("dump 1,", lambda: talking.say("temp 21\n" + trace_scenes.contention(until=20_000).dump()))
        child.send_signal(signal.SIGINT)
        wait()
        assert child.wait(30) == 0
    assert talking.asked == [] and talking.interrupted == 0  # its program runs on


def test_a_board_is_asked_again_and_again(board):
    asked = board()
    words = ["--board", asked.port, "--follow", "--expression", "trace.dump()", "--every", "0.01"]
    with in_terminal(*words) as (child, wait):
        wait("dump 2,")
        child.send_signal(signal.SIGINT)
        wait()
        assert child.wait(30) == 0
    assert len(asked.asked) >= 2


def test_a_listened_board_that_is_not_there():
    done = command("--board", "/dev/ttyNOBODY", "--follow")
    assert done.returncode == 1 and "there is no port /dev/ttyNOBODY" in done.stderr
