"""The timeline as a picture for a README or a report: SVG without scripts, readable on light and dark."""

from html import escape

from tools.timeline.lanes import SECTIONS, Lane, lay_out
from tools.timeline.spans import Span, Timeline, duration

WIDTH, LEFT, RIGHT = 960, 130, 16
TOP, ROW, THIN, PAD, HEADING = 54, 13, 4, 4, 20
MOST_ROWS = 8  # of normal height; more are drawn thin
GAP, NARROW = 0.6, 2  # pixels: a narrow span this near to one of its colour is drawn as part of it
COLOURS = {  # name: on light, on dark, what the legend calls it
    "wait": ("#e3a32b", "#d29922", "waits"),
    "hold": ("#6ca4e8", "#3572c6", "holds a key"),
    "wire": ("#b6d4f5", "#234a7d", "holds the wire"),
    "transfer": ("#178f6b", "#2fb98c", "transfers"),
    "bad": ("#d1242f", "#f85149", "missed or failed"),
    "block": ("#8250df", "#a371f7", "loop stopped"),
    "select": ("#9aa7b4", "#6e7a87", "chip select"),
    "drive": ("#9aa7b4", "#6e7a87", "drive enable"),
    "recover": ("#bc4c00", "#e0823d", "recovers"),
    "making": ("#a475d8", "#8957e5", "set-up"),
}
STYLE = """
text { font: 12px system-ui, -apple-system, "Segoe UI", Helvetica, Arial, sans-serif; fill: #7a828c; }
.name { font-weight: 600; }
.small { font-size: 11px; }
.rule { stroke: #7a828c; stroke-opacity: .35; }
.paper { fill: none; }
.on { font-size: 10px; fill: #10161d; }
.band { fill: #7a828c; fill-opacity: .08; }
@media (prefers-color-scheme: light) { text { fill: #1f2328; } .small { fill: #59636e; } .paper { fill: #ffffff; } }
@media (prefers-color-scheme: dark) { text { fill: #e6edf3; } .small { fill: #9198a1; } .paper { fill: #0d1117; } }
"""


def text(timeline: Timeline, title: str, start: int = 0, end: int | None = None) -> str:
    """The SVG of start..end in µs, or of all of it."""
    end = max(timeline.end if end is None else end, start + 1)
    return _Picture(timeline, title, start, end).svg()


def colour(timeline: Timeline, span: Span) -> str:
    if span.bad:
        return "bad"
    return "wire" if span.kind == "hold" and timeline.key(span.key).kind == "wire" else span.kind


