"""`_rt.DONE` and `_rt.given` for the VM that runs the explorer, whichever runtime it models."""

import sys

if sys.implementation.name == "cpython":

    class _Done:
        def __await__(self):
            return iter(())

    DONE = _Done()

    class given:
        def __init__(self, result):
            self._result = result

        def __await__(self):
            return self._result
            yield

else:
    DONE = iter(())

    async def given(result):
        return result
