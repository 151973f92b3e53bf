"""The emulated Pico: boots real firmware, runs code through its raw REPL, and passes on what it prints."""
# pyright: reportMissingImports=false

import asyncio
from pathlib import Path

from rp2040py.boards import BoardSpec, FlashLayout
from rp2040py.device import MicroPythonDevice
from rp2040py.device.repl_runner import InteractiveRepl

from tools.pico import corrections, flash
from tools.pico.desk import Desk

corrections.apply()

LAYOUT = FlashLayout(fs_start=flash.START, fs_blockcount=flash.BLOCKS, fs_blocksize=flash.BLOCK)
BOOT_LIMIT = 600  # seconds of real time; half a second is usual, 30 are with CircuitPython
PUMP_NS = 1_000_000
BANNER = b"raw REPL; CTRL-B to exit\r\n>"
CTRL_A, CTRL_B, CTRL_C, CTRL_D = b"\x01", b"\x02", b"\x03", b"\x04"


class Pico(MicroPythonDevice):
    """`files` is the board's file system, {"/main.py": data}; `desk` what is on its pins."""

    layout = LAYOUT
    disk = staticmethod(flash.image)
    starts_afresh = True  # each run of code begins with a soft reset

    def __init__(self, image: Path, files: dict[str, bytes] | None = None, desk: Desk | None = None):
        self.desk = desk or Desk()
        super().__init__(board=BoardSpec(extras=(lambda: self.desk,), layout=self.layout, image=str(image)))
        if files is not None:
            self.put(files)

    @property
    def seconds(self) -> float:
        """The board's own time since power-on."""
        return self.simulator.clock.nanos / 1e9

    def set_ms(self, ms: int) -> None:
        """What its timer, and with it ticks_ms(), shows now; before it boots."""
        timer = self.mcu.timer
        timer._epoch_nanos = timer.clock.nanos - ms * 1e6

    async def boot(self) -> None:
        await self.astart(BOOT_LIMIT)

    async def pause(self) -> None:
        """The board's time stands still, and the event loop may end."""
        self.stop()
        if self.simulator._execute_task:
            await asyncio.wait([self.simulator._execute_task])
        self.simulator._execute_task = None

    async def resume(self) -> None:
        """It goes on, in the event loop that runs now."""
        self.simulator.bind_loop()
        self.simulator.start_execution()
        while self.simulator._execute_task is None:
            await asyncio.sleep(0)

    def put(self, files: dict[str, bytes]) -> None:
        """Another file system; for a board that has not read its own."""
        fs = self.disk(files)
        self.mcu.flash[self.layout.fs_start : self.layout.fs_start + len(fs)] = fs

    async def run_code(
        self, code: str, output=None, limit: float | None = None, afresh: bool | None = None
    ) -> tuple[str, str]:
        """What the code prints, and its traceback; `output(text)` is called with what it prints as it comes.

        Begins with a soft reset, so that nothing of what ran before is left (not CircuitPython's, and not if `afresh` is
        False). TimeoutError after `limit` seconds.
        """
        repl = RawRepl(self, code, output, self.starts_afresh if afresh is None else afresh)
        await repl.start()
        try:
            await self.simulator.wait_for(repl.done, limit)
        finally:
            await repl.stop()
            self._repl = None
        return repl.printed, repl.errors

    def interrupt(self) -> None:
        """Ctrl-C."""
        self.cdc.send_serial_byte(CTRL_C[0])


class RawRepl(InteractiveRepl):
    """One run of one piece of code: soft reset, raw REPL, code, what it prints, its traceback."""

    def __init__(self, pico: Pico, code: str, output, afresh: bool):
        super().__init__(pico.cdc, self._came)
        self.done = asyncio.Event()
        self._code = code.encode()
        self._output = output
        self._alarm = pico.simulator.clock.create_alarm(self._pump)
        self._got = bytearray()
        self._parts: list[bytes] = []  # what was printed, the traceback
        reset = [(BANNER, CTRL_D), (b"soft reboot\r\n", b"")] if afresh else []
        self._steps = [*reset, (BANNER, self._code + CTRL_D), (b"OK", b"")]

    @property
    def printed(self) -> str:
        return _text(self._parts[0]) if self._parts else ""

    @property
    def errors(self) -> str:
        return _text(self._parts[1]) if len(self._parts) > 1 else ""

    async def _on_start(self):
        self._say(b"\r" + CTRL_C + CTRL_C + b"\r" + CTRL_A)

    async def _on_stop(self):
        self._alarm.cancel()

    def _say(self, data):
        if not self.send(data):
            self._alarm.schedule(PUMP_NS)

    def _pump(self):
        """The USB host takes 512 bytes at a time."""
        if not self.pump():
            self._alarm.schedule(PUMP_NS)

    def _came(self, data):
        data = bytes(data)
        if self._steps:
            self._got += data
            data = self._follow_steps()
        while data and not self.done.is_set():
            chunk, end, data = data.partition(CTRL_D)
            if not self._parts and chunk and self._output:
                self._output(_text(chunk))
            self._got += chunk
            if end:
                self._parts.append(bytes(self._got))
                self._got.clear()
                if len(self._parts) == 2:
                    self.done.set()

    def _follow_steps(self) -> bytes:
        """What has come after the last step."""
        while self._steps:
            awaited, answer = self._steps[0]
            at = self._got.find(awaited)
            if at < 0:
                return b""
            del self._got[: at + len(awaited)]
            self._steps.pop(0)
            if answer:
                self._say(answer)
        rest = bytes(self._got)
        self._got.clear()
        return rest


def _text(data: bytes) -> str:
    return data.decode(errors="replace").replace("\r\n", "\n")
