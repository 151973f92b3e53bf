"""Several operations as one: transactions, and scripts.

Thin layers over `bus.hold()`, `bus.hold_all()` and `hold()`: they add no second way of locking.
"""

from ._rt import current_task
from .device import Device
from .errors import NotCovered, TransactionError
from .groups import GroupHold, SeveralHold
from .waitqueue import check_ms

READS = ("read_register", "read_register_into", "read", "readinto", "write_then_read", "wait_register", "probe")
WRITES = ("write_register", "update_register", "write", "write_readinto", "exchange")
WHOLE = ("scan", "recover")  # operations of the bus itself


def hold_for(bus, devices, shared, timeout_ms):
    """The hold of these devices, of one bus or several; None is the whole bus."""
    if devices is None:
        return GroupHold(bus, None, timeout_ms, False)
    if all(device._bus is bus for device in devices):
        hold = GroupHold(bus, devices, timeout_ms, False)
    else:
        hold = SeveralHold(devices, timeout_ms)
    hold.shared = shared
    return hold


def own_sessions(bus, devices):
    """The running task's own hold of all of these devices, as a function of the device; None if it holds none of them.

    NotCovered if it holds other keys of the bus and these not: waiting for them could be for ever.
    """
    task = current_task()
    table = bus._table
    mine = table._any_hold_of(task)
    if mine is None:
        return None
    if devices is None:
        if mine is table._all:
            return lambda device: device._own_session()
        raise NotCovered("all of %s is wanted, and this task holds %s of it" % (bus.name, mine._label()))
    missing = [device for device in devices if device._bus._table._hold_of(task, device._key) is None]
    if not missing:
        return lambda device: device._own_session()
    raise NotCovered(
        "%s is not covered by what this task holds, %s: declare it there too" % (missing[0]._label(), mine._label())
    )


def transaction(bus):
    """Operations to be run as one: queue them, then `await txn.execute()`."""
    return Transaction(bus)


class Transaction:
    """Made by `bus.transaction()`. Its operations (device or address first) are queued; `execute()` runs them.

    Nothing can be undone on a bus: when an operation fails, those before it have happened.
    """

    def __init__(self, bus):
        self._bus = bus
        self._operations = []  # (device or None for the bus, name, args, kwargs)

    def __getattr__(self, name):
        if name in WHOLE:
            return lambda *args, **kwargs: self._operations.append((None, name, args, kwargs))
        if name not in READS and name not in WRITES:
            raise AttributeError("a transaction has no " + name)

        def queue(device, *args, **kwargs):
            if not isinstance(device, Device):
                device = self._bus._device_of(device)
            self._operations.append((device, name, args, kwargs))

        return queue

    def __len__(self):
        return len(self._operations)

    async def execute(self, timeout_ms=None):
        """Run the operations in order; the list of their results. May be called again.

        Keys are taken shared if every operation only reads. TransactionError: `.index` of the operation that failed,
        `.results` of those before it.
        """
        check_ms(timeout_ms)
        operations = list(self._operations)
        if not operations:
            return []
        bus = self._bus
        devices = []
        shared = True
        for device, name, _, _ in operations:
            if device is None:
                devices = None
                break
            shared = shared and name in READS
            if device not in devices:
                devices.append(device)
        if devices is None and any(device is not None and device._bus is not bus for device, _, _, _ in operations):
            raise ValueError("%s: an operation of the whole bus cannot go with devices of another bus" % bus.name)
        find = own_sessions(bus, devices)
        if find is not None:
            return await self._run(operations, find)
        hold = hold_for(bus, devices, shared, timeout_ms)
        # Cancelled in here: what has run has run; the keys are given back.
        async with hold:
            return await self._run(operations, hold._find)

    async def _run(self, operations, find):
        results = []
        for device, name, args, kwargs in operations:
            try:
                me = self._bus if device is None else find(device)
                results.append(await getattr(me, name)(*args, **kwargs))
            except Exception as error:
                number = error.args[0] if isinstance(error, OSError) and error.args else 0
                failure = TransactionError(
                    number if isinstance(number, int) else 0,
                    "operation %d of %d, %s, failed: %s; those before it have happened"
                    % (len(results), len(operations), name, error),
                    len(results),
                    results,
                )
                failure.__cause__ = error
                raise failure
        return results


class Regs:
    """What the body of a script gets: operations on the declared devices, the device or address first."""

    def __init__(self, bus, devices, find, readonly):
        self._bus = bus
        self._devices = devices
        self._find = find
        self._readonly = readonly

    def _covers(self, device):
        """The device, or one with the same key: an alias."""
        return any(known._bus is device._bus and known._key == device._key for known in self._devices)

    def __getattr__(self, name):
        if name in WHOLE:
            if self._devices is None:
                return getattr(self._bus, name)
            raise NotCovered("%s() wants all of %s, and this script declares devices" % (name, self._bus.name))
        if self._readonly and name in WRITES:
            raise NotCovered("%s() writes, and the script is declared readonly" % name)
        if name not in READS and name not in WRITES:
            raise AttributeError("a script has no " + name)

        def operation(device, *args, **kwargs):
            if not isinstance(device, Device):
                device = self._bus._device_of(device)
            if self._devices is not None and not self._covers(device):
                raise NotCovered(
                    "%s is not declared by this script; declared: %s"
                    % (device._label(), ", ".join([d._label() for d in self._devices]))
                )
            return getattr(self._find(device), name)(*args, **kwargs)

        return operation


def script(bus, *declared, readonly=False):
    """Decorator: `async def body(regs, *args)` runs with the declared devices held; without any, the whole bus.

    One callable in place of the devices computes them from the arguments of the call. `readonly` takes shared holds:
    such scripts run together, and may not write. In a script of the same task, another one runs under the hold that
    is there, or raises NotCovered.
    """
    compute = declared[0] if len(declared) == 1 and callable(declared[0]) else None
    fixed = None if compute or not declared else [_device(bus, device) for device in declared]

    def decorate(body):
        async def run(*args, timeout_ms=None):
            devices = fixed
            if compute is not None:
                wanted = compute(*args)
                if isinstance(wanted, (int, Device)):
                    wanted = (wanted,)
                devices = [_device(bus, device) for device in wanted]
                if not devices:
                    raise ValueError("the script's function named no device")
            find = own_sessions(bus, devices)
            if find is not None:
                return await body(Regs(bus, devices, find, readonly), *args)
            hold = hold_for(bus, devices, readonly and devices is not None, check_ms(timeout_ms))
            # Cancelled in here: what has run has run; the keys are given back.
            async with hold:
                return await body(Regs(bus, devices, hold._find, readonly), *args)

        return run

    return decorate


def _device(bus, device):
    return device if isinstance(device, Device) else bus._device_of(device)
