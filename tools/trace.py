"""Shows what a bus did, from the dump of a Trace: who held it, who waited for whom, what blocked the loop.

python3 tools/trace.py dump.txt                      the summary; "-" reads standard input
python3 tools/trace.py dump.txt --html bus.html      and the timeline as a page (--svg, --perfetto, --vcd)
python3 tools/trace.py --board                       asks the only board there is for its dump
python3 tools/trace.py --board --follow              shows each dump that a running board prints, until Ctrl-C
"""

import argparse
import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
if __name__ == "__main__":
    sys.path[0] = str(ROOT)

from tools import environment  # noqa: E402
from tools.timeline import dump, live, page, perfetto, reader, source, spans, summary, svg, vcd  # noqa: E402

HELP = "Reads the dump of a Trace and shows what the bus did: a summary, a timeline page, a picture, Perfetto, VCD."


def add_arguments(parser):
    parser.add_argument("source", nargs="?", metavar="FILE", help='a file with a dump, or "-" for standard input')
    board = "ask the board at this port, or the only one there is; its program is stopped, unless it runs aiorepl"
    parser.add_argument("--board", nargs="?", const="", metavar="PORT", help=board)
    expression = f"what the board is to run ({source.EXPRESSION}), in the globals of its main program"
    parser.add_argument("--expression", metavar="CODE", help=expression)
    follow = "a view that is drawn anew with each dump, until Ctrl-C. With --board: of the dumps that the running program prints"
    parser.add_argument(
        "--follow", action="store_true", help=follow + "; with --expression, it is asked again and again"
    )
    parser.add_argument("--every", type=float, default=1, metavar="SECONDS", help="how often it is asked (1)")
    parser.add_argument("--html", type=Path, metavar="FILE", help="write the timeline as a page for the browser")
    parser.add_argument("--svg", type=Path, metavar="FILE", help="write it as a picture for a README or a report")
    parser.add_argument(
        "--perfetto", type=Path, metavar="FILE", help="write JSON for ui.perfetto.dev or chrome://tracing"
    )
    parser.add_argument("--vcd", type=Path, metavar="FILE", help="write signals for GTKWave or PulseView")
    between = "only this part in the picture, in ms from the beginning"
    parser.add_argument("--between", type=float, nargs=2, metavar=("START", "END"), help=between)
    parser.add_argument("--title", help="what the page and the picture are called (the file's name)")
    parser.add_argument("--dump", type=int, metavar="N", help="which dump, if there are several (the last)")


def run(args) -> int:
    if (args.source is None) == (args.board is None):
        print('Say what to read: a file, "-" for standard input, or --board; only one of them.', file=sys.stderr)
        return 2
    if args.board is not None:
        environment.ensure(source.LOCK)
    try:
        code = _follow(args) if args.follow else _show(args)
        sys.stdout.flush()
        return code
    except source.SourceError as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # `| head` has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _follow(args) -> int:
    if args.board is None:
        return live.follow(source.waiting(lambda: source.follow(args.source)))
    if args.expression is None:
        return live.follow(source.waiting(lambda: source.listen(args.board)))
    return live.follow(source.waiting(lambda: source.ask_again(args.board, args.expression, args.every)))


def _show(args) -> int:
    asked = args.board is not None
    data = source.ask(args.board, args.expression or source.EXPRESSION) if asked else source.read(args.source)
    found = reader.parse(data)
    chosen = _choose(found, args.dump)
    timeline = spans.build(chosen)
    written = _write(args, timeline)  # first: who reads the summary may stop reading
    if len(found) > 1:
        print(f"{len(found)} dumps; this is number {found.index(chosen) + 1}. --dump N shows another.\n")
    print(summary.text(timeline), end="")
    for path in written:
        print(f"-- wrote {path}")
    return 0


def _choose(found: list[dump.Dump], number: int | None) -> dump.Dump:
    if not found:
        raise source.SourceError(
            'there is no dump: no line begins with "~buslock-trace", nor with another of its records'
        )
    if number is not None and not 1 <= number <= len(found):
        raise source.SourceError(f"there is no dump {number}: {len(found)} were found")
    full = [each for each in found if each.events] or found
    return full[-1] if number is None else found[number - 1]


def _write(args, timeline: spans.Timeline) -> list[Path]:
    title = dump.clean(args.title or (Path(args.source).name if args.source not in (None, "-") else "trace"))
    start, end = (round(ms * 1000) for ms in args.between) if args.between else (0, None)
    texts = {
        "html": lambda: page.text(timeline, title),
        "svg": lambda: svg.text(timeline, title, start, end),
        "perfetto": lambda: perfetto.text(timeline),
        "vcd": lambda: vcd.text(timeline),
    }
    paths = {name: getattr(args, name) for name in texts if getattr(args, name) is not None}
    for name, path in paths.items():
        try:
            path.write_text(texts[name](), encoding="utf-8")
        except OSError as error:
            raise source.SourceError(f"{path} cannot be written: {error.strerror or error}") from None
    return list(paths.values())


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="tools/trace.py", description=HELP)
    add_arguments(parser)
    return run(parser.parse_args(argv))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
