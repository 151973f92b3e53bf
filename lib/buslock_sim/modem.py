"""Modem: answers AT commands, and speaks up by itself."""

from .node import Node


class Modem(Node):
    """Modem({"AT+CSQ": "+CSQ: 20,0"}): answers the commands of the dict with that line and OK, AT with OK, others with
    ERROR, each delay_ms after the carriage return. A value may be a function of the command.

    Lines are as in \\r\\nOK\\r\\n. echo=True: it repeats what it hears, as many do after power-on. commands is what it
    was asked. announce("RING", in_ms=50, every_ms=2000) makes it say something that nobody has asked for.
    """

    full_duplex = True

    def __init__(self, commands=None, delay_ms=20, echo=False, baudrate=None):
        super().__init__()
        self.known = {} if commands is None else commands
        self.delay_ms = delay_ms
        self.echo = echo
        self.baudrate = baudrate
        self.commands = []
        self.reset()

    def reset(self):
        self._command = bytearray()
        self._announcements = []  # [due_us, line, every_ms]

    def announce(self, line, in_ms=0, every_ms=None):
        """Say line in_ms from now, and again every_ms."""
        self._announcements.append([self.line.now_us() + int(in_ms * 1000), line, every_ms])
        self._set_due()

    def hear(self, byte, start_us, end_us):
        if self.echo:
            self.say(bytes([byte]), end_us)
        if byte == 10:
            return
        if byte != 13:
            self._command.append(byte)
            return
        command = bytes(self._command).decode()
        self._command = bytearray()
        if not command:
            return
        self.commands.append(command)
        if command in self.known:
            answer = self.known[command]
            if callable(answer):
                answer = answer(command)
            lines = (answer, "OK") if answer else ("OK",)
        else:
            lines = ("OK",) if command == "AT" else ("ERROR",)
        self.answer(b"".join([b"\r\n" + line.encode() + b"\r\n" for line in lines]), end_us)

    def tick(self, us):
        for announcement in list(self._announcements):
            if announcement[0] <= us:
                self.say(b"\r\n" + announcement[1].encode() + b"\r\n", us)
                if announcement[2] is None:
                    self._announcements.remove(announcement)
                else:
                    announcement[0] += int(announcement[2] * 1000)
        self._set_due()

    def _set_due(self):
        due = [announcement[0] for announcement in self._announcements]
        self.due_us = min(due) if due else None
