from collections.abc import Hashable
from typing import TypeVar, overload

_Key = TypeVar("_Key", bound=Hashable)

@overload
def hash_tag(key: str) -> str: ...
@overload
def hash_tag(key: _Key) -> _Key: ...
