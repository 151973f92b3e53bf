"""A GPS that only talks and a modem that answers, on one UART, as in modules that are both (SIM7000 and the like).

Its sentences come whenever they like: between two commands, or in the middle of an answer. What comes between exchanges is
not lost in a drain: `unsolicited` is given it.
"""

import asyncio

from buslock import NoReply, UARTBus

import boards

RMC = b"$GPRMC,123519,A,4807.038,N,01131.000,E,022.4,084.4,230394,003.1,W*6A"

board = boards.this_board()
if board.NAME == "sim":
    from buslock_sim import Modem, UartLine

    board.uart_line = UartLine("module")
    module = board.uart_line.attach(Modem({"AT+CSQ": "+CSQ: 20,0", "AT+COPS?": '+COPS: 0,0,"net"'}, delay_ms=120))
    module.announce(RMC.decode(), in_ms=30, every_ms=250)

positions = 0
rest = b""


def heard(got):
    """Bytes that belong to no exchange: lines of the GPS, in pieces of any length."""
    global rest
    lines = (rest + got).split(b"\n")
    rest = lines.pop()
    for line in lines:
        sentence(line.strip())


def sentence(line):
    global positions
    if line[:6] == b"$GPRMC" and line.count(b",") > 5:
        positions += 1
        part = line.split(b",")
        print("gps   ", part[3].decode(), part[4].decode(), part[5].decode(), part[6].decode())


bus = UARTBus(board.uart, name="module", unsolicited=heard)
modem = bus.device("modem")
gps = bus.device("gps")


def answered(buf):
    return buf[-6:] == b"\r\nOK\r\n" or buf[-9:] == b"\r\nERROR\r\n" or None


async def command(text):
    """The lines of the answer; sentences that came in between go to the GPS's user."""
    answer = await modem.exchange(text + b"\r", frame=answered, reply_ms=2000)
    lines = [line.strip() for line in answer.split(b"\n")]
    for line in lines:
        if line[:1] == b"$":
            sentence(line)
    return [line.decode() for line in lines if line and line[:1] != b"$"]


async def listen():
    """Has the line while nobody asks the modem anything; lets go of it at each line, and after a short silence."""
    while True:
        try:
            sentence((await gps.read(until=b"\n", reply_ms=50)).strip())
        except NoReply:
            pass
        await asyncio.sleep(0)


async def ask():
    for text in (b"AT", b"AT+CSQ", b"AT+COPS?", b"AT+WHAT"):
        print("modem ", text.decode(), await command(text))
        await asyncio.sleep(0.2)


async def main():
    listening = asyncio.create_task(listen())
    await ask()
    listening.cancel()
    print(positions, "positions meanwhile")
    await bus.aclose()


asyncio.run(main())
