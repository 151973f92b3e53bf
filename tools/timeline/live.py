"""The terminal view that is drawn anew with every dump, until Ctrl-C or the end of what is read."""

import codecs
import contextlib
import shutil
import signal
import sys
import textwrap
import time
from collections.abc import Iterable

from tools.timeline import summary
from tools.timeline.dump import Dump
from tools.timeline.reader import Reader
from tools.timeline.spans import build

ENTER, LEAVE = "\x1b[?1049h\x1b[?25l", "\x1b[?25h\x1b[?1049l"
TOP = 3
SENTENCES = ("  ! ", "  line ")


def follow(chunks: Iterable[bytes], out=None) -> int:
    """Shows each dump of the stream as it is complete; 0, also after Ctrl-C."""
    out = out or sys.stdout
    screen = Screen(out) if out.isatty() else Lines(out)
    with _interruptible(), screen, contextlib.suppress(KeyboardInterrupt):
        for dump in dumps(chunks):
            if dump is None:
                screen.wait()
            elif dump.events:
                screen.show(dump)
    if screen.count:
        screen.finish()
    else:
        print("no dump has come", file=out)
    return 0


@contextlib.contextmanager
def _interruptible():
    """SIGTERM ends as Ctrl-C does, with the terminal as it was; Ctrl-C works in the background of a shell script, too."""
    names = (signal.SIGINT, signal.SIGTERM)
    before = [signal.getsignal(name) for name in names]
    try:
        for name in names:
            signal.signal(name, signal.default_int_handler)
    except ValueError:  # not in the main thread
        yield
        return
    try:
        yield
    finally:
        for name, handler in zip(names, before, strict=True):
            signal.signal(name, handler)


def dumps(chunks: Iterable[bytes]):
    """The dumps in the stream; None while there is no new one."""
    reader, decoder, rest = Reader(), codecs.getincrementaldecoder("utf-8")("replace"), ""
    for chunk in chunks:
        text = rest + decoder.decode(chunk).replace("\r\n", "\n")
        *complete, rest = text.split("\n")
        for line in complete:
            yield from reader.feed(line)
        yield None
    if rest:
        yield from reader.feed(rest)
    yield from reader.close()


class Lines:
    """Where there is no terminal: one view after the other."""

    def __init__(self, out):
        self.out = out
        self.count = 0

    def __enter__(self):
        return self

    def __exit__(self, *reason):
        pass

    def show(self, dump: Dump) -> None:
        self.count += 1
        print(f"{view(dump)}\n", file=self.out, flush=True)

    def wait(self) -> None:
        pass

    def finish(self) -> None:
        pass


class Screen(Lines):
    """A terminal: the view on the alternate screen, and the last one left behind on the usual one."""

    def __init__(self, out):
        super().__init__(out)
        self.text = "waiting for the first dump"
        self.came = time.monotonic()

    def __enter__(self):
        self.out.write(ENTER)
        self.wait()
        return self

    def __exit__(self, *reason):
        self.out.write(LEAVE)
        self.out.flush()

    def show(self, dump: Dump) -> None:
        self.count += 1
        self.text = view(dump)
        self.came = time.monotonic()
        self.wait()

    def wait(self) -> None:
        width, height = shutil.get_terminal_size()
        lines = [part for line in self.text.split("\n") for part in _fitted(line, width - 1)]
        if len(lines) > height - 2:
            lines = [*lines[: height - 3], "..."]
        age = int(time.monotonic() - self.came)
        status = f"dump {self.count}, {age} s ago; Ctrl-C ends" if self.count else "Ctrl-C ends"
        shown = "".join(f"{line}\x1b[K\r\n" for line in lines)
        self.out.write(f"\x1b[H{shown}\x1b[J\x1b[{height};1H\x1b[7m {status[: width - 2]} \x1b[0m")
        self.out.flush()

    def finish(self) -> None:
        print(self.text, file=self.out)


def _fitted(line: str, width: int) -> list[str]:
    """Sentences go on in the next line, tables are cut."""
    if not line.startswith(SENTENCES):
        return [line[:width]]
    return textwrap.wrap(line, width, subsequent_indent="    ")


def view(dump: Dump) -> str:
    timeline = build(dump)
    parts = [summary.head(timeline), *summary.sections(timeline, TOP), summary.remarks(timeline)]
    return "\n\n".join(filter(None, parts))