class _Picture:
    def __init__(self, timeline: Timeline, title: str, start: int, end: int):
        self.timeline, self.title, self.start, self.end = timeline, title, start, end
        self.scale = (WIDTH - LEFT - RIGHT) / (end - start)
        self.used: set[str] = set()

    def svg(self) -> str:
        parts: list[str] = []
        y = TOP
        lanes = [lane for lane in lay_out(self.timeline) if lane.rows]
        for section in SECTIONS:
            chosen = [lane for lane in lanes if lane.section == section]
            if chosen:
                parts.append(_text(12, y + 14, section.upper(), "small"))
                y += HEADING
            for number, lane in enumerate(chosen):
                height = self._height(lane)
                if number % 2 == 0:
                    parts.append(f'<rect class="band" x="0" y="{y}" width="{WIDTH}" height="{height}"/>')
                parts += self._lane(lane, y)
                y += height
        return self._document(y + 10, [*self._axis(y), *self._marks(y), *parts])

    def _height(self, lane: Lane) -> int:
        return max(len(lane.rows) * self._row(lane), ROW) + 2 * PAD

    def _row(self, lane: Lane) -> int:
        return ROW if len(lane.rows) <= MOST_ROWS else THIN

    def _lane(self, lane: Lane, y: int) -> list[str]:
        parts = [_text(12, y + self._height(lane) / 2 + 4, _cut(lane.name, 18), "name")]
        for i, row in enumerate(lane.rows):
            top = y + PAD + i * self._row(lane)
            parts += self._spans(row, top, self._row(lane) - 1)
            if self._row(lane) == ROW:
                parts += self._words(lane, row, top + ROW - 4)
        return parts

    def _words(self, lane: Lane, row: list[Span], y: int) -> list[str]:
        """In holds that are wide enough: who holds it, or what the task holds."""
        parts = []
        for span in row:
            start, end = max(span.start, self.start), min(span.end, self.end)
            room = int(self.scale * (end - start) / 6) - 1
            if span.kind == "hold" and room >= 4:
                named = (
                    self.timeline.key_name(span.key) if lane.section == "tasks" else self.timeline.task_name(span.task)
                )
                parts.append(_text(LEFT + self.scale * (start - self.start) + 4, y, _cut(named, room), "on"))
        return parts

    def _spans(self, row: list[Span], y: int, height: int) -> list[str]:
        """One path a colour: a picture of 50,000 events has to stay a file that one can put in a README."""
        boxes: dict[tuple[str, int], list[list[float]]] = {}
        for span in row:
            if span.end < self.start or span.start > self.end:
                continue
            left = LEFT + self.scale * (max(span.start, self.start) - self.start)
            right = LEFT + self.scale * (min(span.end, self.end) - self.start)
            name = colour(self.timeline, span)
            inset = 2 if span.kind == "wait" and height > THIN else 0  # told apart without colours, too
            same = boxes.setdefault((name, inset), [])
            self.used.add(name)
            if same and left - same[-1][1] < GAP and right - left < NARROW:
                same[-1][1] = max(same[-1][1], right)
            else:
                same.append([left, max(right, left + 0.5)])
        parts = []
        for name, inset in sorted(boxes, key=lambda box: box[0] == "bad"):  # bad ones on top
            tall = height - 2 * inset
            path = "".join(
                f"M{left:.1f} {y + inset}h{max(right - left - (0.6 if right - left > 3 else 0), 0.5):.1f}"
                f"v{tall}H{left:.1f}z"
                for left, right in boxes[name, inset]
            )
            parts.append(f'<path class="{name}" d="{path}"/>')
        return parts

    def _axis(self, bottom: int) -> list[str]:
        step = _nice((self.end - self.start) / 8)
        parts = []
        at = -(-self.start // step) * step
        while at <= self.end:
            x = LEFT + self.scale * (at - self.start)
            parts.append(f'<line class="rule" x1="{x:.1f}" y1="{TOP - 4}" x2="{x:.1f}" y2="{bottom}"/>')
            if x < WIDTH - 40:
                parts.append(_text(x + 3, TOP - 6, _tick(at), "small"))
            at += step
        return parts

    def _marks(self, bottom: int) -> list[str]:
        parts = []
        for point in self.timeline.points:
            if point.kind == "mark" and self.start <= point.at <= self.end:
                x = LEFT + self.scale * (point.at - self.start)
                parts.append(
                    f'<line class="rule" x1="{x:.1f}" y1="{TOP}" x2="{x:.1f}" y2="{bottom}" stroke-dasharray="3 3"/>'
                )
                parts.append(_text(x + 3, TOP + 12, self.timeline.key_name(point.key), "small"))
        return parts

    def _document(self, height: int, parts: list[str]) -> str:
        light = "".join(f".{name} {{ fill: {colours[0]}; }} " for name, colours in COLOURS.items())
        dark = (
            "".join(f".{name} {{ fill: {colours[1]}; }} " for name, colours in COLOURS.items())
            + ".on { fill: #ffffff; }"
        )
        style = f"{STYLE}{light}\n@media (prefers-color-scheme: dark) {{ {dark}}}\n"
        head = [f'<rect class="paper" width="{WIDTH}" height="{height}"/>', _text(12, 20, self.title, "name")]
        x = WIDTH - RIGHT
        for name in reversed([name for name in COLOURS if name in self.used]):
            words = COLOURS[name][2]
            x -= 26 + 6 * len(words)
            head.append(f'<rect class="{name}" x="{x}" y="11" width="10" height="10" rx="2"/>')
            head.append(_text(x + 14, 20, words, "small"))
        body = "\n".join([*head, *parts])
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" '
            f'aria-label="{escape(self.title)}: timeline of a bus">\n<style>{style}</style>\n{body}\n</svg>\n'
        )


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - 1] + "…"


def _tick(us: int) -> str:
    """`200 ms`, without the digits that duration() keeps."""
    for unit, size in (("s", 1_000_000), ("ms", 1000)):
        if us >= size:
            return f"{us / size:g} {unit}"
    return duration(us)


def _nice(raw: float) -> int:
    """1, 2 or 5 times a power of ten, and at least so much."""
    power = 1
    while power * 10 <= raw:
        power *= 10
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= raw)


def _text(x: float, y: float, text: str, kind: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}">{escape(text)}</text>'
