"""A UARTBus that tells a trace of its exchanges and of its drive."""

from .trace import BUS, DISABLE, ENABLE


def attach(bus):
    """Called while the bus is being made."""
    trace = bus._trace
    for name in ("_exchange", "_send", "_receive"):
        setattr(bus, name, _awaited(trace, getattr(bus, name)))
    if bus._de is not None:
        bus._de = _traced_de(trace, bus._de, bus._de_active)


def _awaited(trace, exchange):
    """One transfer from the first bit sent to the last one heard; its length is that of the request."""

    async def run(request, expect):
        with trace.start(0 if request is None else request):
            trace.exchanges += 1
            try:
                # Cancelled here: as without a trace.
                return await exchange(request, expect)
            finally:
                trace.exchanges -= 1

    return run


def _traced_de(trace, de, active):
    enabled = False

    def drive(level):
        nonlocal enabled
        de(level)
        if (level == active) != enabled:
            enabled = not enabled
            trace.tell((ENABLE if enabled else DISABLE) + BUS)

    return drive


def recorded(bus, port):
    """A port that tells of the writes of a driver with a look-alike: no exchange runs then."""
    trace = bus._trace
    if not hasattr(port, "put"):
        return port
    put = port.put
    again = port.again

    def recorded_put(buf):
        if trace.exchanges:
            return put(buf)
        with trace.start(buf):
            return put(buf)

    def recorded_again():
        return recorded(bus, again())

    port.put = recorded_put
    port.again = recorded_again
    return port
