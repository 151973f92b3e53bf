from collections.abc import Awaitable, Hashable
from typing import Generic, TypeVar

from .holding import Hold

_Given = TypeVar("_Given", covariant=True)

# Generic for the checker only, in what its block gets: on the board it is a plain class.
class BusHold(Hold, Generic[_Given]):
    wire: bool
    def __aenter__(self) -> Awaitable[_Given]: ...
    @property
    def keys(self) -> tuple[Hashable, ...]: ...
