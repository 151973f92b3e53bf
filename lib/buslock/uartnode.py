"""The methods of UARTNode that an exchange does not need; the class loads them on first use."""

from ._rt import later

METHODS = "uartnode as_machine as_busio "


def as_machine(node):
    """An object with the methods of machine.UART, for drivers that know nothing of this bus."""
    return later.uartfacade.MachineUART(node)


def as_busio(node):
    """An object with the methods of busio.UART, for drivers that know nothing of this bus."""
    return later.uartfacade.BusioUART(node)
