from collections.abc import Hashable
from typing import TypeVar

_Key = TypeVar("_Key", bound=Hashable)

def hash_tag(key: _Key) -> _Key: ...
