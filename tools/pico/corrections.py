"""Corrections of rp2040py 0.3.6. Call apply() before an emulated board is made.

USB    its host answers every request for data at once, if need be with an empty packet, which keeps the firmware's USB
       interrupt busy for ever: scripts ran 40 times slower. A real host says nothing until it has data.
I2C    a NACK left TX_EMPTY unset, so the firmware waited 50 ms and reported ETIMEDOUT where a Pico says EIO at once;
       and TX_EMPTY came when a byte left the FIFO and not when it was acknowledged, so that a NACK of data was missed.
UART   sent bytes left at once and raised their interrupt again and again, so machine.UART hung after its first write.
       Now they leave a FIFO of 32 bytes at the baud rate.
resets a write to RESETS left the peripherals as they were: bytes that came after a UART's deinit() kept its interrupt busy.
clock  clk_peri ignored where the firmware takes it from: MicroPython runs it from the 48 MHz of USB.
"""
# pyright: reportMissingImports=false, reportAttributeAccessIssue=false, reportOptionalCall=false

import sys

import rp2040py.device  # brings in all the modules that get corrected classes
from rp2040py.peripherals import clocks, i2c, reset, uart
from rp2040py.usb import cdc
from rp2040py.utils.fifo import FIFO

GATHER_NS = 100_000  # bytes from the host that come within this time go in one packet
TX_DEPTH = 32
TX_LOW = 4  # bytes left in the UART's FIFO when it asks for more
TXFF, BUSY = 1 << 5, 1 << 3
FLUSH_COUNT = 0x1FF
PERI_HZ = {0: 125_000_000, 1: 125_000_000, 2: 48_000_000, 4: 12_000_000}  # by CLK_PERI_CTRL.AUXSRC
SLOWEST_BYTE_NS = 86_806.0  # of a UART whose divisor is not set: 115200 baud


class _NotifyingFIFO(FIFO):
    on_push = None

    def push(self, value):
        super().push(value)
        if self.on_push:
            self.on_push()


class Host(cdc.USBCDC):
    """The USB host."""

    def __init__(self, usb):
        super().__init__(usb)
        self.tx_fifo = _NotifyingFIFO(cdc.TX_FIFO_SIZE)
        self._requests = []  # of the firmware for data that is not there yet
        self._answer_at_once = usb.on_endpoint_read
        self._alarm = usb.rp2040.clock.create_alarm(self._answer)
        self._reset_host = usb.on_reset
        self.tx_fifo.on_push = self._data_came
        usb.on_endpoint_read = self._asked
        usb.on_reset = self._forget

    def _asked(self, endpoint, size):
        if endpoint == self._out_endpoint and endpoint > 0 and self.tx_fifo.empty:
            self._requests.append((endpoint, size))
        else:
            self._answer_at_once(endpoint, size)

    def _data_came(self):
        if self._requests:
            self._alarm.schedule(GATHER_NS)

    def _answer(self):
        if self._requests and not self.tx_fifo.empty:
            self._answer_at_once(*self._requests.pop(0))

    def _forget(self):
        self._requests.clear()
        self._alarm.cancel()
        self._reset_host()


class I2C(i2c.RPI2C):
    """The I2C controller."""

    @property
    def starts(self):
        """True while it makes a START, or waits for the bus to make one."""
        return self._state == i2c.I2CState.START

    def _abort(self, reason):
        self.abort_source &= ~(FLUSH_COUNT << i2c.TX_FLUSH_CNT_SHIFT)
        self.abort_source |= reason | (self._tx_fifo.item_count & FLUSH_COUNT) << i2c.TX_FLUSH_CNT_SHIFT
        self._tx_fifo.reset()
        self._set_interrupts(i2c.R_TX_ABRT | i2c.R_TX_EMPTY)

    def _set_interrupts(self, mask):
        if self.int_raw & mask != mask:
            self.int_raw |= mask
            self.check_interrupts()

    def _next_command(self):
        was_empty = self.int_raw & i2c.R_TX_EMPTY
        count, command = self._tx_fifo.item_count, self._tx_fifo.peek()
        super()._next_command()
        taken = self._busy and self._tx_fifo.item_count < count
        if self.control & i2c.TX_EMPTY_CTRL and taken and not was_empty and not command & i2c.CMD:
            self.int_raw &= ~i2c.R_TX_EMPTY  # the byte is still on its way
            self.check_interrupts()

    def complete_write(self, ack):
        if ack and self._tx_fifo.item_count <= self.tx_threshold:
            self._set_interrupts(i2c.R_TX_EMPTY)
        super().complete_write(ack)


