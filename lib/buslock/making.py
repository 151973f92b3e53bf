"""The making of a bus's peripheral by the function that was given for it; the class loads this on first use."""

from ._rt import later


async def _make(bus, timeout_ms):
    """The peripheral, by the factory: at once, or by a shared task when it is async."""
    if bus._lazy is None:
        bus._new_lazy()
    try:
        made = await bus._lazy.get(timeout_ms)  # cancelled here: the making goes on
    except ValueError as error:
        if "in use" in str(error):  # what CircuitPython says of pins
            raise ValueError(
                "%s: %s: a display that was not released? displayio.release_displays() frees its pins"
                % (bus.name, error)
            )
        raise
    if bus._backend is None:
        bus._backend = bus._wrap(made)
        bus._unmade = False


def _new_lazy(bus):
    bus._lazy = later.lazy.Lazy(bus._factory, bus._close or _deinit)
    bus._lazy.name = "making of " + bus.name


def _deinit(peripheral):
    if isinstance(peripheral, (list, tuple)):
        peripheral[1].close()  # the writer of a pair of streams
    elif hasattr(peripheral, "deinit"):
        peripheral.deinit()


def _make_now(bus):
    """The peripheral for a synchronous caller: NotCovered if making it takes a task."""
    if bus._lazy is None:
        bus._new_lazy()
    if bus._lazy.state != "starting":
        bus._lazy._start()
    made = bus._lazy.peek()
    if made is None:
        raise later.errors.NotCovered(
            "%s: its peripheral is made by an async function: `await bus.call(...)` first" % bus.name
        )
    bus._backend = bus._wrap(made)
