"""Memory runs out at each allocation of each operation: nothing is held then, CS and DE are idle, the next one works.

The heap is full but for n blocks (tests/support/heap.py), for n from 0 until the operation goes through: with the
collector at work, and without it, where what cleans up may allocate nothing either. Peripherals allocate nothing but
their results. Each run has new objects, and its classes have not found their methods yet (lib/buslock/rare.py); modules are
loaded before: those are the matter of test_memory_loading.
"""

from memory_operations import (
    LOCKS,
    LOOKS,
    MADE,
    OF_CHANNEL,
    OF_I2C,
    OF_SPI,
    OF_UART,
    TRACED,
    in_time,
    machine_spi,
    too_late,
    with_driver,
)
from memory_rig import (
    I2C,
    SPI,
    UART,
    AwaitedSPI,
    EchoingUART,
    Lazies,
    Locks,
    MadeI2C,
    TracedAwaitedSPI,
    TracedI2C,
    TracedSPI,
    TracedUART,
    struck,
)

RUNTIMES = ("micropython", "micropython-adafruit", "pico")
LEFT_OUT = {"pico": "it fills the heap of a VM of 64 bits"}
HEAP = "1M"
TIME_LIMIT = 600  # of the slow ones
SLOW = ("test_each_allocation", "test_drivers_at_each_allocation")
EACH = {
    "of": (
        "locks",
        "i2c",
        "channel",
        "making",
        "spi",
        "awaited",
        "uart",
        "echo",
        "traced_i2c",
        "traced_spi",
        "traced_awaited",
        "traced_uart",
    )
}

ENOUGH = 5000  # blocks
SAMPLE = 61  # of so many numbers of blocks one, without the collector of thrice as many


def sweep(make, operations, step=None, taken=(False, True), collector=(True, False)):
    """Every operation with 0, 1, 2... blocks until it goes through; `step` more at a time for a sample."""
    faults = 0
    for collect in collector:
        # Without the collector it takes thrice as many blocks.
        by = step or 1 if collect else 3 * step if step else 1
        for other in taken:
            for number, name in enumerate(operations):
                operation = operations[name] if isinstance(operations, dict) else name
                for blocks in range(37 * number % by, ENOUGH, by):  # a sample: from another number on for each
                    try:
                        if struck(make, operation, blocks, other, collect):
                            break
                    except BaseException:
                        print(make.__name__, name, "taken" if other else "free", "with", blocks, "blocks,", collect)
                        raise
                    faults += 1
                else:
                    raise AssertionError("%s does not go through with %d blocks" % (name, ENOUGH))
    print("faults: %d times out of memory in %s" % (faults, make.__name__))


async def hold_all(case):
    async with case.bus.hold_all():
        pass


def sweep_drivers(step=None, alone_with=(True, False)):
    for make, driver in LOOKS:
        operations = with_driver(driver)
        alone = operations.pop("alone")
        sweep(make, operations, step)
        if driver is not machine_spi:  # which moves CS, for which the wire has to be held
            sweep(make, {"alone": alone}, None, (False,), alone_with)


def test_locks():
    """Locks, keys and deadlines: free, and where another task has them and gives them back meanwhile."""
    sweep(Locks, LOCKS, 13)
    sweep(Locks, (too_late,), None, (False,), (False,))  # an alarm that cannot make its exception rings again


def test_lazies():
    """A Lazy whose object is not there yet, with an async factory; every allocation."""
    sweep(Lazies, (lambda case: case.lazy.get(), in_time), None, (False,))


def test_i2c():
    """Every operation of I2C: on a free bus, and where other tasks have the device and the wire."""
    sweep(I2C, OF_I2C, 97)


def test_channel():
    """Those of a device behind a multiplexer."""
    sweep(I2C, OF_CHANNEL, 61)


def test_making():
    """A peripheral that is made on first use, and is made anew or closed."""
    sweep(MadeI2C, MADE, SAMPLE)


def test_spi():
    """Every operation of SPI."""
    sweep(SPI, OF_SPI, 71)


def test_awaited_spi():
    """The same where transfers are awaited."""
    sweep(AwaitedSPI, OF_SPI, 71)


def test_uart():
    """Every operation of a UART."""
    sweep(UART, OF_UART, 71)


def test_uart_with_echo():
    """The same where the echo comes back."""
    sweep(EchoingUART, OF_UART, 71)


def test_drivers():
    """Look-alikes of machine's and busio's peripherals."""
    sweep_drivers(181, (True,))


def test_traced_buses():
    """With a Trace."""
    for make, operations in TRACED:
        sweep(make, operations, 293)


def test_what_a_trace_adds_to_taking_a_key():
    """Each number of blocks for the shortest operations that take one, or all, where a trace notes who has it."""
    sweep(TracedI2C, {"call": OF_I2C["call"], "hold all": hold_all}, None, (False,), (True,))


ALL = {
    "locks": (Locks, LOCKS),
    "i2c": (I2C, OF_I2C),
    "channel": (I2C, OF_CHANNEL),
    "making": (MadeI2C, MADE),
    "spi": (SPI, OF_SPI),
    "awaited": (AwaitedSPI, OF_SPI),
    "uart": (UART, OF_UART),
    "echo": (EchoingUART, OF_UART),
    "traced_i2c": (TracedI2C, OF_I2C),
    "traced_spi": (TracedSPI, OF_SPI),
    "traced_awaited": (TracedAwaitedSPI, OF_SPI),
    "traced_uart": (TracedUART, OF_UART),
}


def test_each_allocation(of):
    """Not a sample, but all."""
    sweep(*ALL[of])


def test_drivers_at_each_allocation():
    sweep_drivers()
