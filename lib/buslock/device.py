"""Device: what has a key on a bus, and a set-up that is run once before its first use."""


from .rare import rare


class Device:
    """Base of the devices of every kind of bus."""

    _modules = ("devicemore",)
    _ready = True
    _setup = None
    _starter = None  # the Lazy that runs the set-up
    _setting_up = None  # the task that runs it now

    def __getattr__(self, name):
        """hold and more: loaded on first use, methods from then on."""
        return rare(self, Device, name, self._modules)

    def _label(self):
        return self._bus._table._label(self._key)
