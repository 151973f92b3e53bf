"""How the ports differ, in one table.

Read from the sources of MicroPython (extmod/machine_i2c.c and, per port, ports/*/machine_i2c.c, stm32's i2c.c,
mpconfigport.h for the errno numbers), of the Pico SDK (hardware_i2c/i2c.c), of CircuitPython
(shared-bindings/busio/I2C.c, ports/*/common-hal/busio/I2C.c) and of Blinka 10 (busio.py, generic_linux/i2c.py over
Adafruit_PureIO, with the errno numbers of Linux's i2c-bcm2835 driver).
"""

EIO = 5
EAGAIN = 11
ENODEV = 19
EINVAL = 22
ETIMEDOUT = 110
ETIMEDOUT_NEWLIB = 116  # ports that take errno.h from newlib: esp32, and CircuitPython's espressif
EREMOTEIO = 121


class Port:
    """The habits of one port; those not given are the class's. Make your own for a port that is not in PORTS."""

    # errno of an address NACK, of a time-out, of lost arbitration
    nack = ENODEV
    timeout = ETIMEDOUT
    lost = ETIMEDOUT
    # errno of a data NACK; None: no error, the write returns the number of bytes that were acknowledged
    data_nack = None
    # errno of the address NACK of a write without bytes, where another code path makes those
    empty_nack = None
    # is stop=False obeyed, by writes and by reads; a number: a read refuses it with that errno
    write_stop = True
    read_stop = True
    # what a read of no bytes does: "wire" addresses the chip, "nothing", or a number: that errno
    empty_read = "wire"
    # readfrom_mem is one call of the driver, not a write and a read
    atomic_mem = False
    # has a working init(); has deinit() (machine.I2C got it on all ports in 2026, after 1.28)
    init = False
    deinit = False
    # bit-banged: does not look whether the bus is free, knows no arbitration, has start(), stop(), readinto(), write()
    soft = False
    # how long it waits for a stretched clock or a free bus, in us
    limit_us = 50000
    # busio only: has probe() (CircuitPython 9.2 and newer)
    probe = True
    # busio only: a transfer needs the lock; the pins must be free and pulled up; None and str are taken as on CPython
    needs_lock = True
    checks_pins = True
    python_arguments = False

    def __init__(self, name, **habits):
        self.name = name
        for habit, value in habits.items():
            if not hasattr(self, habit):
                raise TypeError("a port has no habit %s" % habit)
            setattr(self, habit, value)


MACHINE = {}
BUSIO = {}


def _machine(name, **habits):
    MACHINE[name] = Port(name, **habits)


def _busio(name, **habits):
    BUSIO[name] = Port(name, deinit=True, **habits)


# rp2 makes writes without bytes by SoftI2C, so that a probe gives another errno than a transfer. The Pico SDK
# returns the count after a data NACK.
_machine("rp2", nack=EIO, empty_nack=ENODEV, lost=EIO, empty_read="nothing")
# esp32 with the driver of ESP-IDF 5.5 (MicroPython 1.29): always STOP. The older driver obeys stop=False.
_machine(
    "esp32",
    data_nack=ENODEV,
    timeout=ETIMEDOUT_NEWLIB,
    lost=ETIMEDOUT_NEWLIB,
    write_stop=False,
    read_stop=False,
    empty_read="nothing",
    atomic_mem=True,
)
_machine(
    "esp32_legacy", data_nack=ENODEV, timeout=ETIMEDOUT_NEWLIB, lost=ETIMEDOUT_NEWLIB, atomic_mem=True, limit_us=100000
)
# stm32 as on the F4 (pyboard): a read cannot leave out its STOP, and cannot be empty.
_machine("stm32", read_stop=EINVAL, empty_read=EINVAL)
_machine("soft", soft=True, init=True)
# esp8266's machine.I2C is SoftI2C.
_machine("esp8266", soft=True, init=True)

# CircuitPython on the RP2040: a short count is EIO.
_busio("circuitpython", data_nack=EIO, lost=ENODEV, limit_us=1000000)
_busio("circuitpython_esp32", data_nack=ENODEV, timeout=ETIMEDOUT_NEWLIB, lost=EIO, limit_us=1000000)
_busio(
    "blinka",
    nack=EREMOTEIO,
    data_nack=EREMOTEIO,
    lost=EAGAIN,
    limit_us=1000000,
    probe=False,
    needs_lock=False,
    checks_pins=False,
    python_arguments=True,
)

PORTS = {}
PORTS.update(MACHINE)
PORTS.update(BUSIO)


def find(port, table, other):
    """The Port for a name, or the Port given."""
    if isinstance(port, Port):
        return port
    if port in table:
        return table[port]
    if port in PORTS:
        raise ValueError("port %r is for %s" % (port, other))
    raise ValueError("unknown port %r, known are %s" % (port, ", ".join(sorted(table))))
