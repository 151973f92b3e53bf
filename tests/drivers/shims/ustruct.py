"""Stands for MicroPython's module where there is none: it cuts numbers that are too large for their format."""

import struct
from struct import *  # noqa: F403


def pack_into(form, buffer, offset, *values):
    if form == "<b":
        values = [(value + 128) % 256 - 128 for value in values]
    struct.pack_into(form, buffer, offset, *values)
