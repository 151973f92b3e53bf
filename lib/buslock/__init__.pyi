from .errors import ERRORS as ERRORS
from .errors import BusClosed as BusClosed
from .errors import BusError as BusError
from .errors import BusStuck as BusStuck
from .errors import DeadlineExceeded as DeadlineExceeded
from .errors import LockTimeout as LockTimeout
from .errors import NoAck as NoAck
from .errors import NoReply as NoReply
from .errors import NotCovered as NotCovered
from .errors import NotHeld as NotHeld
from .errors import QueueFull as QueueFull
from .errors import Reentry as Reentry
from .errors import TransactionError as TransactionError
from .errors import TransferError as TransferError
from .errors import WouldDeadlock as WouldDeadlock
from .groups import hold as hold
from .hashtag import hash_tag as hash_tag
from .i2c import I2CBus as I2CBus
from .lazy import Lazy as Lazy
from .lock import Lock as Lock
from .spi import SPIBus as SPIBus
from .table import LockTable as LockTable
from .timeouts import deadline as deadline
from .timeouts import wait_for_ms as wait_for_ms
from .trace import Trace as Trace
from .uart import UARTBus as UARTBus

__version__: str
