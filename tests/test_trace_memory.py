"""What recording costs in memory: nothing, whatever is recorded."""

import gc

from buslock import I2CBus, Trace
from buslock._rt import current_task
from buslock.trace import START, WIRE

RUNTIMES = ("micropython", "micropython-adafruit", "pico")
A = 0x10


class Nothing:
    """A peripheral that takes no time and allocates nothing."""

    answer = bytes(2)

    def readfrom_mem(self, addr, reg, nbytes, addrsize=8):
        return self.answer

    def writevto(self, addr, vector):
        return 2

    def readfrom_mem_into(self, addr, reg, buf, addrsize=8):
        pass


def allocated(function):
    """Bytes that a call allocates, the second time."""
    for _ in range(2):
        gc.collect()
        gc.disable()
        before = gc.mem_alloc()
        function()
        used = gc.mem_alloc() - before
        gc.enable()
    return used


def test_an_event_allocates_nothing():
    """record() allocates 0 bytes, also where the ring begins anew, and without a clock that is moved by hand."""
    trace = Trace(16)
    task = current_task()

    def record():
        for i in range(100):
            trace.record(START + WIRE, trace, 5, task, i)

    assert allocated(record) == 0
    assert len(trace) == 16


async def _costs(trace):
    """Bytes of 20 operations of each kind, on a bus that takes nothing itself."""
    device = I2CBus(Nothing(), trace=trace).device(A)
    buf = bytearray(2)
    used = []
    for _ in range(2):
        used.clear()
        gc.collect()
        gc.disable()
        a = gc.mem_alloc()
        for _ in range(20):
            await device.read_register_into(1, buf)
        b = gc.mem_alloc()
        async with device.hold() as session:
            c = gc.mem_alloc()
            for _ in range(20):
                await session.read_register(1, 2)
            d = gc.mem_alloc()
        gc.enable()
        used.extend([b - a, d - c])
    return used


async def test_operations_of_a_traced_bus():
    """Each event of an operation allocates nothing: many allocate as much as the ring has room for."""

    class Deaf:
        """A trace that records nothing: what is left is what the way of a traced operation costs."""

        def record(self, code, bus, key, task, value):
            pass

    assert await _costs(Trace(16)) == await _costs(Deaf())
