"""The methods of UARTNode that an exchange does not need; the class loads them on first use."""

METHODS = "uartnode as_machine as_busio"


def as_machine(node):
    """An object with the methods of machine.UART, for drivers that know nothing of this bus."""
    from .uartfacade import MachineUART

    return MachineUART(node)


def as_busio(node):
    """An object with the methods of busio.UART, for drivers that know nothing of this bus."""
    from .uartfacade import BusioUART

    return BusioUART(node)
