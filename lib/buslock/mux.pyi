from typing import Any

from .channel import Channel

class Mux:
    address: int
    def __init__(self, parent: Any, addr: int, channels: int) -> None: ...
    def channel(self, n: int) -> Channel: ...
