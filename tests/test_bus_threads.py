"""A bus and the loops of two threads, which only CPython can run at the same time (G5, B9)."""

import asyncio

from i2c_rig import A, Rig, cancel, in_thread, use_key
from support.turns import turns

CLOCK = "virtual"
RUNTIMES = ("cpython",)


async def test_another_threads_loop_is_refused():
    """A second thread with a loop of its own cannot use the bus of a loop that runs, with and without debug."""
    for debug in (False, True):
        for shape in ("rp2", "blinka"):
            rig = Rig(shape)
            rig.bus.debug = debug
            device = rig.bus.device(A)
            await device.read_register(0, 1)
            task = asyncio.create_task(use_key(device, 20))
            await turns()
            for make in (
                lambda: device.read_register(0, 1),
                lambda: device.read_register(0, 1, timeout_ms=5),
                lambda: rig.bus.scan(),
                lambda: device.probe(),
                lambda: use_key(device, 0),
                lambda: rig.bus.recover(),
                lambda: rig.bus.aclose(),
            ):

                async def elsewhere():
                    return await make()

                error = in_thread(lambda: asyncio.run(elsewhere()))
                assert isinstance(error, RuntimeError), error
                assert "thread" in str(error)
            await cancel(task)
            assert await device.read_register(1, 1) == b"\x01"
            rig.check()
