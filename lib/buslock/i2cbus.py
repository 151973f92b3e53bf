"""The methods of I2CBus that read_register does not need; the class loads them on first use.

METHODS is their directory, see rare.py. What most programs need is here.
"""

from ._rt import later
from .errors import NotCovered
from .i2c import I2CDevice

METHODS = (
    "i2cbus _show _check_address _new_device _claim _refuse_address ,"
    "i2cverbs read_register_into write_register update_register as_machine as_busio _recorded _every_device ,"
    "i2cwire _configure_for _configure_for_call _end_call _wire_left _clean_now ,"
    "scanning scan _scan_now ,"
    "faults _fault ,"
    "aliases _check_aliases _take_aliases ,"
    "recovery recover _clean ,"
    "openwrites _end_transfer ,"
    "mux mux "
)


def _show(bus, key):
    if isinstance(key, tuple):  # behind multiplexers: (multiplexer, channel, ..., address)
        return "".join(["0x%02x.%d/" % key[i : i + 2] for i in range(0, len(key) - 1, 2)]) + "0x%02x" % key[-1]
    return "0x%02x" % key


def _check_address(bus, addr):
    if type(addr) is not int:
        if isinstance(addr, I2CDevice):
            raise NotCovered("%s is on another bus than %s" % (addr._label(), bus.name))
        raise TypeError("%s: an address is an int or a device, not %r" % (bus.name, addr))
    if not 0 <= addr <= 0x7F:
        text = ": 10-bit addresses are not supported" if 0x7F < addr < 0x400 else ""
        raise ValueError("%s: address %s is not in 0..0x7f%s" % (bus.name, hex(addr), text))


def _new_device(bus, addr):
    bus._claim(addr)
    if addr == 0:
        return later.aliases.GeneralCall(bus, addr)
    return I2CDevice(bus, addr)


def _claim(home, addr):
    """A bus or a channel gets a chip at `addr`: ValueError where another one would answer too."""
    home._bus._check_address(addr)
    home._refuse_address(addr)
    for mux in home._muxes:
        mux._refuse_root(addr)


def _refuse_address(bus, addr):
    """Nothing is before the bus itself."""
