"""Shared hardware buses, safe and fast from asyncio. Names load their module on first use."""

__version__ = "0.1.0"

_MODULES = {
    "lock": ("Lock",),
    "table": ("LockTable", "hash_tag"),
    "lazy": ("Lazy",),
    "timeouts": ("deadline", "wait_for_ms"),
    "groups": ("hold",),
    "i2c": ("I2CBus",),
    "errors": (
        "BusClosed",
        "BusError",
        "BusStuck",
        "DeadlineExceeded",
        "ERRORS",
        "LockTimeout",
        "NoAck",
        "NoReply",
        "NotCovered",
        "NotHeld",
        "QueueFull",
        "Reentry",
        "TransactionError",
        "TransferError",
        "WouldDeadlock",
    ),
}


def __getattr__(name):
    for module in _MODULES:
        if name in _MODULES[module]:
            found = getattr(__import__("buslock." + module, None, None, (name,)), name)
            globals()[name] = found
            return found
    raise AttributeError("buslock has no " + name)
