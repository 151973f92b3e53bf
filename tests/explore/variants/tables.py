"""Wrong variants of LockTable."""

from .variant import Variant

VARIANTS = (
    Variant(
        "a waiter that leaves and does not let those behind it through",
        [
            ("waitqueue.py", "queue._line.remove(waiter)\n        queue._advance()", "queue._line.remove(waiter)"),
        ],
        "tables.meeting",
        "micropython-any",
        "cycle",
        True,
    ),
    Variant(
        "a try_hold that overtakes a waiting writer",
        [
            ("tablemore.py", "if entry._line or not (", "if not ("),
        ],
        "tables.grabbers",
        "micropython-any",
        "order",
        True,
    ),
    Variant(
        "a try_hold that does not see the gate",
        [
            ("tablemore.py", "if table._shut and (", "if table._all is not None and ("),
        ],
        "tables.grabbers",
        "micropython-any",
        "order",
        True,
    ),
    Variant(
        "a reader that overtakes a waiting writer",
        [
            ("table.py", "if not first.shared or entry._line or not", "if not first.shared or not"),
        ],
        "tables.readers_and_a_writer",
        "micropython-any",
        "order",
        True,
    ),
    Variant(
        "a reader that joins a writer",
        [
            ("table.py", "if holds and not (hold.shared and holds[0].shared):", "if holds and not hold.shared:"),
        ],
        "tables.readers_and_a_writer",
        "micropython-any",
        "structure: 'a' has more than one holder",
        True,
    ),
    Variant(
        "a last reader that does not let the writer in",
        [
            ("table.py", "entry.holds.remove(hold)\n    entry._advance()", "entry.holds.remove(hold)"),
        ],
        "tables.readers_and_a_writer",
        "micropython-any",
        "structure: nobody holds 'a' and it is in the table",
        True,
    ),
    Variant(
        "a release that forgets the gate",
        [
            ("table.py", "if entry.table._shut:\n        entry.table._gate._advance()", "pass"),
        ],
        "tables.all_against_two",
        "micropython-any",
        "left behind",
        True,
    ),
    Variant(
        "a hold_all that does not wait for the holders",
        [
            ("gate.py", "if table._entries:\n                    return", "if False:\n                    return"),
        ],
        "tables.two_alls",
        "micropython-any",
        "structure: somebody has all of it",
        True,
    ),
    Variant(
        "a hold_all whose end leaves the gate shut",
        [
            ("gate.py", "self._table._all = None\n        self._table._gate._advance()", "self._table._all = None"),
        ],
        "tables.all_against_two",
        "micropython-any",
        "structure: the gate is shut for nobody",
        True,
    ),
    Variant(
        "a hold_all that gives up and leaves the gate shut",
        [
            ("gate.py", "finally:\n            table._gate._advance()", "finally:\n            pass"),
        ],
        "tables.at_once",
        "micropython-any",
        "structure: the gate is shut for nobody",
        True,
    ),
    Variant(
        "a gate that later arrivals pass",
        [
            ("table.py", "if table._any_hold_of(task) is None:", "if table._all is not None:"),
        ],
        "tables.passing",
        "micropython-any",
        "order",
        True,
    ),
    Variant(
        "a gate that stops those who hold a key already",
        [
            ("table.py", "if table._any_hold_of(task) is None:", "if True:"),
        ],
        "tables.passing",
        "micropython-any",
        "left behind",
        True,
    ),
    Variant(
        "a hold_many that takes its keys as they are named",
        [
            ("tablemore.py", "tuple(sorted(set(keys), key=rank))", "tuple(dict.fromkeys(keys))"),
        ],
        "tables.many_against_many",
        "micropython-any",
        "order",
        True,
    ),
    Variant(
        "a hold_many that fails and keeps what it has",
        [
            (
                "tablemore.py",
                "except BaseException:\n            self._drop()",
                "except BaseException:\n            pass",
            ),
        ],
        "tables.many_against_many",
        "micropython-any",
        "at rest: the table is not empty",
        True,
    ),
    Variant(
        "a key in the table that nobody holds",
        [
            ("table.py", "if not holds:\n            table", "if False:\n            table"),
        ],
        "tables.readers_and_a_writer",
        "micropython-any",
        "structure: nobody holds 'a' and it is in the table",
        True,
    ),
)