class UART(uart.RPUART):
    """The UART."""

    def __init__(self, rp2040, name, irq, dreq):
        super().__init__(rp2040, name, irq, dreq)
        self._tx = []
        self._tx_alarm = rp2040.clock.create_alarm(self._sent)

    def byte_ns(self):
        """How long one byte takes: start bit, 8 bits, stop bit."""
        try:
            return 10e9 / self.baud_rate
        except ZeroDivisionError:
            return SLOWEST_BYTE_NS

    def _sent(self):
        value = self._tx.pop(0)
        if self._tx:
            self._tx_alarm.schedule(self.byte_ns())
        if len(self._tx) == TX_LOW:
            self._interrupt_status |= uart.UARTTXINTR
            self.check_interrupts()
        if self.on_byte:
            self.on_byte(value)

    @property
    def flags(self):
        waiting = len(self._tx)
        return (
            (uart.RXFF if self.rx_fifo.full else 0)
            | (uart.RXFE if self.rx_fifo.empty else 0)
            | (uart.TXFE if waiting <= 1 else 0)  # the last byte is in the shift register
            | (TXFF if waiting > TX_DEPTH else 0)
            | (BUSY if waiting else 0)
        )

    def check_interrupts(self):
        self.rp2040.set_interrupt(self.irq, bool(self._interrupt_status & self._interrupt_mask))

    def write_uint32(self, offset, value):
        if offset != uart.UARTDR:
            super().write_uint32(offset, value)
        elif len(self._tx) <= TX_DEPTH:
            self._tx.append(value & 0xFF)
            if len(self._tx) == 1:
                self._tx_alarm.schedule(self.byte_ns())

    def reset(self):
        self._tx.clear()
        self._tx_alarm.cancel()
        super().reset()


class Clocks(clocks.RPClocks):
    """The clocks."""

    def write_uint32(self, offset, value):
        super().write_uint32(offset, value)
        if offset == clocks.CLK_PERI_CTRL:
            self.rp2040.clk_peri = PERI_HZ.get(value >> 5 & 7, 125_000_000)


class Reset(reset.RPReset):
    """The reset controller, for the peripherals whose drivers reset them when they are made and closed."""

    def write_uint32(self, offset, value):
        before = self._reset
        super().write_uint32(offset, value)
        begun = self._reset & ~before
        for bits, peripherals in (
            ((reset.RESET_I2C0, reset.RESET_I2C1), self.rp2040.i2c),
            ((reset.RESET_SPI0, reset.RESET_SPI1), self.rp2040.spi),
            ((reset.RESET_UART0, reset.RESET_UART1), self.rp2040.uart),
        ):
            for bit, peripheral in zip(bits, peripherals, strict=True):
                if begun & bit:
                    peripheral.reset()


def apply():
    """Boards made from now on have the corrected models."""
    _put_in_place(cdc.USBCDC, Host)
    _put_in_place(i2c.RPI2C, I2C)
    _put_in_place(uart.RPUART, UART)
    _put_in_place(clocks.RPClocks, Clocks)
    _put_in_place(reset.RPReset, Reset)


def _put_in_place(original, corrected):
    """Every module of rp2040py that has imported the class gets the corrected one."""
    for module in list(sys.modules.values()):
        inside = module.__name__.startswith(rp2040py.__name__)
        if inside and vars(module).get(original.__name__) is original:
            setattr(module, original.__name__, corrected)
