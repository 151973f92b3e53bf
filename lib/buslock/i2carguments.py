"""What the arguments of I2C's operations may be."""


def _refuse(device, reg, nbytes):
    check_register(device, reg)
    check_count(device, nbytes)


def check_register(device, reg):
    if type(reg) is not int:
        raise TypeError("%s: a register is an int, not %r" % (device._label(), reg))
    if not 0 <= reg <= device._last_register:
        raise ValueError("%s: register %d does not fit addrsize=%d" % (device._label(), reg, device._addrsize))


def check_count(device, nbytes):
    if type(nbytes) is not int:
        raise TypeError("%s: a number of bytes is an int, not %r" % (device._label(), nbytes))
    if nbytes < 1:
        raise ValueError("%s: cannot read %d bytes; at least 1" % (device._label(), nbytes))


def check_byte(value):
    if type(value) is not int:
        raise TypeError("a byte is an int, not %r" % (value,))
    if not 0 <= value <= 255:
        raise ValueError("a byte is 0..255, not %d" % value)


def readable(data):
    """Bytes to send for an int 0..255 or a buffer that is not empty."""
    if type(data) is bytes and data:
        return data
    if isinstance(data, int):
        check_byte(data)
        return bytes((data,))
    if isinstance(data, str):
        raise TypeError("data is an int or a buffer such as bytes, not a string: encode it first")
    if not len(memoryview(data)):
        raise ValueError("there is no data to write")
    return data


def writable(buf):
    if not len(memoryview(buf)):
        raise ValueError("the buffer is empty")
    buf[0] = buf[0]  # TypeError for bytes and other read-only buffers, before anything is sent
