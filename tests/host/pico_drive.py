"""How long after the last bit of a request the emulated Pico releases the drive of its RS-485 transceiver.

python tests/host/pico_drive.py BAUDRATE      prints microseconds of the board's time, in JSON; for test_pico.py
"""
# pyright: reportMissingImports=false

import asyncio
import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[:1] = [str(ROOT), str(ROOT / "lib")]

from buslock_sim import ModbusNode  # noqa: E402

from boards import pico as pins  # noqa: E402
from tools.pico import firmware, flash  # noqa: E402
from tools.pico.board import Pico  # noqa: E402
from tools.pico.desk import Desk  # noqa: E402
from tools.pico.uart import Line, UARTWire  # noqa: E402

MASTER = """
import gc
import asyncio
from machine import Pin, UART
from buslock import UARTBus

REQUEST = b"\\x11\\x03\\x00\\x00\\x00\\x02\\xc6\\x9b"  # two registers of node 17
node = UARTBus(UART(0, {}, tx=Pin(0), rx=Pin(1)), de=Pin({})).device(17)

async def other():
    while True:
        await asyncio.sleep_ms(1)

async def main():
    asyncio.create_task(other())
    await asyncio.sleep_ms(5)
    gc.collect()
    for _ in range(12):
        await node.exchange(REQUEST, nbytes=9)

asyncio.run(main())
"""


class WatchedLine(Line):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.released_us = []

    def _de_driven(self, state, before):
        super()._de_driven(state, before)
        self.settle()
        if self.de.level() == 0 and self._free_us:
            self.released_us.append(round(self._clock.nanos / 1000 - self._free_us))


async def run(baudrate: int) -> list[int]:
    desk = Desk()
    desk.uart = wire = UARTWire(0, [ModbusNode(17, {0: 1, 1: 2})], de_pin=pins.UART_DE, line=WatchedLine)
    image = firmware.find()
    assert image is not None
    board = Pico(image, flash.library(), desk)
    await board.boot()
    try:
        _, errors = await board.run_code(MASTER.format(baudrate, pins.UART_DE), output=lambda text: None)
    finally:
        board.stop()
    if errors or desk.violations():
        sys.exit(errors or "\n".join(desk.violations()))
    assert isinstance(wire.line, WatchedLine)
    return wire.line.released_us


if __name__ == "__main__":
    print(json.dumps(asyncio.run(run(int(sys.argv[1])))))
