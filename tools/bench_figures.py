"""The figures that the programs of tools/bench print, what each of them means, and the limits they are judged by."""

from dataclasses import dataclass, field

DESKS = ("micropython", "micropython-adafruit", "cpython")
VMS = ("micropython", "micropython-adafruit")
BOARDS = ("pico",)


@dataclass
class Row:
    """One line of the table: a quantity of a result, and its limits by runtime."""

    result: str  # as the program names it: "locks.lock"
    quantity: str  # "ratio", "bytes", "count", "us"
    text: str
    limits: dict[str, float] = field(default_factory=dict)
    at_least: bool = False
    less: str = ""  # another result of which the same quantity is taken off
    unit: str = ""

    def value(self, results: dict) -> float | None:
        found = results.get(self.result, {}).get(self.quantity)
        if found is None or not self.less:
            return found
        other = results.get(self.less, {}).get(self.quantity)
        return None if other is None else found - other

    def spread(self, results: dict) -> tuple[float, float] | None:
        """The middle half of the rounds."""
        found = results.get(self.result, {})
        low = found.get(f"{self.quantity}_low")
        return None if low is None or self.less else (low, found[f"{self.quantity}_high"])

    def met(self, runtime: str, results: dict) -> bool | None:
        """None where there is no limit, or no value."""
        value, limit = self.value(results), self.limits.get(runtime)
        if value is None or limit is None:
            return None
        return value >= limit if self.at_least else value <= limit


def _all(limit: float, where=(*DESKS, *BOARDS)) -> dict[str, float]:
    return dict.fromkeys(where, limit)


LOCK = {"micropython": 0.5, "pico": 0.4}
KEY = {"micropython": 0.8, "pico": 0.8}
MEMORY = (*VMS, *BOARDS)

