"""I2C multiplexers of the TCA9548A kind: one control byte, a bit for each channel.

Parent-locked, in the terms of Linux's i2c-topology document: selecting a channel and the transfer behind it are one
step on the wire of the whole bus, so whoever has the wire of one channel has that of all. At most one channel is open
on the whole bus at any time; it stays open until another is needed.
"""

from ._rt import later
from .i2c import I2CDevice


class MuxChip(I2CDevice):
    """The multiplexer as a device: who writes to it directly makes what is known of its channels void."""

    _plain = False

    def _i2c(self):
        self._bus._channel = None
        return self._bus._backend

    def _read_register(self, reg, nbytes):
        self._i2c()
        return super()._read_register(reg, nbytes)


class MuxDevice(I2CDevice):
    """A device behind a channel. Its key is the way to it: (multiplexer, channel, address)."""

    def __init__(self, channel, address):
        super().__init__(channel._bus, address)
        self._channel = channel
        self._key = channel._key + (address,)

    def _i2c(self):
        bus = self._bus
        if bus._channel is not self._channel:
            try:
                self._channel._select()
            except OSError:
                self._failed_setup()
                raise
        return bus._backend

    def _read_register(self, reg, nbytes):
        self._i2c()
        return super()._read_register(reg, nbytes)

    def _home(self):
        return self._channel


class Mux:
    """Made by `bus.mux(addr)`."""

    _control = None  # the control byte as last written; None: not known

    def __init__(self, parent, addr, channels):
        self._parent = parent  # a bus or a channel
        self._bus = parent._bus
        self.address = addr
        self._channels = [None] * channels

    def channel(self, n):
        """Channel `n`, from 0: behaves like a bus."""
        if type(n) is not int or not 0 <= n < len(self._channels):
            raise ValueError("mux 0x%02x has channels 0 to %d, not %r" % (self.address, len(self._channels) - 1, n))
        if self._channels[n] is None:
            self._channels[n] = later.channel.Channel(self, n)
        return self._channels[n]

    def _write(self, control):
        """Synchronous, with the wire held."""
        if self._control != control:
            self._control = None
            bus = self._bus
            try:
                acks = bus._backend.writeto(self.address, bytes((control,)))
                if acks is not None and acks < 1:
                    raise OSError(5, "the control byte was not acknowledged")
            except OSError as error:
                fault = bus._fault(error, None)
                raise type(fault)(fault.args[0], "mux 0x%02x does not answer: %s" % (self.address, fault.args[1]))
            self._control = control

    def _refuse_root(self, addr):
        """ValueError if `addr` is in use behind it: both chips would answer."""
        for channel in self._channels:
            if channel is not None and channel._has(addr):
                raise ValueError(
                    "%s: 0x%02x is in use behind mux 0x%02x, where it would answer too"
                    % (self._bus.name, addr, self.address)
                )

    def _forget(self):
        self._control = None
        for channel in self._channels:
            if channel is not None:
                for mux in channel._muxes:
                    mux._forget()


def mux(parent, addr, channels=8):
    """A TCA9548A or the like at `addr`; `.channel(n)` behaves like a bus. Made once."""
    bus = parent._bus
    for known in parent._muxes:
        if known.address == addr:
            if len(known._channels) != channels:
                raise ValueError("mux 0x%02x is declared already with %d channels" % (addr, len(known._channels)))
            return known
    if type(channels) is not int or not 1 <= channels <= 8:
        raise ValueError("a multiplexer has 1 to 8 channels, not %r" % (channels,))
    parent._claim(addr)
    if addr == 0 or addr in parent._devices:
        raise ValueError("%s: 0x%02x is a device already; declare the multiplexer first" % (bus.name, addr))
    new = Mux(parent, addr, channels)
    parent._muxes = parent._muxes + (new,)
    bus._channel = None
    if parent is bus:
        chip = bus._devices[addr] = MuxChip(bus, addr)
        chip._explicit = True
    return new
