"""Runs real drivers over simulated parts, in a process of its own: run.py i2c|spi PORT,PORT NAME...

Each driver alone, or with several names all at once on one bus, a task each. Prints `ok` and the readings of each.
"""

import asyncio
import sys

import buslock_sim
from buslock import I2CBus, SPIBus
from buslock_sim import I2C, SPI, BusioI2C, BusioSPI, SpiWire, Wire

BUSIO = ("circuitpython", "blinka")
ROUNDS = 3


def near(got, expected):
    """Within the resolution of the parts."""
    if isinstance(expected, (tuple, list)):
        return len(got) == len(expected) and all(near(a, b) for a, b in zip(got, expected))
    return abs(got - expected) <= 0.0006 * abs(expected) + 0.01


async def use(name, reader, expected):
    for _ in range(ROUNDS):
        got = await reader()
        if not near(got, expected):
            raise AssertionError("%s read %r, not %r" % (name, got, expected))
        await asyncio.sleep(0)
    return got


async def user(name, making, expected):
    return await use(name, await making, expected)


async def main(kind, port, names):
    if kind == "i2c":
        from i2c_cases import CASES

        wire = Wire()
        bus = I2CBus(BusioI2C(wire, port=port) if port in BUSIO else I2C(wire, port))
    else:
        from spi_cases import CASES

        wire = SpiWire()
        bus = SPIBus(BusioSPI(wire, port=port) if port in BUSIO else SPI(wire, port))
    parts = [CASES[name][0](wire) for name in names]
    making = [
        CASES[name][1](bus, part) if kind == "i2c" else CASES[name][1](bus, wire, part)
        for name, part in zip(names, parts)
    ]
    tasks = [user(name, make, CASES[name][2]) for name, make in zip(names, making)]
    results = await asyncio.gather(*tasks)
    buslock_sim.check()
    assert len(bus._table) == 0 and not bus._wire.locked() and wire.idle()
    for name, result in zip(names, results):
        print("ok", name, result)
    print("longest", bus.stats()["longest_call_key"])


async def every(kind, ports, names):
    for port in ports:
        await main(kind, port, names)


asyncio.run(every(sys.argv[1], sys.argv[2].split(","), sys.argv[3:]))
