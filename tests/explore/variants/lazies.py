"""Wrong variants of Lazy."""

from .variant import Variant

VARIANTS = (
    Variant(
        "a Lazy whose callers await the shared task itself",
        [
            (
                "lazy.py",
                "return self._outcome(await wait(self._line, None, current_task(), timeout_ms))",
                "await self._task\n        return self._outcome(self._error or (self._object,))",
            ),
        ],
        "lazies.callers",
        "micropython-any",
        "task 1 ended with an error that nobody saw",
    ),
    Variant(
        "a Lazy that begins anew for every caller",
        [
            ("lazy.py", 'if self.state != "starting":', "if True:"),
        ],
        "lazies.callers",
        "cpython-any",
        "closing: thing 0 is lost",
    ),
    Variant(
        "a Lazy that raises one exception for all",
        [
            ("lazymore.py", "raise fresh(outcome)", "raise outcome"),
        ],
        "lazies.callers",
        "micropython-any",
        "error",
    ),
    Variant(
        "a Lazy that forgets what came in spite of its cancel",
        [
            (
                "lazymore.py",
                "while lazy._late is not None or lazy._object is not None:",
                "lazy._late = None\n        while lazy._object is not None:",
            ),
        ],
        "lazies.stubborn",
        "micropython-any",
        "closing",
    ),
    Variant(
        "a Lazy whose second closer does not wait",
        [
            ("lazymore.py", "while lazy._closing is not None:", "while False:"),
        ],
        "lazies.closing_twice",
        "micropython-any",
        "closing",
    ),
)
