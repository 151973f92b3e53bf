"""Dumps of traces without a board: a few scripted tasks on buses whose time is only counted.

A task is a generator that yields what it does next: ("hold", key, limit in µs or None), which gives it True or False;
("release", key), ("send", key, bytes, errno), ("sleep", µs), ("block", key, ms), ("mark", text).
"""

import heapq

BIT = 10  # µs a bit: 100 kHz


class Scene:
    def __init__(self, unit="us"):
        self.unit = unit
        self.now = 0
        self.events = []  # (µs, name, key, task, value)
        self.keys = {}  # name: (number, bus, kind)
        self.tasks = {}
        self.agenda = []
        self.holders = {}
        self.lines = {}
        self.sequence = 0

    def number(self, name, kind="key"):
        bus = name.split("/")[0].split(" ")[0]
        return self.keys.setdefault(name, (len(self.keys) + 1, bus, kind))[0]

    def record(self, name, key, task, value=None, kind="key"):
        self.events.append((self.now, name, self.number(key, kind), self.tasks.get(task, 0), value))

    def start(self, name, script, at=0):
        self.tasks[name] = len(self.tasks) + 1
        self.later(at, name, script, None)

    def later(self, delay, name, script, answer):
        self.sequence += 1
        heapq.heappush(self.agenda, (self.now + delay, self.sequence, name, script, answer))

    def run(self, until):
        while self.agenda and self.agenda[0][0] <= until:
            self.now, _, name, script, answer = heapq.heappop(self.agenda)
            if callable(script):
                script()
                continue
            try:
                step = script.send(answer)
            except StopIteration:
                continue
            getattr(self, "do_" + step[0])(name, script, *step[1:])
        return self

    def do_sleep(self, name, script, us):
        self.later(us, name, script, None)

    def do_mark(self, name, script, text):
        self.record("mark", text, name, kind="mark")
        self.later(0, name, script, None)

    def do_hold(self, name, script, key, limit=None, kind="key"):
        line = self.lines.setdefault(key, [])
        if key not in self.holders:
            self.holders[key] = name
            self.record("grant", key, name, kind=kind)
            self.later(0, name, script, True)
            return
        self.record("wait", key, name, len(line), kind)
        waiter = (name, script)
        line.append(waiter)

        def out_of_time():
            if waiter in line:
                line.remove(waiter)
                self.record("timeout", key, name)
                self.later(0, name, script, False)

        if limit is not None:
            self.later(limit, "", out_of_time, None)

    def do_release(self, name, script, key, kind="key"):
        self.record("release", key, name, kind=kind)
        if self.lines[key]:
            self.holders[key], waiting = self.lines[key].pop(0)
            self.record("grant", key, self.holders[key], kind=kind)
            self.later(30, self.holders[key], waiting, True)
        else:
            del self.holders[key]
        self.later(0, name, script, None)

    def do_send(self, name, script, key, nbytes, errno=0):
        wire = key.split("/")[0] + " wire"

        def sent():
            yield ("hold", wire, None, "wire")
            self.record("start", wire, name, nbytes, "wire")
            yield ("sleep", (nbytes + 1) * 9 * BIT)
            self.record("end", wire, name, errno, "wire")
            yield ("release", wire, "wire")
            self.later(0, name, script, None)
            yield ("sleep", 1 << 40)

        self.later(0, name, sent(), None)

    def do_block(self, name, script, key, ms):
        self.now += ms * 1000  # nothing else runs meanwhile
        self.record("block", key, name, ms)
        self.agenda = [(max(at, self.now), *rest) for at, *rest in self.agenda]
        heapq.heapify(self.agenda)
        self.later(0, name, script, None)

    def dump(self, lost=0, limit=None):
        events = self.events[-limit:] if limit else self.events
        lost += len(self.events) - len(events)
        divisor = 1 if self.unit == "us" else 1000
        first = events[0][0] // divisor if events else 0
        lines = [f"~buslock-trace 1 unit={self.unit} wrap={1 << 30} events={len(events)} lost={lost} at={first}"]
        buses = []
        for name, (number, bus, kind) in self.keys.items():
            if kind != "mark" and bus not in buses:
                buses.append(bus)
                lines.append(f"~B{len(buses)} {bus}")
            lines.append(f"~K{number} B{0 if kind == 'mark' else buses.index(bus) + 1} {kind} {name}")
        lines += [f"~T{number} {name}" for name, number in self.tasks.items()]
        before = first
        for at, name, key, task, value in events:
            tail = "" if value is None else f" {value}"
            lines.append(f"~+{at // divisor - before} {name} K{key} T{task}{tail}")
            before = at // divisor
        return "\n".join([*lines, f"~end {len(events)}", ""])


