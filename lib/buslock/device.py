"""Device: what has a key on a bus, and a set-up that is run once before its first use."""

from .rare import rare


class Device:
    """Base of the devices of every kind of bus."""

    _directories = ("devicemore",)
    _ready = True
    _plain = True  # ready, and nothing about it needs the slow way
    _setup = None
    _dues = 0  # how often the set-up became due because of the bus
    _starter = None  # the Lazy that runs the set-up
    _setting_up = None  # the task that runs it now
    _setup_session = None  # and the session it was given
    _longest_ms = 0  # for which a driver's call has stopped the loop

    def __getattr__(self, name):
        """hold and more: loaded on first use, methods from then on."""
        return rare(self, type(self), name, self._directories)

    def _free(self):
        """True if nobody has the key or the wire: a transfer that does not wait then needs neither."""
        bus = self._bus
        table = bus._table
        return (
            self._plain
            and bus._raw is not None
            and not bus._transfer
            and not bus.debug
            and bus._wire._holder is None
            and not table._shut
            and self._key not in table._entries
            and (bus._native is None or bus._native())
        )

    def _label(self):
        return self._bus._table._label(self._key)
