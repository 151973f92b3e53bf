"""Lazy: one object, made once, on first use, by a task that all who ask for it share."""

from ._rt import current_task, is_awaitable, loop_id, ticks_diff, ticks_ms
from .rare import rare
from .waitqueue import check_ms, wait


class Lazy:
    """`factory` makes the object: a function, called in place, or an async one, run by one task of its own.

    Any number of tasks may `get()` at the same time: one call, one object. Cancelling one of them, the first too,
    does not disturb the others. A failure goes to all who wait, and a later caller tries again, `retry_ms` after it
    at the earliest. `factory_ms` bounds an async factory. `close(object)` is called by `aclose()`; it may be async.
    """

    state = "empty"  # "starting", "ready", "failed"
    _object = None
    _late = None
    _closing = None  # the line of those who wait for the end of a close
    _error = None
    _task = None  # the task that makes it
    _line = None  # the line of those who wait for it
    _loop = None
    _since = 0  # ticks of the start, then of the end
    _calls = 0
    _failures = 0
    _last_ms = None

    def __init__(self, factory, close=None, factory_ms=None, retry_ms=0):
        if not callable(factory) or close is not None and not callable(close):
            raise TypeError("factory and close are functions: factory() makes the object, close(object) ends it")
        if retry_ms is None:
            raise TypeError("retry_ms is an int in ms")
        self._factory = factory
        self._close = close
        self._factory_ms = check_ms(factory_ms)
        self._retry_ms = check_ms(retry_ms)
        self.name = getattr(factory, "__name__", "lazy object")

    def __getattr__(self, name):
        """aclose, stats and more: loaded on first use, methods from then on."""
        return rare(self, Lazy, name, ("lazymore",))

    def peek(self):
        """The object if it is ready, else None. Starts nothing."""
        return self._object

    async def get(self, timeout_ms=None):
        """The object. LockTimeout (the making goes on), BusClosed, Reentry, or what the factory raised."""
        if self._object is not None:
            return self._object
        check_ms(timeout_ms)
        if self._closing is not None or self.state != "empty":
            self._look()
        if self.state != "starting":
            self._start()
            if self._object is not None:
                return self._object
        # Cancelled here: only this caller goes, the shared task works on.
        return self._outcome(await wait(self._line, None, current_task(), timeout_ms))

    def _start(self):
        self._calls += 1
        self._since = ticks_ms()
        self._loop = loop_id()
        # Room for what is set when it ends: then there may be none left, and it would be starting for ever.
        self._last_ms = self._last_ms
        self._object = self._object
        self._error = self._task = None
        self._failures += 0
        self.state = "starting"
        try:
            made = self._factory()
            if is_awaitable(made):
                self._share(made)
            else:
                self._made(made)
        except BaseException as error:
            self._end("failed", error)
            raise

    def _made(self, made):
        if made is None:
            raise TypeError("%s: the factory returned None" % self.name)
        if self._closing is None:
            self._object = made
        else:
            self._late = made  # it came through in spite of the cancel: nobody gets it but aclose()
        self._end("ready", (made,))

    def _end(self, state, outcome):
        now = ticks_ms()
        self._last_ms = ticks_diff(now, self._since)
        self._since = now
        self.state = state
        if state == "failed":
            self._failures += 1
            self._error = outcome
        if self._line is not None:
            self._tell(outcome)
