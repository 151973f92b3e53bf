"""The wire of an I2CBus: what a driver that has it finds set, and what it may have left."""


def _configure_for(bus, hold):
    """The wire is held for a driver of its own: the channel of its device is open."""
    if hold._devices is not None:
        hold._devices[0]._i2c()


def _configure_for_call(bus, device):
    device._i2c()


def _end_call(bus, device):
    bus._channel = None  # the driver may have switched a multiplexer
    if bus._open_call is not None:
        device, bus._open_call = bus._open_call, None
        bus._end_transfer(device)


def _clean_now(bus):
    if bus._unmade or bus._lines is not None and bus._lines.stuck(bus._unmade and bus._factory is not None) != "":
        return False
    bus._cleaned()
    return True


def _wire_left(bus, hold):
    """The wire was held for a driver of its own, and is given back."""
    bus._channel = None  # it may have switched a multiplexer