SECTIONS: dict[str, list[Row]] = {
    "nobody else wants it": [
        Row("locks.lock", "ratio", "async with Lock() / async with asyncio.Lock()", LOCK),
        Row("locks.lock_hold", "ratio", "async with lock.hold() / the same"),
        Row("locks.key", "ratio", "async with table.hold(key) / the same", KEY),
        Row("locks.key_alone", "ratio", "table.hold(key) alone, not used / the same"),
        Row("locks.lock", "bytes", "bytes for async with Lock()", _all(0, MEMORY)),
        Row("locks.key", "bytes", "bytes for async with table.hold(key)"),
        Row("locks.key", "bytes", "    of which not the hold itself", _all(0, MEMORY), less="locks.key_alone"),
        Row("locks.asyncio_lock", "bytes", "bytes for async with asyncio.Lock()"),
    ],
    "deadlines": [
        Row("waits.deadline.lock", "ratio", "lock.acquire(timeout_ms) / wait_for_ms(asyncio lock.acquire())"),
        Row("waits.deadline.key", "ratio", "async with table.hold(key, timeout_ms) / the same"),
        Row("waits.contended.lock", "ratio", "lock.acquire(timeout_ms) that waits / the same"),
        Row("waits.contended.key", "ratio", "async with table.hold(key, timeout_ms) that waits / the same"),
        Row("waits.deadline.lock", "bytes", "bytes for lock.acquire(timeout_ms)"),
        Row("waits.deadline.asyncio", "bytes", "bytes for wait_for_ms(asyncio lock.acquire())"),
    ],
    "from task to task": [
        Row("waits.handover.lock", "ratio", "a hand-over of Lock / of asyncio.Lock"),
        Row("waits.handover.key", "ratio", "a hand-over of a key / of asyncio.Lock"),
        Row("waits.handover.lock", "bytes", "bytes for it, Lock"),
        Row("waits.handover.asyncio", "bytes", "bytes for it, asyncio.Lock"),
        Row("growth.in_line.lock", "bytes", "bytes of a waiting task, Lock"),
        Row("growth.in_line.asyncio", "bytes", "bytes of a waiting task, asyncio.Lock"),
    ],
    "many keys": [
        Row("tables.table", "ratio", "1 ms each, all at once: table / dict of asyncio.Locks", _all(1.15, DESKS)),
        Row("tables.one_key", "ratio", "    one key for all / a key each", _all(20, DESKS), at_least=True),
        Row("tables.one_lock", "ratio", "    one asyncio.Lock for all / a key each"),
        Row("tables.workers.table", "ratio", "by workers: table / dict of asyncio.Locks", _all(1.15, DESKS)),
        Row("tables.workers.one_key", "ratio", "    one key for all / a key each", _all(20, DESKS), at_least=True),
        Row("tables.overlaps", "count", "two operations of one key at the same time", _all(0)),
    ],
    "transactions": [
        Row("transactions.one_lock", "ratio", "8 tasks, a lock for the bus / transactions of 8 pairs of devices"),
        Row("transactions.together", "ratio", "    transactions of one pair of devices / the same"),
        Row("transactions.executed", "ratio", "a transaction of 2 reads / the same in bus.hold(a, b)"),
        Row("transactions.executed", "bytes", "bytes for it"),
    ],
    "growth": [
        Row("growth.keys.numbers", "ratio", "an operation, many / 10 other keys, all of them ints", _all(1.5)),
        Row("growth.keys.texts", "ratio", "    all of them strings", _all(1.5)),
        Row("growth.keys.mixed", "ratio", "    a string among ints", _all(1.5)),
        Row("growth.waiters.lock", "ratio", "a hand-over, many / 10 waiters", _all(2)),
        Row("growth.waiters.deadline", "ratio", "    with deadlines", _all(2)),
        Row("growth.waiters.asyncio", "ratio", "    of asyncio.Lock"),
    ],
    "Lazy": [
        Row("lazies.get", "ratio", "await lazy.get() / await of an empty coroutine"),
        Row("lazies.peek", "ratio", "lazy.peek() / the same"),
    ],
    "registers": [
        Row("registers.read", "ratio", "read_register / raw readfrom_mem, 2 bytes", {"pico": 2.5}),
        Row("registers.into", "ratio", "read_register_into / raw readfrom_mem_into"),
        Row("registers.write", "ratio", "write_register / raw writeto_mem"),
        Row("registers.session", "ratio", "read_register of a session / raw readfrom_mem"),
        Row("registers.nothing.read", "us", "us of read_register but the raw call", less="registers.nothing.raw_read"),
        Row("registers.nothing.into", "us", "us of read_register_into", less="registers.nothing.raw_into"),
        Row("registers.nothing.write", "us", "us of write_register", less="registers.nothing.raw_write"),
        Row("registers.nothing.session", "us", "us of read_register of a session", less="registers.nothing.raw_read"),
        Row("registers.nothing.read", "bytes", "bytes for read_register, without the result"),
        Row(
            "registers.nothing.read",
            "bytes",
            "    of which not its coroutine",
            _all(0, MEMORY),
            less="registers.nothing.made",
        ),
        Row("registers.nothing.into", "bytes", "bytes for read_register_into"),
        Row("registers.nothing.write", "bytes", "bytes for write_register"),
    ],
    "SPI and UART": [
        Row("transfers.spi.write", "ratio", "SPI write of 4 bytes / raw with chip select"),
        Row("transfers.spi.both", "ratio", "SPI write_readinto of 4 bytes / raw with chip select"),
        Row("transfers.spi.write", "us", "us of SPI write but the raw calls", less="transfers.spi.raw_write"),
        Row("transfers.spi.write", "bytes", "bytes for SPI write"),
        Row("transfers.uart.exchange", "us", "us of a UART exchange more than polled", less="transfers.uart.raw"),
    ],
    "traces": [
        Row("traces.traced", "ratio", "read_register with a trace / without, of nothing"),
        Row("traces.limited_traced", "ratio", "    with timeout_ms, so that key and wire are taken"),
        Row("traces.traced", "us", "us more for its two records", less="traces.read"),
        Row("traces.record", "us", "us of one record by itself", less="traces.loop"),
        Row("traces.record", "bytes", "bytes of one record", _all(0, MEMORY)),
        Row("traces.traced", "bytes", "bytes of read_register with a trace"),
        Row("traces.traced", "bytes", "    of which for its records", _all(0, MEMORY), less="traces.deaf"),
        Row("traces.read", "bytes", "bytes without"),
    ],
    "lost locks": [
        Row("leaks.asyncio", "count", "random programs that lose it, asyncio.Lock + wait_for_ms"),
        Row("leaks.buslock", "count", "random programs that lose it, buslock.Lock", _all(0)),
        Row("leaks.asyncio", "deaf", "tasks whose cancel got lost, asyncio.Lock + wait_for_ms"),
        Row("leaks.buslock", "deaf", "tasks whose cancel got lost, buslock.Lock", _all(0)),
        Row("leaks.turns.asyncio", "count", "lost of 4, cancelled 0 to 3 turns after the release, asyncio"),
        Row("leaks.turns.buslock", "count", "the same, buslock.Lock", _all(0)),
    ],
}
# Where one read_register spends its time, in the order of the table
PARTS = {
    "raw": "the raw call",
    "coroutine": "making and running a coroutine",
    "checks": "checking the arguments",
    "free": "_free(): nobody has key or wire",
    "wrapper": "_read_register around the raw call",
    "rest": "the rest",
    "whole": "all of it",
}


