"""Memory runs out while a module is loaded that an operation uses for the first time: a MemoryError, nothing is held, and
the next use loads it.

As in test_memory_runs_out, but with every module unloaded that making the objects has not loaded. Out of memory,
MicroPython's import may leave a module in sys.modules that is none, and to import that again would end the program: see
`forget_unmade()` in lib/buslock/__init__.py.
"""

import sys

import buslock
from buslock import Lock, LockTable, deadline
from memory_rig import BUF, LINE_FEED, TWO, I2C, SPI, UART, Lazies, Locks, struck
from support import cold, heap
from test_memory_runs_out import OF_I2C, OF_SPI, OF_UART, select, with_bus, with_key, with_keys, with_table, with_wire

RUNTIMES = ("micropython", "micropython-adafruit")
HEAP = "1M"
TIME_LIMIT = 600
