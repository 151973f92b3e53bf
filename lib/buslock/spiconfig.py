"""The configuration of an SPI peripheral: what each device wants is set before its chip select, where it differs."""

from .errors import TransferError


def check_config(bus, config):
    baudrate, polarity, phase, bits, _ = config
    if type(baudrate) is not int or baudrate <= 0:
        raise ValueError("%s: baudrate is Hz, an int above 0, not %r" % (bus.name, baudrate))
    if polarity not in (0, 1) or phase not in (0, 1):
        raise ValueError("%s: polarity and phase are 0 or 1, not %r and %r" % (bus.name, polarity, phase))
    if type(bits) is not int or not 1 <= bits <= 32:
        raise ValueError("%s: bits is 8, or what the port can do, not %r" % (bus.name, bits))


def check_chunk(label, chunk):
    size = chunk[0] if isinstance(chunk, tuple) and len(chunk) == 2 else chunk
    if chunk is not None and (type(size) is not int or size < 1):
        raise ValueError("%s: chunk is a number of bytes from 1, or (bytes, False), not %r" % (label, chunk))


def _configure(bus, config):
    """Apply it, with every CS idle: chips sample the idle clock when CS falls (MAX31865 data sheet, among others)."""
    spi = bus._backend
    bus._config = None  # until it is done, nothing is known
    try:
        initialise(bus, spi, config)
        if config[1] != bus._polarity and config[3] == 8 and "alone" not in bus._devices:
            spi.write(b"\xff")  # some ports move the clock to its new idle level with the first transfer only
            bus._polarity = config[1]
    except OSError as error:
        raise bus._fault(error, None)
    bus._config = config


def initialise(bus, spi, config):
    """Result of spi.init(), with the arguments that this port takes."""
    baudrate, polarity, phase, bits, firstbit = config
    more = {}
    ordered = bus._ordered
    if firstbit is not None or ordered:
        # What init() is not told stays as it was.
        more["firstbit"] = spi.MSB if firstbit is None else firstbit
        bus._ordered = True
    try:
        if bits == 8 and not bus._words:
            return spi.init(baudrate=baudrate, polarity=polarity, phase=phase, **more)
        try:
            return spi.init(baudrate=baudrate, polarity=polarity, phase=phase, bits=bits, **more)
        except TypeError:
            if bits != 8:
                raise
        result = spi.init(baudrate=baudrate, polarity=polarity, phase=phase, **more)
        bus._words = False  # SoftSPI and esp8266 have words of 8 bits only
        return result
    except (NotImplementedError, TypeError, ValueError):
        bus._ordered = ordered  # it was refused
        raise


def _fault(bus, error, device):
    if isinstance(error, TransferError):
        return error
    bus._count("errors")
    bus._config = None
    if device is not None:
        device._failed_setup()
    return TransferError(
        error.args[0] if error.args and isinstance(error.args[0], int) else 0,
        "%s: the transfer failed (%s): check speed, wiring and power"
        % (bus.name if device is None else device._label(), error),
    )
