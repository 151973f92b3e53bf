"""The methods of SPIDevice that a transfer does not need; the class loads them on first use."""

from ._rt import current_task, later
from .errors import TransferError

METHODS = (
    "spidevice _slow _plan _astray _refuse _refuse_pair as_machine as_busio ,"
    "spimore read readinto write_then_read select "
)
WITH = {"_plan": ("_astray",)}


def as_machine(device):
    """An object with the methods of machine.SPI for this device, and its chip select as `.cs`."""
    return later.spifacade.MachineSPI(device)


def as_busio(device):
    """An object with the methods of busio.SPI for this device, and its chip select as `.cs`."""
    return later.spifacade.BusioSPI(device)


def _slow(device, timeout_ms, function, a, b):
    bus = device._bus
    hold = bus._wire_hold
    if hold is not None and hold._selected is device and hold._task is current_task():
        return later.spisession.Selected(device, hold)._slow(timeout_ms, function, a, b)
    return bus._with_key(device, timeout_ms, 0, lambda a, b: device._section(function, a, b), a, b)


def _plan(device):
    """How its operations are carried out: whether they may take the fast way, and what a section is."""
    device._plain = device._ready
    bus = device._bus
    if device._chunk is not None:
        later.spichunks.chunked(device)
    if bus._awaits:
        device._section = later.spiawait.section(device)
    elif bus._native is not None or device._pre or device._post:
        device._section = later.spisection.section(device)


def _astray(device, error):
    """Its chip select could not be driven, so nobody knows its level: idle first, then the next transfer.

    The exception to raise: a TransferError for an OSError, else `error` itself.
    """
    bus = device._bus
    device._away = True
    bus._soil()
    if not isinstance(error, OSError):
        return error
    bus._count("errors")
    return TransferError(
        error.args[0] if error.args and isinstance(error.args[0], int) else 0,
        "%s: its chip select cannot be driven (%s)" % (device._label(), error),
    )


def _refuse(device, what):
    """What is wrong with a buffer or a length."""
    if isinstance(what, (str, float)) or what is None:
        raise TypeError("%s: bytes or a length is wanted, not %r" % (device._label(), what))
    raise ValueError("%s: there is nothing to transfer: %r" % (device._label(), what))


def _refuse_pair(device, out, into):
    raise ValueError(
        "%s: write_readinto() wants two buffers of the same length from 1, not %d and %d"
        % (device._label(), len(out), len(into))
    )
