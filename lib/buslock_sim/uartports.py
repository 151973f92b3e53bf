"""How the ports differ in UART, in one table.

Read from the sources of MicroPython 1.29 (extmod/machine_uart.c, py/stream.c, ports/*/machine_uart.c, uart.c of esp8266
and stm32; rp2 also before its commit 97af1001ae, which is in 1.24), of its documentation (library/machine.UART: flush
and txdone return early on esp8266 and nrf, and before 1.24 on rp2), of CircuitPython 10 (shared-bindings/busio/UART.c,
ports/raspberrypi/common-hal/busio/UART.c) and of Blinka (microcontroller/generic_linux/uart.py over pyserial).
"""

from .habits import Habits, find


class UartPort(Habits):
    """The habits of one port in UART. Make your own for a port that is not in the table."""

    # what the constructor takes for its own
    baudrate = 115200
    # flush() and txdone() are content while the last character is still being sent
    early = False
    # write() returns only when all is sent, as flush() sees it
    write_waits = False
    # write() takes what fits and, with a time-out, waits for more room; False: it waits for as long as it takes
    write_gives_up = False
    # characters that the hardware holds besides the txbuf
    fifo = 32
    # has a txbuf and an rxbuf that can be chosen
    txbuf = 256
    rxbuf = 256
    # timeout_char is at least so many ms longer than 13 bits, or None: what was asked for
    char_ms = 1
    # init() throws away what has arrived
    init_clears = False
    # deinit() really turns it off
    deinit = True
    # busio only: read() without a number takes what is there, or waits for one byte
    read_takes = False
    # busio only: write() returns while bytes are still being sent
    buffered = False


MACHINE = {}
BUSIO = {}


def _machine(name, **habits):
    MACHINE[name] = UartPort(name, **habits)


def _busio(name, **habits):
    BUSIO[name] = UartPort(name, baudrate=9600, **habits)


_machine("rp2", write_gives_up=True)
_machine("rp2_1_23", write_gives_up=True, early=True)
_machine("esp32", fifo=128, char_ms=None, init_clears=True)
_machine("stm32", write_waits=True, fifo=1, txbuf=0, rxbuf=64, char_ms=2)
_machine("esp8266", early=True, fifo=126, txbuf=0, rxbuf=255, deinit=False)
_machine("nrf", early=True, write_waits=True, fifo=1, txbuf=0, rxbuf=64, char_ms=None)

_busio("circuitpython", fifo=32, txbuf=0, rxbuf=64, char_ms=None)
_busio("blinka", fifo=4096, txbuf=0, rxbuf=4096, char_ms=None, read_takes=True)


def find_machine(port):
    return find(port, UartPort, MACHINE, BUSIO, "BusioUART")


def find_busio(port):
    return find(port, UartPort, BUSIO, MACHINE, "UART")
