"""Sections with more around them than CS: the native lock of busio, clocks with CS idle; and selections.

SD cards want 74 clocks with CS idle after power-on, and 8 after each command (SD specification): they let go of MISO
only then.
"""

from ._rt import later
from .native import NativeLocked
from .spi import SPIDevice


def section(device):
    """A `_section` for it."""

    def run(function, a, b):
        bus = device._bus
        bus._transfer = True
        try:
            before(device)
            try:
                return SPIDevice._section(device, function, a, b)
            finally:
                bus._transfer = True  # it ends with the clocks
                after(device)
        finally:
            bus._transfer = False

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
            device._owes = True
            if not device._away:
                bus._backend.write(b"\xff" * device._post)
                device._owes = False
    except OSError:
        pass
    finally:
        if device._owes:
            bus._soil()
        unlock(bus)


def lock(bus):
    if bus._native is not None:
        bus._backend.lock()


def unlock(bus):
    if bus._native is not None:
        bus._backend.unlock()


def configure(device):
    """What a driver of the device finds set. On awaited buses a coroutine."""
    bus = device._bus
    if bus._awaits:
        return later.spiawait.configure(device)
    lock(bus)
    try:
        if bus._config != device._config:
            bus._configure(device._config)
    finally:
        unlock(bus)
    return None


def activate(device):
    """A selection begins: all that comes before CS, and CS. On awaited buses a coroutine."""
    bus = device._bus
    if bus._awaits:
        return later.spiawait.activate(device)
    before(device)
    try:
        try:
            if device._cs is not None:
                device._cs(device._active)
        finally:
            unlock(bus)
    except BaseException as error:
        deactivate(device)
        raise bus._fault(error, device) if isinstance(error, OSError) else error
    return None


def deactivate(device):
    """A selection ends: CS idle, without an await, in every exit. Raises only if CS cannot be driven."""
    bus = device._bus
    device._owes = device._post > 0
    if device._cs is not None:
        try:
            device._cs(1 - device._active)
        except BaseException as error:
            raise device._astray(error)
    if device._owes:
        try:
            if not bus._awaits:
                pay(device)
        except (OSError, NativeLocked):
            pass
        finally:
            if device._owes:
                bus._soil()  # they are sent before the next section


def pay(device):
    """The clocks that it waits for. On awaited buses a coroutine."""
    bus = device._bus
    if bus._awaits:
        return later.spiawait.pay(device)
    lock(bus)
    try:
        if bus._config != device._config:
            bus._configure(device._config)
        bus._backend.write(b"\xff" * device._post)
        device._owes = False
    except OSError as error:
        raise bus._fault(error, device)
    finally:
        unlock(bus)
    return None


def unset(device):
    """True if its configuration is to be set first: but never in a section."""
    return device._bus._config != device._config and (device._cs is None or device._cs() != device._active)


def bare(device, function, a, b, selected):
    """A transfer that leaves CS alone: it is active for a selection, or it is the driver's. On awaited buses a coroutine."""
    bus = device._bus
    if bus._awaits:
        return later.spiawait.bare(device, function, a, b, selected)
    lock(bus)
    try:
        if not selected and unset(device):
            bus._configure(device._config)
        return function(bus._backend, a, b)
    except OSError as error:
        raise bus._fault(error, device)
    finally:
        unlock(bus)
