"""Holds over several devices, of one bus or of more."""

from ._rt import current_task, ticks_ms
from .device import Device
from .errors import NotCovered
from .holding import Hold, left_of
from .holds import BusHold
from .waitqueue import check_ms


class Grouped:
    """The operations of several devices under one hold: each takes the device or its address first."""

    def __init__(self, find):
        self._find = find  # device or address: its session

    def __getattr__(self, name):
        def operation(device, *args, **kwargs):
            return getattr(self._find(device), name)(*args, **kwargs)

        return operation


class GroupHold(BusHold):
    """A BusHold whose block gets `regs`: operations with the device or address first."""

    async def _enter(self):
        regs = Grouped(self._find)  # may fail for want of memory, so before it is taken
        await Hold._enter(self)
        return regs

    _home = None  # the multiplexer channel whose addresses are meant

    def _find(self, device):
        bus = self._bus
        device = (self._home or bus)._device_of(device)
        covered = self._devices is None or any(known._key == device._key for known in self._devices)
        if device._bus is not bus or not covered:
            raise NotCovered("%s is not covered by this hold of %s" % (device._label(), self._label()))
        return bus._session_of(device, self)


class SeveralHold(Hold):
    """Devices of several buses, taken bus after bus in the order in which the buses were made."""

    def __init__(self, devices, timeout_ms):
        if not devices:
            raise ValueError("hold() needs at least one device")
        self._given = self
        self._timeout = check_ms(timeout_ms)
        buses = {}
        for device in devices:
            if not isinstance(device, Device):
                raise TypeError("hold() takes device objects, not %r: make one with bus.device(...)" % (device,))
            buses.setdefault(device._bus._serial, []).append(device)
        self._groups = [(buses[serial][0]._bus, buses[serial]) for serial in sorted(buses)]
        self._holds = []

    def _all_keys(self):
        return tuple([key for hold in self._holds for key in hold.keys])

    def _label(self):
        return " and ".join([bus.name for bus, _ in self._groups])

    async def _enter(self):
        regs = Grouped(self._find)
        await super()._enter()
        return regs

    async def _take(self):
        start = ticks_ms()
        closes = [bus._closes for bus, _ in self._groups]
        # Set-ups first, before any key of any bus is held.
        for bus, devices in self._groups:
            for device in devices:
                self._refuse_closed(closes)
                await bus._open(device, left_of(self._timeout, start))
        try:
            for bus, devices in self._groups:
                self._refuse_closed(closes)
                hold = GroupHold(bus, devices, left_of(self._timeout, start), False)
                hold.shared = self.shared
                self._holds.append(hold)  # before it is taken: afterwards nothing may fail for want of memory
                await Hold._enter(hold)  # cancelled here: those before it are given back below
        except BaseException:
            self._drop()
            raise
        self._task = current_task()

    def _refuse_closed(self, closes):
        """BusClosed if one of the buses was closed since: what was closed is not opened again for this hold."""
        for (bus, _), count in zip(self._groups, closes):
            if bus._closes != count:
                bus._refuse_closed()

    def _drop(self):
        while self._holds:
            hold = self._holds.pop()
            if hold._task is not None:
                hold._task = None
                hold._drop()

    def _find(self, device):
        if not isinstance(device, Device):
            raise TypeError("a hold of several buses wants device objects, not %r" % (device,))
        for hold in self._holds:
            if hold._bus is device._bus:
                return hold._find(device)
        raise NotCovered("%s is not covered by this hold of %s" % (device._label(), self._label()))


def hold(*devices, timeout_ms=None):
    """`async with hold(a, b) as regs`: devices of several buses at once, without any danger of a deadlock."""
    return SeveralHold(devices, timeout_ms)
