from .holds import BusHold
from .uart import Exchanges, UARTNode

class UARTSession(Exchanges):
    def __init__(self, node: UARTNode, hold: BusHold[UARTSession]) -> None: ...
