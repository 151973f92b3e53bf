"""What stats() gives: a dict for code, which print() shows as a table."""

from .waitqueue import HOLD, LONGEST, PEAK, WAITS

_BUCKETS = 16  # of waits by their length, in powers of two
_BAR = 30  # characters


class Stats(dict):
    """`json.dumps(stats)`, `stats["waits"]`; and `print(stats)`."""

    def __init__(self, title, label, rows):
        super().__init__(rows)
        self._title = title
        self._label = label  # of a key
        self._names = [name for name, _ in rows]  # a dict has no order on MicroPython

    def __str__(self):
        lines = [self._title]
        for name in self._names:
            value = self[name]
            if name == "wait_ms":
                lines += _histogram(value)
            elif isinstance(value, dict):
                for key in sorted(value):
                    lines.append("  %-24s %10s  %s" % (name, value[key], key))
            elif name[-4:] == "_key":
                if value is not None:  # a label already, or the key itself
                    lines[-1] += "  " + (value if name == "longest_call_key" else self._label(value))
            else:
                lines.append("  %-24s %10s" % (name, "-" if value is None else value))
        return "\n".join(lines)


def _histogram(counts):
    most = max(counts)
    lines = []
    for i, n in enumerate(counts):
        if n:
            low = 1 << i >> 1
            text = (
                "%d" % low if i < 2 else "%d and more" % low if i == _BUCKETS - 1 else "%d to %d" % (low, 2 * low - 1)
            )
            bar = "#" * max(1, n * _BAR // most)
            lines.append("  %-24s %10d  %s" % ("waited " + text + " ms", n, bar))
    return lines


def table_rows(table):
    """`wait_ms` counts waits by their length: below 1 ms, below 2, below 4, and so on.

    `longest_hold_ms`: for how long one holder has made a task wait, at most. What it held before somebody came, nobody
    has counted.
    """
    count = table._counts.get
    waits = [0] * _BUCKETS
    for event in table._counts:
        if isinstance(event, int) and event >= 0:
            waits[min(event, _BUCKETS - 1)] += table._counts[event]
    return [
        ("entries", len(table._entries)),
        ("peak_entries", max(count(PEAK), len(table._entries))),
        ("waits", count(WAITS)),
        ("timeouts", count("timeouts", 0)),
        ("cancellations", count("cancellations", 0)),
        ("rejections", count("rejections", 0)),
        ("stale_holders", count("stale", 0)),
        ("longest_queue", count(LONGEST)),
        ("longest_queue_key", count("longest_key")),
        ("longest_wait_ms", count("wait", 0)),
        ("longest_wait_key", count("wait_key")),
        ("longest_hold_ms", count(HOLD)),
        ("longest_hold_key", count("hold_key")),
        ("wait_ms", waits),
    ]


def table_stats(table):
    return Stats(table.name, table._label, table_rows(table))


def stats(bus):
    """A dict: that of the table, and the counters of the bus. print() shows it as a table.

    `longest_call_ms` is the longest time for which a driver's call has stopped the loop, `longest_calls_ms` that of
    each device that was called. `wire_longest_wait_key` and `wire_longest_hold_key`: the device with whose
    hold the wire was taken then."""
    table = bus._table
    rows = table_rows(table)
    count = table._counts.get
    for event in ("nacks", "errors", "retries", "recoveries") + bus._events:
        rows.append((event, count(event, 0)))
    calls = {device._label(): device._longest_ms for device in bus._every_device() if device._longest_ms}
    rows.append(("longest_call_ms", count("longest_call_ms", 0)))
    rows.append(("longest_call_key", count("longest_call_key")))
    rows.append(("longest_calls_ms", calls))
    count = bus._wire._counts.get
    rows.append(("wire_waits", count(WAITS)))
    rows.append(("wire_timeouts", count("timeouts", 0)))
    rows.append(("wire_longest_queue", count(LONGEST)))
    rows.append(("wire_longest_wait_ms", count("wait", 0)))
    rows.append(("wire_longest_wait_key", count("wait_key")))
    rows.append(("wire_longest_hold_ms", count(HOLD)))
    rows.append(("wire_longest_hold_key", count("hold_key")))
    return Stats(bus.name, table._label, rows)


def lazy_stats(lazy):
    rows = [
        ("state", lazy.state),
        ("calls", lazy._calls),
        ("failures", lazy._failures),
        ("last_ms", lazy._last_ms),
    ]
    return Stats(lazy.name, str, rows)
