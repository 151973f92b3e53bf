"""`_rt.DONE`, `_rt.given` and `_rt.Given` for the VM that runs the explorer, whichever runtime it models."""

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

    Given = given

else:
    DONE = iter(())

    async def given(result):
        return result

    Given = type((lambda: (yield))())
