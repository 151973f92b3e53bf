"""A board on a serial port, through mpremote: finding it, asking what it is, its files. Errors say the way out."""
# pyright: reportMissingImports=false

import contextlib
import errno
import io
import os
from dataclasses import dataclass

import serial
from mpremote.transport import TransportError, TransportExecError
from mpremote.transport_serial import SerialTransport
from serial.tools import list_ports

ANSWER_LIMIT = 10  # seconds for a board to stop its program and answer
OLDEST = (1, 22)  # MicroPython with the asyncio that the library needs
LOST = (serial.SerialException, TransportError, EOFError)


class DeployError(Exception):
    """Ends the deployment; the message says what is wrong and the way out."""


@dataclass
class Port:
    device: str
    product: str = ""
    serial_number: str = ""

    def __str__(self):
        return " ".join(filter(None, (self.device, self.product, self.serial_number and f"[{self.serial_number}]")))


@dataclass
class Info:
    """What a board says of itself."""

    name: str
    version: tuple[int, ...]
    platform: str
    machine: str
    mpy: int
    path: list[str]

    def __str__(self):
        dotted = ".".join(map(str, self.version))
        spelling = {"micropython": "MicroPython", "circuitpython": "CircuitPython"}.get(self.name, self.name)
        return f"{self.machine or self.platform}, {spelling} {dotted}"


ASK = """
import sys
i = sys.implementation
print(repr((i.name, tuple(i[1])[:3], sys.platform, getattr(i, "_machine", ""), getattr(i, "_mpy", 0), sys.path)))
"""


def ports() -> list[Port]:
    """The serial ports that mpremote would try: those on USB."""
    found = sorted(port for port in list_ports.comports() if port.vid is not None and port.pid is not None)
    return [Port(port.device, port.product or "", port.serial_number or "") for port in found]


def choose(named: str | None, found: list[Port]) -> Port:
    """The named port, or the only one."""
    if named:
        return next((port for port in found if port.device == named), Port(named))
    if not found:
        raise DeployError(
            "no board found. Is it plugged in, with a cable that has data lines (many only charge)? A new Pico has no "
            "MicroPython yet: hold BOOTSEL while you plug it in, and copy the .uf2 from micropython.org/download onto "
            "the drive that appears. A port without USB ids is not found by itself: name it, --port /dev/ttyS0"
        )
    if len(found) > 1:
        listed = "".join(f"\n  --port {port}" for port in found)
        raise DeployError(f"{len(found)} boards found; say which one:{listed}")
    return found[0]


class Board:
    """A connection in the raw REPL; whatever ran on the board is stopped by a soft reset."""

    def __init__(self, port: Port, limit: float = ANSWER_LIMIT):
        self.port = port
        try:
            self.transport = SerialTransport(port.device, timeout=limit)
        except TransportError:
            raise DeployError(why_not_opened(port.device)) from None
        printed = io.StringIO()  # mpremote prints what it got instead of an answer
        try:
            with contextlib.redirect_stdout(printed):
                self.transport.enter_raw_repl(timeout_overall=limit)  # pyright: ignore[reportArgumentType]
        except (*LOST, OSError):
            got = printed.getvalue().strip()
            self.close()
            raise DeployError(
                f"{port.device} does not answer like MicroPython"
                + (f" (it said {got[:200]})" if got not in ("", "b''") else "")
                + ". Is a program running that catches Ctrl-C, or is this another device? Press the board's reset "
                "button, or unplug it and plug it in again; if it goes on, flash MicroPython anew"
            ) from None
        self.info = self._ask()

    def _ask(self) -> Info:
        import ast

        name, version, platform, machine, mpy, path = ast.literal_eval(self.run(ASK).strip())
        return Info(name, tuple(version), platform, machine, mpy, path)

    def check(self) -> None:
        """DeployError if the library does not run on it, or cannot be copied this way."""
        info = self.info
        if info.name == "circuitpython":
            raise DeployError(
                f"{info}: CircuitPython's files are its USB drive's. Copy lib/buslock into the folder lib of "
                "CIRCUITPY, and install the libraries asyncio and adafruit_ticks there with circup"
            )
        if info.name != "micropython":
            raise DeployError(f"{info}: buslock needs MicroPython or CircuitPython")
        if info.version[:2] < OLDEST:
            wanted = ".".join(map(str, OLDEST))
            raise DeployError(f"{info}: buslock needs MicroPython {wanted} or newer; flash a new one")

    def run(self, code: str) -> str:
        """What the code prints; DeployError if it fails."""
        try:
            return self.transport.exec(code).decode(errors="replace")
        except TransportExecError as e:
            raise DeployError(f"the board failed at\n{code.strip()}\n{e.error_output}") from None
        except (*LOST, OSError) as e:
            raise self.lost(e) from None

    def lost(self, e: Exception) -> DeployError:
        return DeployError(f"the connection to {self.port.device} was lost ({e}); check the cable and start again")

    def follow(self, code: str, output) -> str:
        """Runs the code for as long as it takes, with output(bytes); its traceback. Ctrl-C here is Ctrl-C there."""
        try:
            self.transport.exec_raw_no_follow(code)
            try:
                _, errors = self.transport.follow(None, output)
            except KeyboardInterrupt:
                self.transport.serial.write(b"\x03")
                _, errors = self.transport.follow(ANSWER_LIMIT, output)
        except (*LOST, OSError) as e:
            raise self.lost(e) from None
        return errors.decode(errors="replace")

    def close(self) -> None:
        with contextlib.suppress(*LOST, OSError):
            if self.transport.in_raw_repl:
                self.transport.exit_raw_repl()
            self.transport.close()


def why_not_opened(device: str) -> str:
    try:
        serial.Serial(device, exclusive=True).close()
    except OSError as e:
        if e.errno == errno.ENOENT or (os.name == "posix" and not os.path.exists(device)):
            return f"there is no port {device}; `python3 tools/deploy.py --list` shows those that are there"
        if e.errno in (errno.EACCES, errno.EPERM):
            return (
                f"no permission for {device}: your user has to be in the group of serial ports, "
                "`sudo usermod -aG dialout $USER`, and log in again"
            )
        return (
            f"{device} is in use by another program (Thonny, mpremote, screen, a serial monitor): close that "
            f"({e.strerror or e})"
        )
    return f"{device} could not be opened just now; try again"
