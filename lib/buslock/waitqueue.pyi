from collections.abc import Iterable
from typing import Any

def check_ms(ms: int | None) -> int | None: ...

class Waiter:
    is_hold: bool
    outcome: Any
    error: BaseException | None
    holder: Any
    behind: Any
    task: Any
    queue: WaitQueue
    def remove(self, task: object) -> None: ...

class WaitQueue:
    table: Any
    _line: Any
    _limit: int | None
    _since: int | None
    _counts: dict[Any, Any] | None
    _before: int | None
    _trace: Any
    _loop: Any
    def _label(self) -> str: ...
    def _holders(self) -> Iterable[Any]: ...
    def _advance(self) -> None: ...
    def _give_back(self, waiter: Waiter) -> None: ...

WAITS: int
LONGEST: int
PEAK: int
HOLD: int

def waiter_of(task: object) -> Any: ...
def grant(queue: WaitQueue) -> Any: ...
async def wait(queue: WaitQueue, hold: Any, holder: object, ms: int | None) -> Any: ...