DISPLAY, SENSOR, CLOCK = "i2c0/0x3c", "i2c0/0x48", "i2c0/0x68"


def display(sleeps=True):
    """Sends a frame in eight pieces; with the mistake it holds the display's key, and the wire's, over its pause."""
    while True:
        yield ("hold", DISPLAY)
        for _ in range(8):
            yield ("send", DISPLAY, 128)
            yield ("sleep", 200)
        if sleeps:
            yield ("hold", SENSOR)  # "to be safe"
            yield ("sleep", 90_000)
            yield ("release", SENSOR)
        yield ("release", DISPLAY)
        yield ("sleep", 30_000 if sleeps else 120_000)


def sensor(limit=20_000, every=50_000):
    while True:
        if (yield ("hold", SENSOR, limit)):
            yield ("send", SENSOR, 1)
            yield ("send", SENSOR, 2)
            yield ("release", SENSOR)
        yield ("sleep", every)


def clock():
    yield ("mark", "clock set")
    while True:
        yield ("hold", CLOCK)
        yield ("send", CLOCK, 7, 0)
        yield ("release", CLOCK)
        yield ("sleep", 100_000)


def contention(fixed=False, until=1_000_000, unit="us"):
    scene = Scene(unit)
    scene.start("display", display(sleeps=not fixed))
    scene.start("sensor", sensor(), at=3_000)
    scene.start("clock", clock(), at=10_000)
    return scene.run(until)


def blocking():
    """A synchronous driver that stops the loop, and a chip that does not answer."""

    def driver():
        while True:
            yield ("hold", DISPLAY)
            yield ("block", DISPLAY, 35)
            yield ("release", DISPLAY)
            yield ("sleep", 60_000)

    def absent():
        while True:
            yield ("hold", CLOCK)
            yield ("send", CLOCK, 1, 19)
            yield ("release", CLOCK)
            yield ("sleep", 50_000)

    scene = Scene()
    scene.start("driver", driver())
    scene.start("absent", absent())
    return scene.run(500_000)


def quarrel():
    """Two tasks that always want the same key at the same time, and one more every while: the queue grows."""

    def eager():
        while True:
            yield ("hold", SENSOR)
            yield ("send", SENSOR, 40)
            yield ("release", SENSOR)

    scene = Scene()
    scene.start("left", eager())
    scene.start("right", eager())
    return scene.run(300_000)


def growing():
    def asks():
        yield ("hold", SENSOR)
        yield ("sleep", 12_000)
        yield ("release", SENSOR)

    scene = Scene()
    for i in range(30):
        scene.start(f"request {i}", asks(), at=i * 6_000)
    return scene.run(200_000)


def busy(events=50_000, tasks=12):
    """Many tasks on two buses; exactly so many events."""

    def worker(i):
        key = f"{'i2c0' if i % 2 else 'spi1'}/0x{0x20 + i % 5:02x}"
        turn = 0
        while True:
            turn += 1
            if (yield ("hold", key, 40_000 if i == 3 else None)):
                yield ("send", key, 1 + (i * 7 + turn) % 30, 110 if turn % 97 == 0 and i == 5 else 0)
                yield ("release", key)
            yield ("sleep", 500 + (i * 977 + turn * 131) % 5_000)

    scene = Scene()
    for i in range(tasks):
        scene.start(f"worker {i}", worker(i), at=i * 10)
    while len(scene.events) < events:
        scene.run(scene.now + 100_000)
    del scene.events[events:]
    return scene
