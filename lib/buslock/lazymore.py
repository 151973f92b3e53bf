"""The methods of Lazy that are needed when making or closing takes time; the class loads them on first use."""

from ._rt import create_task, current_task, ended, is_awaitable, later, loop_id, ticks_diff, ticks_ms
from .errors import BusClosed
from .holding import left_of
from .refusals import fresh, reentry
from .waitqueue import WaitQueue, check_ms, grant, wait

METHODS = "lazymore _lost _outcome _look _closed _abandon _share _make _tell aclose stats "
WITH = {"_share": ("_tell", "_closed")}


class Line(WaitQueue):
    """Those who wait for something to be over; all are let go at once."""

    def __init__(self, name):
        self.name = name
        self.maker = None  # the task that is at work
        self._loop = loop_id()

    def _label(self):
        return self.name

    def _stuck(self, waiter_of):
        return waiter_of(self.maker)

    def _holders(self):
        return () if self.maker is None else (self.maker,)

    def _advance(self):
        """Nobody is granted it before it is over."""

    def _give_back(self, waiter):
        """There is nothing to give back."""

    def _release_all(self, outcome):
        while self._line:
            try:
                self._line[0].outcome = outcome
            except MemoryError:
                pass  # it is let go all the same, see _outcome()
            grant(self)


def _outcome(lazy, outcome):
    if outcome is None:  # pragma: no cover (CPython's memory cannot be filled)
        raise MemoryError("%s: no memory to tell this task of the outcome" % lazy.name)
    if isinstance(outcome, BaseException):
        raise fresh(outcome)
    if lazy._object is not outcome[0]:
        raise lazy._closed()  # before this task ran again
    return outcome[0]


def _look(lazy):
    """Raise what there is to raise at a first look."""
    if lazy._lost():
        lazy._abandon()
    elif lazy._closing is not None:
        raise lazy._closed()
    elif lazy.state == "failed" and ticks_diff(ticks_ms(), lazy._since) < lazy._retry_ms:
        raise fresh(lazy._error)
    elif lazy._task is not None and lazy._task is current_task():
        raise reentry(lazy.name, "the making of it")


def _lost(lazy):
    """True if the task that makes it never will. One that was closing it in a replaced loop is forgotten."""
    closers = lazy._closing
    if closers is not None and closers._loop is not loop_id():
        if later.strays.gone(closers.maker):
            lazy._closing = None
    if lazy.state != "starting":
        return False
    return lazy._loop is not loop_id() or lazy._task is not None and ended(lazy._task)


def _closed(lazy):
    return BusClosed("%s was closed meanwhile; ask again when aclose() has returned" % lazy.name)


def _abandon(lazy):
    """The loop in which it was being made was replaced, or has cancelled the task before its first step."""
    if not lazy._begun and hasattr(lazy._coroutine, "close"):
        lazy._coroutine.close()
    lazy.state = "empty"
    lazy._closing = lazy._task = None
    if lazy._loop is not loop_id():
        later.strays.settle_line(lazy._line)
    else:
        lazy._line._release_all(lazy._closed())


def _share(lazy, coroutine):
    """Make it in a task of its own. Nobody is given that task: a cancelled caller would take it along."""
    lazy._begun = False
    lazy._coroutine = coroutine
    if lazy._line is None:
        lazy._line = Line(lazy.name)
    lazy._line._loop = loop_id()
    lazy._task = lazy._line.maker = create_task(lazy._make(coroutine))


async def _make(lazy, coroutine):
    lazy._begun = True
    try:
        if lazy._closing is not None:  # closed before the first step, which no cancel can reach
            coroutine.close()
        elif lazy._factory_ms is None:
            lazy._made(await coroutine)
        else:
            lazy._made(await later.timeouts.wait_for_ms(coroutine, lazy._factory_ms))
    except Exception as error:
        lazy._end("failed", error)
    finally:
        if lazy.state == "starting":  # cancelled, by aclose() or by the end of the loop
            lazy._end("failed", lazy._closed())


def _tell(lazy, outcome):
    """Let those who wait go on with the outcome."""
    lazy._task = lazy._line.maker = None
    lazy._line._release_all(outcome if lazy._closing is None else lazy._closed())


async def aclose(lazy, timeout_ms=None):
    """Close the object, or stop making it; those who wait get BusClosed. The next `get()` makes it anew."""
    check_ms(timeout_ms)
    start = ticks_ms()
    if lazy._lost():
        lazy._abandon()
    task = current_task()
    if task is lazy._task or lazy._closing is not None and task is lazy._closing.maker:
        raise reentry(lazy.name, "the making or closing of it")
    while lazy._closing is not None:
        # Cancelled here: the other one goes on closing. If that one gives up, this one closes.
        await wait(lazy._closing, None, task, left_of(timeout_ms, start))
    lazy._closing = closers = Line("closing of " + lazy.name)
    closers.maker = task
    try:
        if lazy.state == "starting":
            if lazy._begun:
                lazy._task.cancel()
            # Cancelled here: the making has been told to stop, and stops.
            await wait(lazy._line, None, task, left_of(timeout_ms, start))
        # In `_late` stands what a close that was cut short has left open, or what came through in spite of a cancel.
        while lazy._late is not None or lazy._object is not None:
            lazy.state = "empty"
            if lazy._late is None:
                lazy._late, lazy._object = lazy._object, None
            try:
                closing = None if lazy._close is None else lazy._close(lazy._late)
                if is_awaitable(closing):
                    await closing  # cancelled here: the next aclose() calls close() again
            except Exception:
                lazy._late = None
                raise
            lazy._late = None
        lazy.state = "empty"
    finally:
        lazy._closing = None
        if lazy.state == "ready" and lazy._late is not None:
            # It was made in spite of the cancel, and this close was given up: it stays open, and is nobody else's.
            lazy._object, lazy._late = lazy._late, None
        closers._release_all(None)


def stats(lazy):
    """Calls of the factory, how many failed, and how long the last one took in ms."""
    return later.stats.lazy_stats(lazy)
