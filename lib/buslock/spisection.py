"""Sections with more around them than CS: the native lock of busio, clocks with CS idle; and selections.

SD cards want 74 clocks with CS idle after power-on, and 8 after each command (SD specification): they let go of MISO
only then.
"""

from .native import NativeLocked
from .spi import SPIDevice


def section(device):
    """A `_section` for it."""

    def run(function, a, b):
        before(device)
        try:
            return SPIDevice._section(device, function, a, b)
        finally:
            after(device)

    return run


def before(device):
    """Native lock, configuration, clocks. NativeLocked, TransferError: then it is not locked."""
    bus = device._bus
    spi = bus._backend
    lock(bus)
    try:
        if bus._config != device._config:
            bus._configure(device._config)
        if device._pre:
            try:
                spi.write(b"\xff" * device._pre)
            except OSError as error:
                raise bus._fault(error, device)
    except BaseException:
        unlock(bus)
        raise


def after(device):
    """CS is idle again: clocks, and the native lock is free. Clocks that fail are made up for before the next section."""
    bus = device._bus
    try:
        if device._post:
            owe(device)
            if not device._away:
                clocks(device)
                settle(device)
    except OSError:
        pass
    finally:
        unlock(bus)


def lock(bus):
    if bus._native is not None:
        bus._backend.lock()


def unlock(bus):
    if bus._native is not None:
        bus._backend.unlock()
