"""The timeline as a value change dump: the keys and wires as signals, beside a logic analyser's capture.

Opens in GTKWave and PulseView. For each wire `busy`; for each wire and key `waiting` (somebody is), `held`, `by_TASK` (the
holder) and `queue` (how many wait). All but the queue are single bits, and the queue is a real, because sigrok before 0.6
stops at the first value of a vector; and every name has the key's in it, because it shows no scopes.
Read in full by GTKWave 3.3.118 (vcd2fst) and by libsigrok 0.5.2 (sigrok-cli -I vcd).
"""

import re
from string import ascii_letters

from tools.timeline.spans import SPANS, Span, Timeline, queue

BIT, REAL = "wire 1", "real 64"
WORDS = {"transfer": "busy", "hold": "held", "wait": "waiting"}


def text(timeline: Timeline) -> str:
    signals = _signals(timeline)
    lines = ["$comment made by buslock's tools/trace.py $end", "$timescale 1 us $end", "$scope module buslock $end"]
    lines += [f"$var {kind} {_code(i)} {name} $end" for i, (name, kind, _) in enumerate(signals)]
    lines += ["$upscope $end", "$enddefinitions $end"]
    changes: dict[int, list[str]] = {0: []}
    for i, (_, kind, steps) in enumerate(signals):
        for at, value in [(0, 0), *steps] if not steps or steps[0][0] else steps:
            changes.setdefault(at, []).append(f"{value}{_code(i)}" if kind == BIT else f"r{value} {_code(i)}")
    for at in sorted(changes):
        lines += [f"#{at}", *changes[at]]
    # So that the last values are seen for a moment.
    lines.append(f"#{max(timeline.end, *changes) + 1}")
    return "\n".join(lines) + "\n"


def _signals(timeline: Timeline) -> list[tuple[str, str, list[tuple[int, int]]]]:
    """(name, kind, steps) of each."""
    found = []
    names: set[str] = set()
    for number, key in timeline.dump.keys.items():
        spans = {kind: [span for span in timeline.spans if span.key == number and span.kind == kind] for kind in SPANS}
        if not any(spans.values()):
            continue
        name = _unused(timeline.key_name(number), number, names)
        for kind in SPANS:
            if spans[kind] or kind in ("hold", "wait") or (kind == "transfer" and key.kind == "wire"):
                found.append((f"{name}_{WORDS.get(kind, kind)}", BIT, _levels(spans[kind])))
        for task in sorted({span.task for span in spans["hold"]}):
            holds = [span for span in spans["hold"] if span.task == task]
            found.append((_unused(f"{name}_by_{timeline.task_name(task)}", task, names), BIT, _levels(holds)))
        found.append((f"{name}_queue", REAL, queue(spans["wait"])))
    return found


def _levels(spans: list[Span]) -> list[tuple[int, int]]:
    """Whether any of the spans lasts."""
    levels: list[tuple[int, int]] = []
    for at, number in queue(spans):
        level = int(number > 0)
        if not levels or levels[-1][1] != level:
            levels.append((at, level))
    return levels


def _unused(text: str, number: int, names: set[str]) -> str:
    """Different names can become the same word."""
    name = _word(text)
    name = f"{name}_{number}" if name in names else name
    names.add(name)
    return name


def _code(number: int) -> str:
    """A short name; of letters only, because a reader can take "#" for a time and "0" for a value."""
    code = ""
    while True:
        number, digit = divmod(number, len(ascii_letters))
        code += ascii_letters[digit]
        if not number:
            return code


def _word(name: str) -> str:
    """Without the characters that separate or end things there; it may not begin with a digit either."""
    word = re.sub(r"[^A-Za-z0-9_.]+", "_", name).strip("_") or "_"
    return f"_{word}" if word[0].isdigit() else word
