"""What the tasks of scenarios do: ask, hold, give back, and tell the ledger of it."""

from .ledger import ALL, Claim

LOCK = Claim(("lock",))


async def use(world, record, ledger, hold, claim, limit=None, inside=None):
    """One attempt at `hold`; with it, `await inside()` or one pause. Its end is the task's outcome; True if it came to
    hold."""
    errors = world.errors
    record.scopes.append(hold)
    ledger.ask(record, claim, limit)
    entered = False
    try:
        async with hold:
            ledger.enter(record, claim)
            entered = True
            try:
                if inside is None:
                    await world.pause()
                else:
                    await inside()
            finally:
                ledger.leave(record, claim)
        world.did(record, "held")
    except errors.LockTimeout:
        if entered:
            raise
        ledger.refused(record, claim, "late")
        world.did(record, "late")
    except errors.DeadlineExceeded:
        # The deadline() that it is in.
        if not entered:
            ledger.refused(record, claim, "stopped")
        raise
    except errors.WouldDeadlock:
        if entered:
            raise
        if not world.is_deadlock(record) or claim.keys is ALL or len(claim.keys) > 1:
            world.complain("cycle: there is none, and task %d was told of one", record.number)
        ledger.refused(record, claim, "cycle")
        world.did(record, "cycle")
    except world.library.CancelledError:
        if not entered:
            ledger.refused(record, claim, "cancelled")
        raise
    finally:
        record.scopes.remove(hold)
    return entered


async def use_lock(world, record, ledger, lock, limit=None, inside=None):
    """`use` for a Lock: `async with lock`, or with a limit `async with lock.hold(limit)`."""
    hold = lock if limit is None else lock.hold(limit)
    return await use(world, record, ledger, hold, LOCK, limit, inside)


async def acquire(world, record, ledger, lock, limit=None):
    """One attempt with acquire() and release()."""
    errors = world.errors
    claim = LOCK
    ledger.ask(record, claim, limit)
    try:
        await lock.acquire(limit)
    except errors.LockTimeout:
        ledger.refused(record, claim, "late")
        world.did(record, "late")
        return
    except world.library.CancelledError:
        ledger.refused(record, claim, "cancelled")
        raise
    ledger.enter(record, claim)
    try:
        await world.pause()
    finally:
        ledger.leave(record, claim)
        lock.release()
    world.did(record, "held")


def attempt(world, record, ledger, take, claim):
    """An attempt that does not wait: what `take()` returns, false if it was not granted."""
    ledger.ask(record, claim)
    taken = take()
    if taken:
        ledger.enter(record, claim)
    else:
        ledger.refused(record, claim, "busy")
        world.did(record, "busy")
    return taken


def key(name, shared=False):
    return Claim((name,), shared)


def keys(*names):
    return Claim(tuple(names))


def everything():
    return Claim(ALL)
