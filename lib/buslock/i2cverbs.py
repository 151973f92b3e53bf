"""What a user asks of a whole I2CBus."""

from ._rt import later


def read_register_into(bus, addr, reg, buf, timeout_ms=None):
    """The short form of `bus.device(addr).read_register_into(reg, buf)`."""
    return bus._device_of(addr).read_register_into(reg, buf, timeout_ms)


def write_register(bus, addr, reg, data, repeatable=False, timeout_ms=None):
    """The short form of `bus.device(addr).write_register(reg, data)`."""
    return bus._device_of(addr).write_register(reg, data, repeatable, timeout_ms)


def update_register(bus, addr, reg, mask, value, timeout_ms=None):
    """The short form of `bus.device(addr).update_register(reg, mask, value)`."""
    return bus._device_of(addr).update_register(reg, mask, value, timeout_ms)


def as_machine(bus):
    """An object with the methods of machine.I2C, for drivers that know nothing of this bus."""
    return later.i2cfacade.MachineI2C(bus)


def as_busio(bus):
    """An object with the methods of busio.I2C, for drivers that know nothing of this bus."""
    return later.i2cfacade.BusioI2C(bus)


def _recorded(bus, i2c):
    """The peripheral of a bus with a trace."""
    return later.tracedi2c.recorded(bus._trace, i2c)


def _every_device(bus):
    """Those behind multiplexers too."""
    homes = [bus]
    for home in homes:  # grows as it goes
        for device in home._devices.values():
            yield device
        for mux in home._muxes:
            homes += [channel for channel in mux._channels if channel is not None]
