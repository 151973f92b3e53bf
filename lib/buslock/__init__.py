"""Shared hardware buses, safe and fast from asyncio. Names load their module on first use."""

__version__ = "0.1.0"

_HOMES = (
    "lock Lock,table LockTable,hashtag hash_tag,lazy Lazy,timeouts deadline wait_for_ms,groups hold,"
    "i2c I2CBus,spi SPIBus,uart UARTBus,trace Trace"
)


def __getattr__(name):
    module = "errors"  # whatever is not named above
    for home in _HOMES.split(","):
        if name in home.split(" ")[1:]:
            module = home.split(" ")[0]
    if name[0] == "_":
        raise AttributeError(name)
    found = getattr(__import__("buslock." + module, None, None, (name,)), name)
    globals()[name] = found
    return found
