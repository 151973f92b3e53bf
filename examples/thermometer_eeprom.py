"""A thermometer and an EEPROM on one bus: a long write is cut at the pages, and the thermometer is read in between.

TMP117 at 0x48 and 24C32 (32-byte pages, 16-bit addresses) at 0x50. The EEPROM does not answer for some milliseconds
after each page: `retries` with `repeatable=True` ask again until it does.
"""

import asyncio

from buslock import I2CBus

import boards

board = boards.this_board()
if board.NAME == "sim":
    from buslock_sim import EEPROM

    board.wire.attach(0x50, EEPROM(size=4096, page=32))

bus = I2CBus(board.i2c, name="i2c0")
thermometer = bus.device(0x48)
eeprom = bus.device(0x50, addrsize=16, retries=20, chunk=32)
writing = True


async def write_log():
    global writing
    text = b"".join([b"line %02d of the log\n" % n for n in range(12)])
    await eeprom.write_register(0x0010, text, repeatable=True)
    back = await eeprom.read_register(0x0010, len(text))
    print("eeprom: %d bytes written, read back %s" % (len(text), "the same" if back == text else "DIFFERENT"))
    writing = False


async def measure():
    count = 0
    while writing:
        raw = await thermometer.read_register(0x00, 2)
        count += 1
        await asyncio.sleep(0)
    when = "while" if count > 1 else "after"
    print("thermometer: %.2f C, read %s the write went on" % (int.from_bytes(raw, "big") / 128, when))
    print("retries:", bus.stats()["retries"] > 0)


async def main():
    await asyncio.gather(write_log(), measure())
    await bus.aclose()


asyncio.run(main())
