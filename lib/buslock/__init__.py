"""Shared hardware buses, safe and fast from asyncio. Names load their module on first use."""

__version__ = "0.1.0"

_HOMES = (
    "lock Lock,table LockTable,hashtag hash_tag,lazy Lazy,timeouts deadline wait_for_ms,groups hold,"
    "i2c I2CBus,spi SPIBus,uart UARTBus,"
    "errors ERRORS BusClosed BusError BusStuck DeadlineExceeded LockTimeout NoAck NoReply NotCovered NotHeld "
    "QueueFull Reentry TransactionError TransferError WouldDeadlock"
)


def __getattr__(name):
    for home in _HOMES.split(","):
        module, *names = home.split(" ")
        if name in names:
            found = getattr(__import__("buslock." + module, None, None, (name,)), name)
            globals()[name] = found
            return found
    raise AttributeError("buslock has no " + name)
