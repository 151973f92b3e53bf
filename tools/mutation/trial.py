"""Tries mutants with tests, on CPython: `python -m tools.mutation.trial FOLDER MANIFEST`, one line of JSON for each.

FOLDER holds a copy of the library; beside it, `tests` is one of the tests. MANIFEST is
{module: {"tests": [...], "mutants": [...]}}. For every mutant the copy is changed, and each file of tests runs in a fork of
this process, until one of its tests fails: the mutant is killed.
"""

import contextlib
import gc
import json
import os
import resource
import signal
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
# What the tests import and the library does not: loaded once for all. Nothing here may import the library.
SHARED = ("asyncio", "threading", "warnings", "traceback", "inspect", "selectors", "random", "json")
MEMORY = 1 << 30  # bytes, for those that never stop to allocate
WALL_S = 120.0  # for those that wait; the busy ones are told by the processor time they use
KILLED, SURVIVED, HANGS, WAITS = 1, 0, 2, 3


def main(folder: Path, manifest: Path) -> None:
    sys.dont_write_bytecode = True
    sys.path[:0] = [str(folder), str(folder.parent / "tests"), str(ROOT / "lib"), str(ROOT)]
    for name in SHARED:
        __import__(name)
    gc.freeze()
    for module, work in json.loads(manifest.read_text()).items():
        path = folder / "buslock" / f"{module}.py"
        original = path.read_text(encoding="utf-8")
        limits = {}
        for test in work["tests"]:
            used = _cpu_s()
            log = folder / f"{test['module']}.log"
            with open(log, "wb") as output:
                if _try(test, (WALL_S, 120), output.fileno()) != SURVIVED:
                    sys.exit(f"{test['module']} fails without any mutant, see {log}")
            limits[test["module"]] = (WALL_S, 2 + int(4 * (_cpu_s() - used)))
        for number, mutant in enumerate(work["mutants"]):
            path.write_text(mutant["source"], encoding="utf-8")
            try:
                print(json.dumps({"module": module, "number": number, **_outcome(work["tests"], limits)}), flush=True)
            finally:
                path.write_text(original, encoding="utf-8")


def _cpu_s() -> float:
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime


def _outcome(tests: list[dict], limits: dict[str, tuple[float, int]]) -> dict:
    for test in tests:
        how = _try(test, limits[test["module"]])
        if how == WAITS:  # for ever, or because the machine was busy with something else
            how = _try(test, limits[test["module"]])
        if how != SURVIVED:
            return {"killed": True, "by": test["module"] + (" (hangs)" if how in (HANGS, WAITS) else "")}
    return {"killed": False}


def _try(test: dict, limits: tuple[float, int], output: int | None = None) -> int:
    """Runs one file of tests in a fork. `limits`: seconds by the clock and of the processor."""
    limit, cpu = limits
    child = os.fork()
    if not child:
        status = KILLED
        try:
            _silence(output)
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
            resource.setrlimit(resource.RLIMIT_CPU, (cpu, cpu + 1))
            status = KILLED if _fails(test) else SURVIVED
        except BaseException as e:
            os.write(1, f"{type(e).__name__}: {e}\n".encode())
        finally:
            os._exit(status)
    deadline = time.monotonic() + limit
    pause = 0.002
    while time.monotonic() < deadline:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGXCPU:
                return HANGS
            return SURVIVED if status == 0 else KILLED
        time.sleep(pause)
        pause = min(0.05, pause * 1.5)
    with contextlib.suppress(ProcessLookupError):
        os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return WAITS


def _silence(output: int | None) -> None:
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null if output is None else output, 1)
    os.dup2(null if output is None else output, 2)


def _fails(test: dict) -> bool:
    """Whether one of the tests fails; the rest is not run then."""
    import runner
    from support import loop, outcome

    module = runner.load(test["module"], test["clock"])
    for name in test["names"]:
        try:
            complaints = loop.run(getattr(module, name))
        except outcome.Skip:
            continue
        except BaseException as e:
            print(f"{test['module']}.{name}: {type(e).__name__}: {e}", flush=True)
            return True
        if complaints:
            print(f"{test['module']}.{name}: {complaints}", flush=True)
            return True
    return False


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
