"""Which statements of the library have run: what a marked copy (tools/coverage/marks.py) writes into."""

import json
import os
import sys

_modules = {}  # name: a byte for each statement


def of(name, n):
    if name not in _modules:  # the explorer loads a module more than once
        _modules[name] = bytearray(n)
    return _modules[name]


def save(folder):
    runtime = sys.implementation.name
    if "adafruit_ticks" in sys.modules:
        runtime += "-adafruit"
    seen = {name: "".join([str(bit) for bit in bits]) for name, bits in _modules.items()}
    name = "".join(["%02x" % byte for byte in os.urandom(8)])
    with open(folder + "/" + name + ".json", "w") as file:
        json.dump({"runtime": runtime, "seen": seen}, file)
