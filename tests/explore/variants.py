"""Wrong variants of the library, each a small edit of its source, and the scenario that finds it out.

tests/host/test_variants.py makes each edit in a copy of lib/buslock and expects that scenario to fail. An edit whose text
is not in the source any more fails as well: then the variant has to be made anew for the code as it is.
"""


class Variant:
    """`edits`: (file, text, what stands in its place). `finds` is how the message of what is found begins."""

    def __init__(self, name, edits, scenario, mode, finds):
        self.name = name
        self.edits = edits
        self.scenario = scenario
        self.mode = mode
        self.finds = finds


_MP = "micropython-any"
_CP = "cpython-any"

VARIANTS = (
    Variant(
        "a re-push that erases a cancel",
        [
            ("_rt.py", "if data is not None and data is not waiter:\n            return", "if False:\n            return"),
            ("_rt.py", "if data is None:\n            if core", "if data is not waiter:\n            if data is None and core"),
        ],
        "locks.three_by_one",
        _MP,
        "cancellation",
    ),
    Variant(
        "a hand-over to a cancelled waiter, which does not pass it on",
        [
            ("_rt_cpython.py", "if future.cancelled() or future.get_loop", "if future.get_loop"),
            ("waitqueue.py", "waiter.queue._give_back(waiter)", "pass"),
        ],
        "locks.three_by_one",
        _CP,
        "at rest: the lock is held",
    ),
    Variant(
        "a grant that a cancelled waiter keeps",
        [("waitqueue.py", "waiter.queue._give_back(waiter)", "pass")],
        "locks.three_by_one",
        _MP,
        "at rest: the lock is held",
    ),
    Variant(
        "last in, first out",
        [("waitqueue.py", "waiter = self._line.pop(0)", "waiter = self._line.pop()")],
        "locks.three_by_one",
        _MP,
        "order",
    ),
    Variant(
        "a timed-out waiter that is left in the line",
        [("waitqueue.py", "queue._line.remove(waiter)\n            queue._advance()", "pass")],
        "locks.three_by_one",
        _MP,
        "structure: somebody stands in line who does not wait",
    ),
    Variant(
        "a time-out that is believed although the grant came first",
        [("waitqueue.py", "if waiter.granted:\n                return", "if waiter.granted and left != ms:\n                return")],
        "locks.three_by_one",
        _CP,
        "left behind",
    ),
    Variant(
        "a waiter that leaves and does not let those behind it through",
        [("waitqueue.py", "queue._line.remove(waiter)\n            queue._advance()", "queue._line.remove(waiter)")],
        "tables.meeting",
        _MP,
        "cycle",
    ),
    Variant(
        "a lock that is free while it is handed over",
        [
            ("lock.py", "self._holder = waiter.holder or waiter.task\n", "return\n"),
            (
                "lock.py",
                "await wait(self, hold, holder, timeout_ms)\n",
                "await wait(self, hold, holder, timeout_ms)\n        self._holder = holder\n",
            ),
        ],
        "locks.grabbers",
        _MP,
        "order",
    ),
    Variant(
        "a try_hold that overtakes a waiting writer",
        [("tablemore.py", "if entry._line or not (", "if not (")],
        "tables.grabbers",
        _MP,
        "order",
    ),
    Variant(
        "a try_hold that does not see the gate",
        [("tablemore.py", "if table._shut and (", "if table._all is not None and (")],
        "tables.grabbers",
        _MP,
        "order",
    ),
    Variant(
        "a reader that overtakes a waiting writer",
        [("table.py", "if not hold.shared or queue._line or not", "if not hold.shared or not")],
        "tables.readers_and_a_writer",
        _MP,
        "order",
    ),
    Variant(
        "a reader that joins a writer",
        [("table.py", "if holds and not (hold.shared and holds[0].shared):", "if holds and not hold.shared:")],
        "tables.readers_and_a_writer",
        _MP,
        "structure: 'a' has more than one holder",
    ),
    Variant(
        "a last reader that does not let the writer in",
        [("table.py", "entry.holds.remove(self)\n            entry._advance()", "entry.holds.remove(self)")],
        "tables.readers_and_a_writer",
        _MP,
        "structure: nobody holds 'a' and it is in the table",
    ),
    Variant(
        "a release that forgets the gate",
        [("table.py", "if table._shut:\n            table._gate._advance()", "pass")],
        "tables.all_against_two",
        _MP,
        "left behind",
    ),
    Variant(
        "a hold_all that does not wait for the holders",
        [("gate.py", "if table._entries:\n                    return", "if False:\n                    return")],
        "tables.two_alls",
        _MP,
        "structure: somebody has all of it",
    ),
    Variant(
        "a hold_all whose end leaves the gate shut",
        [("gate.py", "self._table._all = None\n        self._table._gate._advance()", "self._table._all = None")],
        "tables.all_against_two",
        _MP,
        "structure: the gate is shut for nobody",
    ),
    Variant(
        "a hold_all that gives up and leaves the gate shut",
        [("gate.py", "finally:\n            table._gate._advance()", "finally:\n            pass")],
        "tables.at_once",
        _MP,
        "structure: the gate is shut for nobody",
    ),
    Variant(
        "a gate that later arrivals pass",
        [("table.py", "if self._shut and self._any_hold_of(task) is None:", "if self._all is not None:")],
        "tables.passing",
        _MP,
        "order",
    ),
    Variant(
        "a gate that stops those who hold a key already",
        [("table.py", "if self._shut and self._any_hold_of(task) is None:", "if self._shut:")],
        "tables.passing",
        _MP,
        "left behind",
    ),
    Variant(
        "a hold_many that takes its keys as they are named",
        [("tablemore.py", "tuple(sorted(set(keys), key=rank))", "tuple(dict.fromkeys(keys))")],
        "tables.many_against_many",
        _MP,
        "order",
    ),
    Variant(
        "a hold_many that fails and keeps what it has",
        [("tablemore.py", "except BaseException:\n            self._drop()", "except BaseException:\n            pass")],
        "tables.many_against_many",
        _MP,
        "at rest: the table is not empty",
    ),
    Variant(
        "a key in the table that nobody holds",
        [("table.py", "if not holds:\n            table", "if False:\n            table")],
        "tables.readers_and_a_writer",
        _MP,
        "structure: nobody holds 'a' and it is in the table",
    ),
    Variant(
        "a line without its limit",
        [("waitqueue.py", "len(queue._line) >= queue._limit", "len(queue._line) > queue._limit")],
        "locks.bounded",
        _MP,
        "structure: more wait than max_waiters",
    ),
    Variant(
        "a lock released early that is taken from its next holder",
        [("lock.py", "if holder is current_task() or holder is not None and ended(holder):", "if holder is not None:")],
        "locks.early",
        _MP,
        "exclusion",
    ),
    Variant(
        "a cycle that nobody looks for",
        [("waitqueue.py", "if queue._stuck(_waiting):", "if False:")],
        "locks.crosswise",
        _MP,
        "left behind",
    ),
    Variant(
        "a cycle over a task that was granted already",
        [("cycles.py", "waiter is None or waiter.granted or", "waiter is None or")],
        "tables.meeting",
        _MP,
        "cycle",
    ),
    Variant(
        "a cycle over a task that is being cancelled",
        [("cycles.py", " or being_cancelled(waiter):", ":")],
        "locks.crosswise",
        _MP,
        "cycle",
    ),
    Variant(
        "a deadline that swallows a foreign cancel (MicroPython)",
        [("_rt_rare.py", "and len(exc.args) == 2 and exc.args[1] is self", "")],
        "deadlines.over_a_child",
        "micropython",
        "cancellation",
    ),
    Variant(
        "a deadline that swallows a foreign cancel (CPython)",
        [("_rt_cpython.py", "self._task.uncancel() <= self._before and", "self._task.uncancel() is not None and")],
        "deadlines.tidying",
        "cpython",
        "cancellation",
    ),
    Variant(
        "a deadline that replaces a foreign cancel on its way",
        [("_rt_rare.py", "if data is CancelledError:\n                foreign = True\n            elif not isinstance(data, CancelledError):", "if True:")],
        "deadlines.inside_a_lock",
        "micropython",
        "cancellation",
    ),
    Variant(
        "a deadline that leaves no mark",
        [("_rt_rare.py", "task.data = CancelledError(None, self)", "pass")],
        "deadlines.inside_a_lock",
        "micropython",
        "cancellation",
    ),
    Variant(
        "a deadline whose timer stays",
        [("_rt_rare.py", "self._queue.remove(self._timer)", "pass")],
        "deadlines.tidying",
        "micropython",
        "at rest: a timer is left",
    ),
    Variant(
        "a Lazy whose callers await the shared task itself",
        [("lazy.py", "waiter = await wait(self._line, None, current_task(), timeout_ms)\n", "await self._task\n        return self._outcome(self._error or (self._object,))\n")],
        "lazies.callers",
        _MP,
        "cancellation",
    ),
    Variant(
        "a Lazy that begins anew for every caller",
        [("lazy.py", 'if self.state != "starting":', "if True:")],
        "lazies.callers",
        _CP,
        "closing: thing 0 is lost",
    ),
    Variant(
        "a Lazy that raises one exception for all",
        [("lazymore.py", "raise fresh(outcome)", "raise outcome")],
        "lazies.callers",
        _MP,
        "error",
    ),
    Variant(
        "a Lazy that forgets what came in spite of its cancel",
        [("lazymore.py", "lazy._object if lazy._object is not None else lazy._late", "lazy._object")],
        "lazies.stubborn",
        _MP,
        "closing",
    ),
    Variant(
        "a Lazy whose second closer does not wait",
        [("lazymore.py", "while lazy._closing is not None:", "while False:")],
        "lazies.closing_twice",
        _MP,
        "closing",
    ),
)
