"""Where there is little memory and time: on a board, emulated or not."""

import sys

SMALL = sys.platform in ("rp2", "RP2040", "esp32", "esp8266")
KEPT = 150 if SMALL else 1000  # entries of a wire's transcript, which take 100 bytes each


def every(n, few=5):
    """The numbers up to n; on a board a `few` of them, the first and the last too."""
    if not SMALL:
        return range(n)
    return [i * (n - 1) // (few - 1) for i in range(few)]


def few_ports(*names):
    """Of the ports that the simulator imitates, those that are tried here: on a board its own and CircuitPython's."""
    if not SMALL:
        return names
    return tuple([name for name in names if name in ("rp2", "circuitpython")])
