"""A set of the library's modules of its own, loaded over a model of a runtime.

`_rt` picks its half by `sys.implementation` and takes asyncio's internals where it finds them, so both are stood in for
while it is imported. The set is in `sys.modules` only inside `with library:`, because some of the library's modules are
first imported when they are needed.
"""

import sys

CPYTHON = sys.implementation.name == "cpython"
MODULES = ("waitqueue", "lock", "table", "timeouts", "lazy", "errors")


class _Namespace:
    pass


class _Missing:
    """What `_rt_cpython` needs of the modules that MicroPython does not have."""

    @staticmethod
    def isawaitable(x):
        return hasattr(x, "send") or hasattr(x, "__await__")

    @staticmethod
    def get_ident():
        return 0


class Library:
    """`runtime` is "micropython" or "cpython"; `model` is its core or loop. `library.waitqueue` is that module, and so
    on. `folder` is where the package is, if not on the path."""

    def __init__(self, runtime, folder=None):
        self.runtime = runtime
        if runtime == "micropython":
            from . import micropython_model

            self.model = micropython_model.core
            self.asyncio = micropython_model.asyncio
        else:
            from . import cpython_model

            self.model = cpython_model.loop
            self.asyncio = cpython_model.asyncio
        self.CancelledError = self.asyncio.CancelledError
        self._modules = {"asyncio": self.asyncio}
        self._own = None
        if folder is not None:
            sys.path.insert(0, folder)
        try:
            with self:
                _quietly(self._load)
        finally:
            if folder is not None:
                sys.path.remove(folder)

    def _load(self):
        system = sys.modules.get("sys")
        stand_in = _Namespace()
        stand_in.implementation = _Namespace()
        stand_in.implementation.name = self.runtime
        stand_in.version = "model"
        stand_in.modules = sys.modules
        package = __import__("buslock")
        if CPYTHON:
            __import__("inspect")  # they need the real sys
            __import__("threading")
        else:
            # The half for CPython imports `_rt` in the middle of its own import, which this VM does not find then.
            package._rt = _Namespace()
            package._rt.OUTSIDE = "(no task)"
            sys.modules["inspect"] = sys.modules["threading"] = _Missing
        sys.modules["sys"] = stand_in
        try:
            self.rt = _module("_rt")
        finally:
            if system is None:
                del sys.modules["sys"]
            else:
                sys.modules["sys"] = system
        # What needs no waiting is awaited in the way of the VM that all this runs on.
        from . import awaitables

        self.rt.DONE = awaitables.DONE
        self.rt.given = awaitables.given
        self.rt.Given = awaitables.Given
        for name in MODULES:
            setattr(self, name, _module(name))
        self.Lock = self.lock.Lock
        self.LockTable = self.table.LockTable
        self.deadline = self.timeouts.deadline
        self.wait_for_ms = self.timeouts.wait_for_ms
        self.Lazy = self.lazy.Lazy

    def __enter__(self):
        self._others = _taken(_is_ours)
        sys.modules.update(self._modules)
        return self

    def __exit__(self, kind, error, traceback):
        self._modules = _taken(_is_ours)
        sys.modules.update(self._others)
        return False

    def end_of(self, task):
        """The exception that has ended the task; None if it returned."""
        if self.runtime == "micropython":
            end = task.data
            return None if isinstance(end, StopIteration) else end
        if task.cancelled():
            return self.CancelledError()
        return task.value if isinstance(task.value, BaseException) else None

    def module(self, name):
        """Any other module of the library; inside `with library:` only."""
        return _module(name)


def _quietly(load):
    """The boards' half of `_rt` makes a coroutine to look at its type; CPython would say that it was never awaited."""
    if not CPYTHON:
        load()
        return
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        load()


def _module(name):
    return __import__("buslock." + name, None, None, ("*",))


def _is_ours(name):
    return name.split(".")[0] in ("asyncio", "buslock")


def _taken(chosen):
    """Takes the chosen modules out of `sys.modules`."""
    names = [name for name in sys.modules if chosen(name)]
    return {name: sys.modules.pop(name) for name in names}
