"""Display: a display with commands and a frame in memory, after the SSD1306 and the ILI9341."""

from .spichip import SpiChip

HOMES = (0x22, 0x2C)  # SSD1306: page address; ILI9341: memory write


class Display(SpiChip):
    """size bytes of frame, written one after the other and round again; it answers nothing.

    Display(dc=wire.line("dc")): with D/C low a byte is a command, with D/C high a byte of the frame, as on the SSD1306.
    memory_write=0x2C is for controllers like the ILI9341, whose commands have parameters with D/C high: only what comes
    after that command goes into the frame. Without a D/C line all bytes are the frame's.

    The frame begins anew after a command of homes, and without a D/C line when CS becomes active. For tests: frame is
    the contents, frames how often it was filled to the end, commands what came with D/C low, parameters what came with
    D/C high outside the frame, both bounded.

    It takes over mode and baud rate when CS becomes active, and minds when either changes afterwards.
    """

    KEEP = 1000

    def __init__(self, size=1024, dc=None, memory_write=None, homes=HOMES, modes=(0, 3), max_baudrate=20000000):
        self.size = size
        self.dc = dc
        self.memory_write = memory_write
        self.homes = homes
        self.modes = modes
        self.max_baudrate = max_baudrate
        self.reset()

    def reset(self):
        self.frame = bytearray(self.size)
        self.frames = 0
        self.commands = bytearray()
        self.parameters = bytearray()
        self._pointer = 0
        self._to_frame = self.memory_write is None
        self._latched = None

    def select(self):
        clocking = self.home.clocking
        self._latched = None if clocking is None else (clocking.mode, clocking.baudrate)
        if self.dc is None:
            self._pointer = 0

    def deselect(self):
        self._latched = None

    def check_clock(self, clocking):
        super().check_clock(clocking)
        if self._latched is not None and self._latched != (clocking.mode, clocking.baudrate):
            self.complain(
                "mode %d at %d Hz became mode %d at %d Hz while CS was active"
                % (self._latched + (clocking.mode, clocking.baudrate))
            )

    def exchange(self, byte):
        if self.dc is not None and not self.dc.level():
            self._command(byte)
        elif self._to_frame:
            self.frame[self._pointer] = byte
            self._pointer += 1
            if self._pointer == self.size:
                self._pointer = 0
                self.frames += 1
        else:
            self.parameters = (self.parameters + bytes([byte]))[-self.KEEP :]
        return 0xFF

    def _command(self, byte):
        self.commands = (self.commands + bytes([byte]))[-self.KEEP :]
        if byte in self.homes:
            self._pointer = 0
        if self.memory_write is not None:
            self._to_frame = byte == self.memory_write
