"""Calls: every call of a pin or a bus object can be told to raise."""

from .arguments import os_error

EIO = 5


class Calls:
    """Something whose pins and bus objects count their calls, and raise when they are told to.

    calls is how many there were. A call is named by its method ("write", "init", "try_lock"), that of a pin by its
    line ("display"); what a pin reads is not counted.
    """

    calls = 0
    _failing = ()

    def fail_call(self, at=1, what=None, times=1, after=False, error=None):
        """Make the at-th call from now raise, and the next times - 1 (None: all that follow).

        what: count only calls of that name. after=True: the call does its work before it raises. It raises OSError with
        EIO, or what error() returns.
        """
        if at < 1:
            raise ValueError("at counts from 1, the next call, and is %r" % (at,))
        if not self._failing:
            self._failing = []
        self._failing.append([at - 1, what, times, after, error])

    def works_again(self):
        """Take back every fail_call()."""
        self._failing = ()

    def called(self, what):
        """For pins and bus objects: count a call. Raises, or returns what is to be raised after it, or None."""
        self.calls += 1
        late = None
        for plan in list(self._failing):
            if plan[1] is not None and plan[1] != what:
                continue
            if plan[0]:
                plan[0] -= 1
                continue
            if plan[2] is not None:
                plan[2] -= 1
                if plan[2] == 0:
                    self._failing.remove(plan)
            error = os_error(EIO) if plan[4] is None else plan[4]()
            if not plan[3]:
                raise error
            late = error
        return late
