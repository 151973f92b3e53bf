"""Memory runs out while a module is loaded that an operation needs for the first time: a MemoryError, nothing is held, CS
and DE are idle, and the next use loads it.

As in test_memory_runs_out, but every module is unloaded but those that are there when the objects have been made. Out of
memory, MicroPython's import may leave a module in sys.modules that is none, and to import that again ends the program:
`forget_unmade()` in lib/buslock/__init__.py takes it away.
"""

import sys

import memory_rig
from buslock import Lock, NotHeld, forget_unmade
from memory_operations import OF_I2C, OF_SPI, OF_UART, too_late, with_keys, with_lock_hold, with_table
from memory_rig import I2C, SPI, UART, Locks, struck
from support import cold, heap
from support.outcome import Skip

RUNTIMES = ("micropython", "micropython-adafruit", "pico")
LEFT_OUT = {"pico": "it fills the heap of a VM of 64 bits"}
HEAP = "4M"
TIME_LIMIT = 900  # of the slow ones
SLOW = ("test_each_number_of_blocks",)
EACH = {
    "of": (
        "lock",
        "keys",
        "table",
        "deadline",
        "i2c_wire",
        "i2c_open_write",
        "i2c_recover",
        "i2c_mux",
        "i2c_transaction",
        "spi_read",
        "spi_select",
        "spi_call",
        "uart_until",
        "uart_call",
    )
}

CORE = ("errors", "lock", "table", "waitqueue", "holding", "rare", "bus", "device", "i2c", "spi", "spibus", "uart")
SAMPLE = 701
ENOUGH = 40000  # blocks
ENDS = (MemoryError, NotHeld)  # made here: a tuple takes memory
NAMES = ("label",)

OPERATIONS = {
    "lock": (Locks, with_lock_hold),
    "keys": (Locks, with_keys),
    "table": (Locks, with_table),
    "deadline": (Locks, too_late),
    "i2c_wire": (I2C, OF_I2C["hold wire"]),
    "i2c_open_write": (I2C, OF_I2C["open write"]),
    "i2c_recover": (I2C, OF_I2C["recover"]),
    "i2c_mux": (I2C, OF_I2C["mux"]),
    "i2c_transaction": (I2C, OF_I2C["transaction of two"]),
    "spi_read": (SPI, OF_SPI["read"]),
    "spi_select": (SPI, OF_SPI["select"]),
    "spi_call": (SPI, OF_SPI["call"]),
    "uart_until": (UART, OF_UART["until"]),
    "uart_call": (UART, OF_UART["call"]),
}


class Unloaded:
    """In the place of support.cold for memory_rig: modules are forgotten, too."""

    forget_methods = staticmethod(cold.forget_modules)


def unmade():
    """Modules that are none."""
    return [name for name in sys.modules if sys.modules.get(name, unmade) is unmade]


def sweep(make, operation, step):
    """With 0, 1, 2... blocks until it goes through: (how often it did not, how often a module was left that is none)."""
    cold.keep_modules(CORE)
    memory_rig.cold = Unloaded
    memory_rig.load = lambda *arguments: None
    faults = 0
    for blocks in range(0, ENOUGH, step):
        try:
            if struck(make, operation, blocks, False, False):
                return faults
        except BaseException:
            print(make.__name__, operation, "with", blocks, "blocks")
            raise
        assert not unmade(), unmade()
        faults += 1
    raise AssertionError("it does not go through with %d blocks" % ENOUGH)


def told(faults):
    print("faults: %d times out of memory with modules to load" % faults)


def test_some_numbers_of_blocks():
    told(sum([sweep(make, operation, SAMPLE) for make, operation in OPERATIONS.values()]))


def test_each_number_of_blocks(of):
    told(sweep(*OPERATIONS[of], 1))


def test_a_module_that_is_none():
    """What MicroPython leaves where no memory is left for the module itself is taken away, and it can be loaded."""
    cold.keep_modules(CORE)
    assert NotHeld and sys.modules["buslock.errors"]
    left = 0
    for wasted in range(36, 60):
        cold.forget_modules()
        imported("buslock.refusals", wasted)
        found = unmade()
        if found:
            left += 1
            assert found == ["buslock.refusals"]
            forget_unmade()  # without it the next line ends the program
        assert not unmade()
        assert __import__("buslock.refusals", None, None, NAMES).label("x") == "x"
    if not left:
        raise Skip("this MicroPython leaves none")


def imported(name, wasted):
    chain = None
    heap.fill(40, False)
    try:
        for _ in range(wasted):
            chain = (chain, None)
        __import__(name, None, None, NAMES)
    except MemoryError:
        pass
    finally:
        heap.empty()
    return chain


def test_the_wording_of_an_error():
    """An error whose wording cannot be loaded is a MemoryError, however often; when there is memory it is what it is."""
    lock = Lock("one")
    cold.keep_modules(CORE)
    for wasted in range(1, 250, 13):
        cold.forget_modules()
        assert released(lock, wasted) is MemoryError
        assert not unmade()
        assert released(lock, wasted) is MemoryError
        assert released(lock, 0) is NotHeld


def released(lock, wasted):
    """What a release of a lock that is free raises with 240 blocks less those that are wasted."""
    chain = result = None
    if wasted:
        heap.fill(240, False)
    try:
        for _ in range(wasted):
            chain = (chain, None)
        lock.release()
    except ENDS as error:
        result = type(error)
    finally:
        heap.empty()
    return result
