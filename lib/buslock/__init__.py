"""Shared hardware buses, safe and fast from asyncio. Names load their module on first use."""

__version__ = "0.1.0"

_HOMES = (
    "lock Lock,table LockTable,hashtag hash_tag,lazy Lazy,timeouts deadline wait_for_ms,groups hold,"
    "i2c I2CBus,spi SPIBus,uart UARTBus,trace Trace"
)


def _home(directory, name):
    """The module that has `name`, by a directory: "module name name,module name name". None if it is not there."""
    for line in directory.split(","):
        names = line.split(" ")
        if name in names[1:]:
            return __import__("buslock." + names[0], None, None, (name,))
    return None


def __getattr__(name):
    if name[0] == "_":
        raise AttributeError(name)
    # Whatever is not named above is an error.
    found = getattr(_home(_HOMES, name) or __import__("buslock.errors", None, None, (name,)), name)
    globals()[name] = found
    return found
