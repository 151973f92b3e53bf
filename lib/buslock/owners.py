"""One bus object for one peripheral: two of them would not know of each other's transfers."""

_owners = []  # (peripheral, serial number of its bus, name of the bus)


def own(bus, peripheral):
    """`peripheral` belongs to `bus` from now on; ValueError if it is another one's."""
    for other, serial, name in _owners:
        if other is peripheral:
            if serial != bus._serial:
                raise ValueError(
                    "%s: this peripheral has a bus object already, %s: share that one, or aclose() it" % (bus.name, name)
                )
            return
    _owners.append((peripheral, bus._serial, bus.name))
    bus._owned = peripheral


def disown(bus):
    """Closed: what it had may have another bus object now."""
    _owners[:] = [owner for owner in _owners if owner[1] != bus._serial]
