"""Reading registers of a Modbus node: the request, and the frame function for its reply."""

from buslock_sim.crc import crc16


def request(address, register):
    text = bytes([address, 3, 0, register, 0, 1])
    return text + crc16(text)


def frame(address):
    def check(buf):
        if buf[0] != address:
            return False
        if len(buf) < 3:
            return None
        length = 5 if buf[1] & 0x80 else 5 + buf[2]
        if len(buf) < length:
            return None
        return len(buf) == length and crc16(bytes(buf[:-2])) == bytes(buf[-2:])

    return check
