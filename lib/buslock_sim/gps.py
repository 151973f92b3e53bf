"""GPS: talks all the time and answers nothing."""

from .node import Node

RMC = "GPRMC,123519,A,4807.038,N,01131.000,E,022.4,084.4,230394,003.1,W"
GGA = "GPGGA,123519,4807.038,N,01131.000,E,1,08,0.9,545.4,M,46.9,M,,"


def nmea(body):
    """The line, as bytes, of an NMEA sentence without its $, check sum and newline."""
    check = 0
    for char in body.encode():
        check ^= char
    return b"$" + body.encode() + b"*%02X\r\n" % check


class GPS(Node):
    """Sends sentences (the bodies of NMEA lines) every period_ms, the first after one period. heard is what it was
    sent itself."""

    full_duplex = True

    def __init__(self, sentences=(RMC, GGA), period_ms=1000, baudrate=None):
        super().__init__()
        self.sentences = sentences
        self.period_ms = period_ms
        self.baudrate = baudrate
        self.rounds = 0
        self.heard = bytearray()

    def reset(self):
        self.due_us = self.line.now_us() + int(self.period_ms * 1000)

    def hear(self, byte, start_us, end_us):
        self.heard.append(byte)

    def tick(self, us):
        self.rounds += 1
        self.due_us = us + int(self.period_ms * 1000)
        self.say(b"".join([nmea(sentence) for sentence in self.sentences]), us)
