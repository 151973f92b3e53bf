"""Playing sessions: what may be done next, one from its text, one at random."""

from .session import NAMES, TASKS, Session


def possible(session):
    """The operations that make sense now."""
    operations = ["step", "run", "time"]
    for i in range(TASKS):
        if session.can_cancel(i):
            operations.append("cancel %d" % i)
        if not session.is_idle(i):
            continue
        if session.can_release(i):
            operations.append("release %d" % i)
        free = [name for name in NAMES if not session.has(i, name)]
        for name in NAMES:
            for rest in ("", " 5", " 0", " shared", " shared 5") if name in free else ("",):
                operations.append("hold %d %s%s" % (i, name, rest))  # of what it holds: refused
            for rest in ("", " shared"):
                operations.append("try %d %s%s" % (i, name, rest))
        for rest in ("", " 5", " 0"):
            operations.append("all %d%s" % (i, rest))
        for j, name in enumerate(free):
            for other in free[j + 1 :]:
                for rest in ("", " 5", " shared"):
                    operations.append("many %d %s,%s%s" % (i, other, name, rest))
    return operations


def replay(library, text):
    """Runs a session that was written down, operations separated by `|`; the events."""
    with library:
        session = Session(library)
        try:
            for operation in text.split("|"):
                session.do(operation.strip())
            session.finish()
        finally:
            session.close()
    return session.events


def play(library, seed, operations=40):
    """A random session, the same for the same seed everywhere; the events."""
    chance = _numbers(seed)
    with library:
        session = Session(library)
        try:
            for _ in range(operations):
                choices = possible(session)
                # The first three let tasks run and time pass.
                session.do(choices[next(chance) % (3 if next(chance) % 3 == 0 else len(choices))])
            session.finish()
        except AssertionError as error:
            raise AssertionError("seed %d: %s\nsession: %s" % (seed, error, " | ".join(session.done[1:])))
        finally:
            session.close()
    return session.events


def _numbers(seed):
    while True:
        seed = (seed * 1103515245 + 12345) & 0x7FFFFFFF
        yield seed >> 8
