"""Clocks with CS idle, before and after: SD cards want 74 after power-on and 8 at the end (SD specification)."""

from .spi import SPIDevice


def clocked(device, before, after):
    """Its `_section`, with that many bytes of clocks before and after."""
    before = b"\xff" * before
    after = b"\xff" * after

    def section(function, a, b):
        bus = device._bus
        if bus._config != device._config:
            bus._configure(device._config)
        try:
            if before:
                bus._backend.write(before)
            result = SPIDevice._section(device, function, a, b)
            if after:
                bus._backend.write(after)
        except OSError as error:
            raise bus._fault(error, device)
        return result

    return section
