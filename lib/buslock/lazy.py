"""Lazy: one object, made once, on first use, by a task that all who ask for it share."""

from ._rt import CancelledError, create_task, current_task, is_awaitable, loop_id, ticks_diff, ticks_ms
from .errors import BusClosed, Reentry
from .timeouts import wait_for_ms
from .waitqueue import WaitQueue, check_ms, fresh, wait


class _Line(WaitQueue):
    """Those who wait for something to be over; all are let go at once."""

    def __init__(self, name):
        super().__init__()
        self.name = name
        self.maker = None  # the task that is at work

    def _label(self):
        return self.name

    def _holders(self):
        return () if self.maker is None else (self.maker,)

    def _release_all(self, outcome):
        while self._first is not None:
            waiter = self._first
            waiter.hold = outcome
            self._grant(waiter)


class Lazy:
    """`factory` makes the object: a function, called in place, or an async one, run by one task of its own.

    Any number of tasks may `get()` at the same time: one call, one object. Cancelling one of them, the first too,
    does not disturb the others. A failure goes to all who wait, and a later caller tries again, `retry_ms` after it
    at the earliest. `factory_ms` bounds an async factory. `close(object)` is called by `aclose()`; it may be async.
    """

    def __init__(self, factory, close=None, factory_ms=None, retry_ms=0):
        if not callable(factory):
            raise TypeError("factory is a function that makes the object, not %r" % (factory,))
        if close is not None and not callable(close):
            raise TypeError("close is a function of the object, not %r" % (close,))
        if retry_ms is None:
            raise TypeError("retry_ms is an int in ms")
        self._factory = factory
        self._close = close
        self._factory_ms = check_ms(factory_ms)
        self._retry_ms = check_ms(retry_ms)
        self._object = None
        self.state = "empty"  # "starting", "ready", "failed"
        self._closing = False
        self._error = None
        self._since = 0  # ticks of the start, then of the failure
        self._task = None
        self._loop = None
        self._line = _Line(getattr(factory, "__name__", "lazy object"))
        self._closers = _Line("closing " + self._line.name)
        self._calls = self._failures = 0
        self._last_ms = None

    def peek(self):
        """The object if it is ready, else None. Starts nothing."""
        return self._object

    async def get(self, timeout_ms=None):
        """The object. LockTimeout (the making goes on), BusClosed, or what the factory raised."""
        if self._object is not None:
            return self._object
        check_ms(timeout_ms)
        if self.state == "starting" and self._loop is not loop_id():
            self._abandon()
        if self._closing:
            raise BusClosed("%s is being closed; ask again when aclose() has returned" % self._line.name)
        if self.state == "failed" and ticks_diff(ticks_ms(), self._since) < self._retry_ms:
            raise fresh(self._error)
        if self.state != "starting":
            self._start()
            if self._object is not None:
                return self._object
        if current_task() is self._task:
            raise Reentry("the factory %s needs its own result" % self._line.name)
        # Cancelled here: only this caller goes, the shared task works on.
        waiter = await wait(self._line, None, current_task(), timeout_ms)
        if isinstance(waiter.hold, BaseException):
            raise fresh(waiter.hold)
        return waiter.hold[0]

    def _start(self):
        self.state = "starting"
        self._calls += 1
        self._since = ticks_ms()
        self._loop = loop_id()
        try:
            made = self._factory()
            if not is_awaitable(made):
                self._made(made)
                return
        except BaseException as error:
            self._failed(error)
            raise
        self._begun = False
        self._task = self._line.maker = create_task(self._make(made))

    async def _make(self, coroutine):
        # Only aclose() and the end of the loop cancel this task: nobody else is given it.
        self._begun = True
        try:
            if self._closing:  # closed before the first step, which no cancel can reach
                if hasattr(coroutine, "close"):
                    coroutine.close()
                raise CancelledError()
            self._made(await wait_for_ms(coroutine, self._factory_ms))
        except Exception as error:
            self._failed(error)
        except BaseException as error:
            self._failed(BusClosed("%s was closed, or its loop ended, while it was being made" % self._line.name))
            if not self._closing:
                raise error

    def _made(self, made):
        if made is None:
            raise TypeError("the factory %s returned None" % self._line.name)
        if self._closing:
            # It came through in spite of the cancel: aclose() closes it.
            self._object = made
            self._end("ready", BusClosed("%s was closed while it was being made" % self._line.name))
        else:
            self._object = made
            self._end("ready", (made,))

    def _failed(self, error):
        self._failures += 1
        self._error = error
        self._end("failed", error)

    def _end(self, state, outcome):
        now = ticks_ms()
        self._last_ms = ticks_diff(now, self._since)
        self._since = now
        self.state = state
        self._task = self._line.maker = None
        self._line._release_all(outcome)
        self._closers._release_all(None)

    def _abandon(self):
        """The loop in which it was being made was replaced: that task never ends."""
        self.state = "empty"
        self._closing = False
        self._task = self._line.maker = None
        self._line._release_all(None)
        self._closers._release_all(None)

    async def aclose(self, timeout_ms=None):
        """Close the object, or stop making it; those who wait get BusClosed. The next `get()` makes it anew."""
        check_ms(timeout_ms)
        if self.state == "starting" and self._loop is not loop_id():
            self._abandon()
        if self._closing:
            # Cancelled here: the other one goes on closing.
            await wait(self._closers, None, current_task(), timeout_ms)
            return
        if self.state == "starting" and current_task() is self._task:
            raise Reentry("the factory %s cannot close itself" % self._line.name)
        self._closing = True
        try:
            if self.state == "starting":
                if self._begun:
                    self._task.cancel()
                # Cancelled here: the making has been told to stop, and stops.
                await wait(self._closers, None, current_task(), timeout_ms)
            made = self._object
            self._object = None
            self.state = "empty"
            if made is not None and self._close is not None:
                closing = self._close(made)
                if is_awaitable(closing):
                    # Cancelled here: the close is interrupted and not tried again; the object is forgotten.
                    await closing
        finally:
            self._closing = False
            self._closers._release_all(None)

    def stats(self):
        """Calls of the factory, how many failed, and how long the last one took in ms."""
        return {"state": self.state, "calls": self._calls, "failures": self._failures, "last_ms": self._last_ms}
