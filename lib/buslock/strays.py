"""Holders that sleep in a loop which `new_event_loop()` has replaced: they never come back, and are discarded."""

from ._rt import can_resume, ended, later, loop_id
from .refusals import count
from .waitqueue import _waiting


def gone(task):
    return not ended(task) and not can_resume(task)


def purge(queue):
    """Those who wait in the old loop."""
    for waiter in queue._line:
        _waiting.pop(waiter.task, None)
    queue._line = ()
    queue._loop = loop_id()
    for task in list(_waiting):
        if _waiting[task].queue._loop is not queue._loop:
            del _waiting[task]


def settle_line(line):
    """Of a Lazy: those who wait for something made in a loop that was replaced stay where they are."""
    purge(line)
    line.maker = None


def settle_lock(lock):
    purge(lock)
    if gone(lock._holder):
        count(lock, "stale")
        bus = getattr(lock, "bus", None)
        if bus is not None:  # a wire: nobody knows what is on it
            bus._forget_wire_hold()
        lock._pass_on()


def settle_table(table):
    table._loop = loop_id()
    for entry in list(table._entries.values()):
        if isinstance(entry, later.table.Entry):
            purge(entry)
    if table._gate is not None:
        purge(table._gate)
    for hold in list(table._holds()):
        if gone(hold._task):
            table._counts["stale"] = table._counts.get("stale", 0) + 1
            hold._task = None
            hold._drop()
    if table._gate is not None:
        table._gate._advance()
