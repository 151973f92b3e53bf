"""Which BusError an OSError of a port is. Ports differ, so no number has one meaning for all."""

from .errors import BusError, NoAck, TransferError

# Where the numbers come from:
#   rp2 (ports/rp2/machine_i2c.c): EIO for any NACK, ETIMEDOUT
#   esp32 (ports/esp32/machine_i2c.c): ENODEV for a NACK, ETIMEDOUT
#   SoftI2C, esp8266 (extmod/machine_i2c.c): ENODEV for the address, EIO for data, ETIMEDOUT for a stretched clock
#   stm32 (ports/stm32/i2c.c): ENODEV for the address, EIO, ETIMEDOUT
#   CircuitPython (shared-bindings/busio/I2C.c, by port): ENODEV, EIO, ETIMEDOUT
#   Linux, so Blinka (Documentation/i2c/fault-codes.rst): ENXIO or EREMOTEIO for a NACK, EAGAIN, ETIMEDOUT
_NO_ACK = (5, 6, 19, 121)  # EIO, ENXIO, ENODEV, EREMOTEIO
_TIMED_OUT = (60, 110, 116, 145)  # ETIMEDOUT of the C libraries in use


def from_oserror(error, label):
    """The BusError to raise in place of `error`: same errno, and what to try."""
    if isinstance(error, BusError):
        return error
    number = error.args[0] if error.args and isinstance(error.args[0], int) else 0
    if number in _NO_ACK:
        return NoAck(
            number, "%s: no acknowledge (errno %d): check address, wiring, power and pull-ups" % (label, number)
        )
    if number in _TIMED_OUT:
        return TransferError(
            number, "%s: the transfer timed out (errno %d): is SDA or SCL held low? try recover()" % (label, number)
        )
    return TransferError(number, "%s: the transfer failed (errno %d: %s)" % (label, number, error))


def _fault(bus, error, device):
    """The BusError for an OSError of the port. A bus that may be stuck is looked at before the next transfer."""
    bus._transfer = False
    label = bus.name if device is None else device._label()
    fault = from_oserror(error, label)
    bus._count("nacks" if isinstance(fault, NoAck) else "errors")
    if bus._channel is not None:
        bus._channel = None  # what the multiplexer has open now is not known
    if not isinstance(fault, NoAck):
        bus._soil()
    return fault
