from collections.abc import Iterable
from typing import Any

def check_ms(ms: int | None) -> int | None: ...

class Waiter:
    granted: bool
    error: BaseException | None
    cancelled: bool
    hold: Any
    holder: Any
    task: Any
    loop: Any
    since: int
    queue: WaitQueue
    def remove(self, task: object) -> None: ...

class WaitQueue:
    _line: Any
    _limit: int | None
    _since: int | None
    _counts: dict[Any, Any] | None
    _loop: Any
    def _label(self) -> str: ...
    def _holders(self) -> Iterable[Any]: ...
    def _advance(self) -> None: ...
    def _give_back(self, waiter: Waiter) -> None: ...

async def wait(queue: WaitQueue, hold: object, holder: object, ms: int | None) -> Waiter: ...
