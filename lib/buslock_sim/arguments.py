"""How the boards' C code takes arguments, and the errors it makes of bad ones."""

import sys

_NATIVE = sys.implementation.name != "cpython"

TEXTS = {
    5: "Input/output error",
    11: "Resource temporarily unavailable",
    19: "No such device",
    22: "Invalid argument",
    110: "Connection timed out",
    116: "Connection timed out",
    121: "Remote I/O error",
}


def os_error(errno):
    """The OSError of a port: the bare number on the boards; CPython wants a text to set .errno."""
    return OSError(errno) if _NATIVE else OSError(errno, TEXTS.get(errno, "error"))


def integer(value):
    if isinstance(value, int):
        return int(value)
    raise TypeError("can't convert %s to int" % type(value).__name__)


def readable(buf):
    """A view of the bytes of buf."""
    if isinstance(buf, str):
        buf = buf.encode()
    return _view(buf)


def writable(buf):
    """A view that can be written to; TypeError for bytes and other read-only buffers."""
    view = _view(buf)
    if isinstance(buf, (bytes, str)) or getattr(view, "readonly", False):
        raise TypeError("object with buffer protocol required")
    if len(view):
        view[0] = view[0]  # MicroPython's view does not tell that it is read-only, but it objects
    return view


def _view(buf):
    try:
        view = memoryview(buf)
    except TypeError:
        raise TypeError("object with buffer protocol required")
    if hasattr(view, "cast") and view.itemsize != 1:
        view = view.cast("B")
    return view


def new_buffer(nbytes):
    nbytes = integer(nbytes)
    if nbytes < 0:
        raise MemoryError("memory allocation failed")  # the C code takes it for a very large number
    return bytearray(nbytes)


def positional(args, least):
    """args of a C function that takes stop=True as its last, all by position only."""
    if len(args) < least:
        raise TypeError("function missing %d required positional arguments" % (least - len(args)))
    if len(args) > least + 1:
        raise TypeError("function expected at most %d arguments, got %d" % (least + 1, len(args)))
    return args if len(args) > least else args + (True,)
