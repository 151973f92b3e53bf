"""Virtual time under MicroPython's asyncio and Adafruit's.

The loop asks `core.ticks()` for the time and waits in `core._io_queue.wait_io_event(dt)`: one is replaced by the
virtual clock, the other moves it. That leaves the stamps. The task queue written in C stamps what is pushed without a
key with the *real* time, which is far behind the virtual one, so a task that was woken would overtake all that are
ready, and orders would differ from those on a real clock. Queue therefore gives every push its virtual stamp.

One push it cannot see: Task.cancel() in C pushes onto the C queue itself. So the C code gets a context of its own,
whose `_task_queue` is the C queue inside Queue, and what it pushed there is known by its real stamp and put where it
belongs.
"""

import asyncio
import time
from asyncio import core

from support import tasks
from support.outcome import Stuck

try:
    import adafruit_ticks

    PERIOD_MS = 1 << 29
except ImportError:
    adafruit_ticks = None
    PERIOD_MS = tasks.PERIOD_MS if tasks.is_installed() else time.ticks_add(0, -1) + 1  # 2**62, on a board 2**30

try:
    from _asyncio import Task as _NativeTask
except ImportError:
    _NativeTask = None

NATIVE = core.Task is _NativeTask
AHEAD_MS = 1 << 26  # 18 hours, which no test takes in real time
PATIENCE_MS = 600000  # virtual time that may pass while tasks wait for nothing but streams

_real_ticks = (adafruit_ticks or time).ticks_ms  # install() puts the virtual ones in its place
_past = 0  # ticks of the real time that are over
_context = {}  # what the C code takes for the globals of asyncio.core
_first_virtual = 0


def start_ms(wrap):
    """Ahead of the real time by a distance that tells the stamps of one from those of the other.

    An emulated board's real time was set, so that its ticks wrap a little later than those here.
    """
    start = _real_ticks() + AHEAD_MS
    if wrap and (not NATIVE or 0 <= PERIOD_MS - 1000 - start <= AHEAD_MS // 2):
        return PERIOD_MS - 1000
    return start


def go_back(clock):
    """C code with ticks of 29 bits takes a stamp that is 2**28 ms ahead of the real time for one of the past."""
    global _first_virtual, _past
    if NATIVE:
        _past = _real_ticks()
        clock.us = start_ms(False) * 1000
        _first_virtual = clock.ms() % PERIOD_MS


def install(clock):
    global _first_virtual, _past
    _first_virtual = clock.ms() % PERIOD_MS
    _past = _real_ticks()

    def ticks():
        return clock.ms() % PERIOD_MS

    core.ticks = ticks
    if adafruit_ticks:
        adafruit_ticks.ticks_ms = ticks
    _context.update(core.__dict__)
    # core calls Task(coro, globals()), and finds this one first.
    core.globals = lambda: _context
    make = core.new_event_loop

    def new_event_loop():
        loop = make()
        core._task_queue = Queue()
        core._io_queue.wait_io_event = waiting(clock, core._task_queue, core._io_queue)
        _context["cur_task"] = None
        return loop

    core.new_event_loop = asyncio.new_event_loop = new_event_loop
    new_event_loop()


def install_real(clock):
    def ticks():
        return (time.ticks_ms() + clock.ahead_ms) % PERIOD_MS

    core.ticks = ticks
    if adafruit_ticks:
        adafruit_ticks.ticks_ms = ticks


def ticks():
    return core.ticks()


def waiting(clock, queue, io):
    """The wait_io_event of one loop: what it would have waited for has passed when it returns."""
    poll = io.wait_io_event
    idle = 0

    def wait_io_event(dt):
        nonlocal idle
        poll(0)
        queue.loop_pops_next = True
        if dt == 0:
            idle = 0
            return
        head = queue.peek()
        if head is not None and core.ticks_diff(head.ph_key, core.ticks()) <= 0:
            return  # a stream has woken it
        if io.map:
            dt = 1  # a simulated stream may have something to read at any time
            idle = idle + 1 if head is None else 0
        if head is None and (not io.map or idle > PATIENCE_MS):
            raise Stuck("every task waits for something that can never come")
        clock.add_us(dt * 1000)

    return wait_io_event


def _is_real(task):
    """Whether C code has stamped it. By the difference: CircuitPython's ticks wrap 65 s after the start.

    A deadline can be so far ahead that its difference is negative, too; but then it is farther away.
    """
    return -2 * AHEAD_MS < core.ticks_diff(task.ph_key, _first_virtual) < 0


class Queue:
    """core._task_queue with virtual stamps, in the order that the C queue has on a real clock."""

    def __init__(self):
        self.inner = core.TaskQueue()
        self.entries = {}  # id(task): (its stamp, its number in the order of pushing)
        self.pushed = 0
        self.loop_pops_next = False
        _context["_task_queue"] = self.inner

    def push(self, task, key=None):
        self._settle()
        if key is None:
            key = core.ticks()
        self._enter(task, key)
        self.inner.push(task, key)

    def peek(self):
        self._settle()
        return self.inner.peek()

    def pop(self):
        self._settle()
        task = self.inner.pop()
        self.entries.pop(id(task), None)
        if self.loop_pops_next:  # and not some other code that looks through the queue
            self.loop_pops_next = False
            _context["cur_task"] = task
            # A cancel of a task that waits for this one, which is about to run, is passed on to it, and C code would
            # remove it from the queue if its stamp were in the future.
            data = task.data
            self.inner.push(task, _past)
            self.inner.remove(task)
            task.data = data
        return task

    def remove(self, task):
        self._settle()
        self.inner.remove(task)
        self.entries.pop(id(task), None)

    def _enter(self, task, key):
        self.pushed += 1
        self.entries[id(task)] = (key, self.pushed)

    def _settle(self):
        """Gives the tasks that C code has pushed since the last call the place that they have on a real clock."""
        if not NATIVE:
            return
        inner = self.inner
        head = inner.peek()
        if head is None or not _is_real(head):
            return
        due = []
        now = core.ticks()
        while head is not None and _is_real(head):
            task = inner.pop()
            entry = self.entries.get(id(task))
            # One that was due already has not moved: its cancel only brought it a CancelledError. All others have come
            # from later, or from another queue, to the end of those that are due.
            if entry is None or core.ticks_diff(entry[0], now) > 0:
                self._enter(task, now)
            due.append(task)
            head = inner.peek()
        while head is not None and core.ticks_diff(head.ph_key, now) <= 0:
            due.append(inner.pop())
            head = inner.peek()
        due.sort(key=lambda task: self.entries[id(task)])
        for task in due:
            data = task.data  # push() clears it, and with it the CancelledError
            inner.push(task, self.entries[id(task)][0])
            task.data = data
