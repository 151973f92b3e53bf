"""Who uses the wire: the current asyncio task, else the current thread."""

import sys

try:
    from _thread import get_ident
except ImportError:  # no threads on this port

    def get_ident():
        return None


_home = get_ident()


def current():
    """The current task; None in the main program; a thread's number in another thread."""
    # asyncio is not imported for this: a program that has none runs no tasks.
    core = sys.modules.get("asyncio.core")
    if core is not None:
        task = core.cur_task
    else:
        asyncio = sys.modules.get("asyncio")
        try:
            task = asyncio.current_task() if asyncio else None
        except RuntimeError:
            task = None
    if task is not None:
        return task
    thread = get_ident()
    return None if thread == _home else thread


def name_of(user):
    """A short name for the transcript, or None."""
    if user is None or isinstance(user, str):
        return user
    if hasattr(user, "get_name"):
        return user.get_name()
    if hasattr(user, "coro"):
        # MicroPython's tasks have no names, but their coroutine's repr tells the function.
        text = repr(user.coro)
        parts = text.split("'")
        return parts[1] if len(parts) > 1 else text
    return str(user)
