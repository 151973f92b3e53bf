"""What is said where asyncio lacks what `_rt` needs of it."""

import sys


def refuse(missing):
    raise ImportError("buslock needs MicroPython 1.22 or Adafruit's asyncio; %s: %s" % (sys.version, missing))
