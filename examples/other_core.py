"""An interrupt, and a second core, want something read: they ask the loop, which owns the bus, to do it.

A bus belongs to the loop that first used it. An interrupt sets a ThreadSafeFlag; a thread puts its request into a list
and sets the same flag. Nothing else of this package is used outside of the loop.
"""

import asyncio

from buslock import I2CBus

import boards

try:
    import _thread
except ImportError:  # a port without threads
    _thread = None

board = boards.this_board()
bus = I2CBus(board.i2c, name="i2c0")
pressure = bus.device(0x76)
flag = asyncio.ThreadSafeFlag() if hasattr(asyncio, "ThreadSafeFlag") else None
requests = []
answers = []


def interrupt(pin=None):
    """What Pin.irq() is given: no transfer here, only a sign."""
    requests.append("interrupt")
    flag.set()


def other_core():
    requests.append("other core")
    flag.set()


async def serve(count):
    while len(answers) < count:
        await flag.wait()
        while requests:
            who = requests.pop(0)
            raw = await pressure.read_register(0xF7, 3)
            answers.append(who)
            print("%s asked: pressure %d" % (who, int.from_bytes(raw, "big")))


async def main():
    if flag is None:
        print("no ThreadSafeFlag here: on CPython use loop.call_soon_threadsafe(event.set) instead")
        return
    server = asyncio.create_task(serve(2 if _thread else 1))
    await asyncio.sleep(0)
    interrupt()
    if _thread:
        _thread.start_new_thread(other_core, ())
    await asyncio.wait_for(server, 5)
    await bus.aclose()


asyncio.run(main())
