from .channel import Channel

class Mux:
    address: int
    def channel(self, n: int) -> Channel: ...
