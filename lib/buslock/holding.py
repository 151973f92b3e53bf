"""Hold: what every hold has in common."""

from ._rt import DONE, current_task, ended, later, ticks_diff, ticks_ms
from .waitqueue import Waiter


def left_of(ms, start):
    """What is left of a time that began at `start`; None stays None."""
    return max(0, ms - ticks_diff(ticks_ms(), start)) if ms else ms


class Hold(Waiter):
    """One holding, for one `async with`. `held` while in force; `release()` ends it early. Dead after its block."""

    is_hold = True
    shared = False
    _task = None  # the holder, while in force
    _timeout = None
    _given = None  # the awaitable of an __aenter__ that need not wait; None once used

    def __getattr__(self, name):
        """`held` and `keys`. Not properties: those make every store to an attribute slow on MicroPython."""
        if name == "held":
            return self._is_held()
        if name == "keys":
            return self._all_keys()
        raise AttributeError(name)

    def _is_held(self):
        return self._task is not None

    def __aenter__(self):
        return self._enter()

    async def _enter(self):
        if self._given is None:
            self._refuse()
        self._given = self._task = None  # a new attribute may fail for want of memory: it must not when this is taken
        await self._take()  # cancelled here: nothing is owned
        return self

    def _refuse(self):
        """It was entered before."""
        raise (
            later.refusals.not_held(self._label(), None)
            if self._task is None
            else later.refusals.reentry(self._label())
        )

    def __aexit__(self, exc_type, exc, tb):
        if self._task is not None:
            self._task = None
            self._drop()
        return DONE

    def release(self):
        """NotHeld if it is not in force, or if it is another live task's."""
        task = self._task if self.held else None
        if task is None or task is not current_task() and not ended(task):
            raise later.refusals.not_held(self._label(), task)
        self._task = None
        self._drop()