def parse(line: str) -> tuple[str, dict[str, float]]:
    """A line of a program: `figure locks.lock us=1.2 ratio=0.4`."""
    _, name, *pairs = line.split()
    return name, {key: float(value) for key, value in (pair.split("=") for pair in pairs)}


def table(runtime: str, title: str, results: dict) -> str:
    """The readable table of one runtime."""
    lines = [title, "=" * len(title), f"{'':64}{'value':>10}{'middle half':>18}  limit"]
    for section, rows in SECTIONS.items():
        there = [row for row in rows if row.value(results) is not None]
        if there:
            lines += ["", section]
        for row in there:
            lines.append(_line(row, runtime, results))
    if "registers.part.whole" in results:
        lines += ["", f"{'where the microseconds of one read_register go':64}{'us':>10}{'share':>18}"]
        for name, text in PARTS.items():
            part = results[f"registers.part.{name}"]
            lines.append(f"  {text:62}{part['us']:10.2f}{part['share']:18.0%}")
    return "\n".join(lines)


def _line(row: Row, runtime: str, results: dict) -> str:
    value, spread, met = row.value(results), row.spread(results), row.met(runtime, results)
    assert value is not None
    middle = f"{number(spread[0])} .. {number(spread[1])}" if spread else ""
    line = f"  {row.text:62}{number(value):>10}{middle:>18}"
    if met is not None:
        sign = ">=" if row.at_least else "<="
        line += f"  {sign} {row.limits[runtime]:g} {'met' if met else 'MISSED'}"
    return line.rstrip()


def number(value: float) -> str:
    return f"{value:.0f}" if value >= 100 or value == int(value) else f"{value:.2f}"


def judged(runtime: str, results: dict) -> list[dict]:
    """Every row that has a value, for the JSON."""
    found = []
    for section, rows in SECTIONS.items():
        for row in rows:
            value = row.value(results)
            if value is not None:
                found.append(
                    {
                        "section": section,
                        "figure": row.result,
                        "quantity": row.quantity,
                        "text": row.text.strip(),
                        "value": round(value, 3),
                        "limit": row.limits.get(runtime),
                        "at_least": row.at_least,
                        "met": row.met(runtime, results),
                    }
                )
    return found


def missed(runtime: str, results: dict) -> list[str]:
    return [
        f"{row.text.strip()}: {number(row.value(results) or 0)}, limit {row.limits[runtime]:g}"
        for rows in SECTIONS.values()
        for row in rows
        if row.met(runtime, results) is False
    ]
