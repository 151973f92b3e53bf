"""The chart for README: bars of times relative to what the library replaces, as SVG, readable on light and dark."""

from html import escape

from tools.bench_figures import DESKS

# (what is shown, its yardstick, the result). On a desk a chip is simulated, and reading from it means nothing.
BOARDS_ONLY = ("registers.read",)
BARS = (
    ("async with lock", "async with asyncio.Lock()", "locks.lock"),
    ("async with table.hold(key)", "async with asyncio.Lock()", "locks.key"),
    ("lock.acquire(timeout_ms=…)", "wait_for_ms(asyncio lock.acquire(), …)", "waits.deadline.lock"),
    ("… and it has to wait", "wait_for_ms(asyncio lock.acquire(), …)", "waits.contended.lock"),
    ("hand-over to the next task", "a hand-over of asyncio.Lock", "waits.handover.lock"),
    ("1 ms operations on many keys", "dict of counted asyncio.Locks", "tables.table"),
    ("device.read_register()", "raw readfrom_mem()", "registers.read"),
)
COLOURS = {
    "micropython": "#2f81f7",
    "micropython-adafruit": "#a371f7",
    "cpython": "#c69026",
    "pico": "#cf4679",
}
# A grey that can be read on white and on black, for viewers that do not know which of them they have.
STYLE = """
text { font: 13px system-ui, -apple-system, "Segoe UI", Helvetica, Arial, sans-serif; fill: #7a828c; }
.name { font-weight: 600; }
.axis { stroke: #7a828c; stroke-width: 1; }
.one { stroke: #7a828c; stroke-width: 1.5; stroke-dasharray: 4 3; }
@media (prefers-color-scheme: light) { text { fill: #1f2328; } .small { fill: #59636e; } }
@media (prefers-color-scheme: dark) { text { fill: #e6edf3; } .small { fill: #9198a1; } }
.small { font-size: 11px; }
"""
WIDTH, LEFT, RIGHT = 860, 300, 60
BAR, GAP, TOP, BOTTOM = 14, 20, 56, 34
LONGEST = 2.5  # a longer bar is cut, and its number says how long it would be


def draw(runtimes: dict[str, tuple[str, dict]]) -> str:
    """The SVG; `runtimes` is {name: (title, results)}."""
    scale = (WIDTH - LEFT - RIGHT) / LONGEST
    parts = []
    y = TOP
    for text, yardstick, result in BARS:
        values = [
            (name, of[result]["ratio"])
            for name, (_, of) in runtimes.items()
            if "ratio" in of.get(result, {}) and (name not in DESKS or result not in BOARDS_ONLY)
        ]
        if not values:
            continue
        height = max(BAR * len(values), 2 * BAR)
        middle = y + height / 2
        parts.append(_text(LEFT - 12, middle - 3, text, "name", "end"))
        parts.append(_text(LEFT - 12, middle + 12, f"1 = {yardstick}", "small", "end"))
        bar_y = middle - BAR * len(values) / 2
        for name, ratio in values:
            width = scale * min(ratio, LONGEST)
            parts.append(
                f'<rect x="{LEFT}" y="{bar_y + 1:.1f}" width="{width:.1f}" height="{BAR - 2}" rx="2" '
                f'fill="{COLOURS.get(name, "#7a828c")}"/>'
            )
            parts.append(_text(LEFT + width + 5, bar_y + BAR - 3, f"{ratio:.2f}", "small"))
            bar_y += BAR
        y += height + GAP
    bottom = y - GAP + 8
    one = LEFT + scale
    lines = [
        f'<line class="axis" x1="{LEFT}" y1="{TOP - 8}" x2="{LEFT}" y2="{bottom}"/>',
        f'<line class="one" x1="{one:.1f}" y1="{TOP - 8}" x2="{one:.1f}" y2="{bottom}"/>',
        _text(one, bottom + 16, "1: as long as what it replaces; shorter is faster", "small", "middle"),
    ]
    return _document(bottom + BOTTOM, [*_legend(runtimes), *lines, *parts])


def _legend(runtimes: dict[str, tuple[str, dict]]) -> list[str]:
    parts = []
    x = 16.0
    for name, (title, _) in runtimes.items():
        parts.append(f'<rect x="{x}" y="14" width="12" height="12" rx="2" fill="{COLOURS.get(name, "#7a828c")}"/>')
        parts.append(_text(x + 18, 24, title, "small"))
        x += 44 + 6.2 * len(title)
    return parts


def _text(x: float, y: float, text: str, kind: str, anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}" text-anchor="{anchor}">{escape(text)}</text>'


def _document(height: float, parts: list[str]) -> str:
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:.0f}" role="img" '
        f'aria-label="Times relative to what buslock replaces">\n<style>{STYLE}</style>\n{body}\n</svg>\n'
    )
