"""The wording of errors: the bus, the key, the holder's task, and the way out. Loaded when the first one is raised."""

from ._rt import current_task, ended, task_name, ticks_diff, ticks_ms
from .errors import LockTimeout, NotHeld, QueueFull, Reentry


def label(what):
    """The name of a lock, an entry, a hold; or the text itself."""
    if isinstance(what, str):
        return what
    return what._label() if hasattr(what, "_label") else what.name or "lock"


def bad_ms(ms):
    if type(ms) is not int:
        return TypeError("None or an int is wanted (ms, or a number of waiters), not %r" % (ms,))
    return ValueError("0 to 2**28-1 is wanted (ms, or a number of waiters), not %d" % ms)


def held_by(queue, waited=0):
    """' held by task 'display' for 120 ms'; `waited` is how long somebody has waited for it."""
    text = ""
    for task in queue._holders():
        text += "%s task '%s'" % (" and" if text else " held by", task_name(task))
        if ended(task):
            text += ", which ended without releasing it,"
    if text and waited:
        # The fast path takes no time stamp: the holder has it since the last hand-over, or since before the wait.
        if queue._since is not None:
            waited = min(waited, ticks_diff(ticks_ms(), queue._since))
        text += " for %d ms" % waited
    return text or " not free"


def wanted(queue, hold):
    """What was asked for: at hold_all's gate that is not what is waited for."""
    return label(queue if hold is None else hold)


def at_once(queue, hold, ms):
    """The refusal of a wait that may not begin."""
    if queue._trace is not None:
        queue._trace.rejected(queue, hold)
    if ms != 0:
        count(queue, "rejections")
        return QueueFull(
            "%s%s, and %d tasks wait already: ask again later, or raise max_waiters"
            % (wanted(queue, hold), held_by(queue), len(queue._line))
        )
    count(queue, "timeouts")
    return timed_out(queue, hold, ms)


def in_vain(queue, hold, waiter, ms):
    """The end of a wait that was not granted."""
    if waiter.error is not None:
        return fresh(waiter.error)
    count(queue, "timeouts")
    return timed_out(queue, hold, ms)


def count(queue, event):
    if queue._counts is not None:
        queue._counts[event] = queue._counts.get(event, 0) + 1


def timed_out(queue, hold, ms):
    text = "%s%s; " % (wanted(queue, hold), held_by(queue, ms))
    if ms == 0:
        return LockTimeout(text + "no time is left to wait (timeout_ms=0 does not wait)")
    return LockTimeout(
        text + "gave up after %d ms: pass a longer timeout_ms, or, if that task awaits this one, pass the session" % ms
    )


def not_held(what, holder):
    if holder is None:
        return NotHeld("%s is not held: a hold ends once, and is dead after its block" % label(what))
    return NotHeld("%s is held by task '%s': only that task can release it" % (label(what), task_name(holder)))


def reentry(what, held=None):
    return Reentry(
        "%s: task '%s' holds %s already and would wait for itself; use the hold or session that it has"
        % (label(what), task_name(current_task()), held or "it")
    )


def fresh(error):
    """A new exception like `error`: one object raised for several waiters would collect the tracebacks of all."""
    try:
        return type(error)(*error.args)
    except Exception:
        return RuntimeError(repr(error))
