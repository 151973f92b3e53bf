"""One bus object for one peripheral: two of them would not know of each other's transfers."""

_owned = []  # (peripheral, owner) of peripherals that cannot be marked: those of the ports, which are few


def owner_of(peripheral):
    """(serial number of its bus, name of the bus); None."""
    for other, owner in _owned:
        if other is peripheral:
            return owner
    return getattr(peripheral, "_buslock_owner", None)


def own(bus, peripheral):
    """`peripheral` belongs to `bus` from now on; ValueError if it is another one's."""
    owner = owner_of(peripheral)
    if owner is None:
        owner = (bus._serial, bus.name)
        try:
            peripheral._buslock_owner = owner
        except AttributeError:
            _owned.append((peripheral, owner))
    elif owner[0] != bus._serial:
        raise ValueError(
            "%s: this peripheral has a bus object already, %s: share that one, or aclose() it" % (bus.name, owner[1])
        )
    bus._owned = peripheral


def disown(bus):
    """Closed: what it had may have another bus object now."""
    _owned[:] = [pair for pair in _owned if pair[1][0] != bus._serial]
    owner = owner_of(bus._owned)
    if owner is not None and owner[0] == bus._serial:
        bus._owned._buslock_owner = None
