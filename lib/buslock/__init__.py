"""Shared hardware buses, safe and fast from asyncio. Names load their module on first use."""

import sys

__version__ = "0.1.0"

_HOMES = (
    "lock Lock ,table LockTable ,hashtag hash_tag ,lazy Lazy ,timeouts deadline wait_for_ms ,groups hold ,"
    "i2c I2CBus ,spi SPIBus ,uart UARTBus ,trace Trace "
)


def _home(directory, name):
    """The module that has `name`, by a directory: "module name name ,module name ". None if it is not there.

    Each name stands between spaces, so that it is found without making lists: memory may be short here.
    """
    at = directory.find(" %s " % name)
    if at < 0:
        return None
    start = directory.rfind(",", 0, at) + 1
    return directory[start : directory.find(" ", start)]


def __getattr__(name):
    """What the package exports, and its modules."""
    if name[:2] == "__":
        raise AttributeError(name)
    module = _home(_HOMES, name) or (name if name.islower() else "errors")  # whatever is not named above
    try:
        found = __import__("buslock." + module, None, None, (name,))
    except MemoryError:
        forget_unmade()
        raise
    except ImportError as error:
        if module == name and name not in sys.modules:
            raise AttributeError("%s: %s" % (name, error))
        raise
    if module != name:
        found = getattr(found, name)
        globals()[name] = found
    return found


def forget_unmade():  # pragma: no cover (CPython's memory cannot be filled)
    """Out of memory, MicroPython's import may leave a module that is none: to import that again would end the program."""
    for name in sys.modules:
        if sys.modules.get(name, _HOMES) is _HOMES:
            sys.modules.pop(name, None)
