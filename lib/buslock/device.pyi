class Device:
    """Base of the devices of every kind of bus."""
