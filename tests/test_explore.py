"""Every interleaving of small scenarios: the quick set of tests/explore. All of it: `python3 tools/dev.py explore`."""

from explore import catalogue
from explore.search import Search
from support.turns import raises

RUNTIMES = ("micropython", "cpython", "pico")  # it brings its own asyncio, so a third would show nothing new
LEFT_OUT = {"pico": "too slow on an emulated board: thousands of schedules"}
TIME_LIMIT = 240  # seconds, of a busy machine


def quick(group):
    for name, modes in catalogue.QUICK.items():
        if name.startswith(group + "."):
            for mode in modes:
                catalogue.explore(name, mode)


def test_locks():
    quick("locks")


def test_tables():
    quick("tables")


def test_deadlines():
    quick("deadlines")


def test_lazies():
    quick("lazies")


def test_looking_at_each_state_once_leaves_no_schedule_out():
    for name, mode in (("locks.early", "micropython-any"), ("deadlines.tidying", "cpython")):
        runtime, any_order = catalogue.MODES[mode]
        build, library = catalogue.scenario(name), catalogue.library(runtime)
        once = Search(build, library, any_order).run()
        again = Search(build, library, any_order, prune=False).run()
        assert once.runs < again.runs
        assert once.schedules == again.runs == again.schedules


async def _forgets(world, record, ledger, lock):
    from explore.users import LOCK

    ledger.ask(record, LOCK)
    await lock.acquire()
    ledger.enter(record, LOCK)
    await world.pause()
    # Cancelled in that pause it never comes here.
    ledger.leave(record, LOCK)
    lock.release()


def forgetful(world):
    lock = world.watch(world.library.Lock("L"))
    ledger = world.ledger()
    world.cancels = 1
    for _ in range(2):
        world.spawn(_forgets, ledger, lock)


def test_a_broken_promise_is_found_and_replayed():
    from explore.search import replay

    for mode in ("micropython", "cpython-any"):
        runtime, any_order = catalogue.MODES[mode]
        library = catalogue.library(runtime)
        failure = Search(forgetful, library, any_order).run().failure
        assert failure is not None
        assert replay(forgetful, library, failure.trace, any_order, verbose=False) == failure.problem
        assert replay(forgetful, library, "", any_order, verbose=False) is None
        raises(ValueError, replay, forgetful, library, "c7", any_order, False)


def test_the_library_in_use_is_another_one():
    import buslock.lock

    assert catalogue.library("micropython").Lock is not buslock.lock.Lock
    assert catalogue.library("cpython").Lock is not catalogue.library("micropython").Lock
