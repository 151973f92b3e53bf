"""Check sums of the protocols that the UART nodes speak."""


def crc16(data):
    """Modbus RTU's, low byte first."""
    crc = 0xFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ 0xA001 if crc & 1 else crc >> 1
    return bytes([crc & 0xFF, crc >> 8])


def crc8(data):
    """The one of Trinamic's single-wire UART: x^8 + x^2 + x + 1, the lowest bit of each byte first."""
    crc = 0
    for byte in data:
        for _ in range(8):
            if (crc >> 7) ^ (byte & 1):
                crc = crc << 1 & 0xFF ^ 0x07
            else:
                crc = crc << 1 & 0xFF
            byte >>= 1
    return crc
