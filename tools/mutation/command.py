"""The command `mutate`: wrong copies of the lock code, one small change each, which the tests must notice."""

import argparse
import compileall
import json
import os
import shutil
import subprocess
import time
from pathlib import Path

from tools import environment, testfile

HELP = """Changes one operator, name, number, text or argument of a module at a time (by mutmut's operators) and runs the
tests of the module and the quick explorer on CPython, in build/mutation. Prints how many mutants were killed, and those
that survived. tests/mutants.md says of survivors why nobody could tell them from the original; the others are an error
if they are more than 5 %."""
UNIT = ("messages", "waitqueue", "lock", "table", "timeouts", "lazy", "rt")
MORE = ("asyncio_traps", "loops", "holds", "random", "explore_sessions", "explore", "shards", "stats", "trace", "traced_i2c")
# module: the tests that are most likely to notice, which come first
MODULES = {
    "waitqueue": ("waitqueue", "lock", "table"),
    "lock": ("lock",),
    "lockhold": ("lock",),
    "holding": ("lock", "table"),
    "table": ("table",),
    "tablemore": ("table",),
    "gate": ("table",),
    "timeouts": ("timeouts",),
    "lazy": ("lazy",),
    "lazymore": ("lazy",),
    "_rt_cpython": ("rt", "timeouts"),
}
FOLDER = environment.ROOT / "build" / "mutation"
REASONS = environment.ROOT / "tests" / "mutants.md"
LEAST = 0.95  # of the mutants are killed


def add_arguments(parser):
    parser.add_argument("module", nargs="*", choices=[[], *MODULES], help=argparse.SUPPRESS)
    parser.add_argument(
        "--survivors", action="store_true", help="only those again that survived the last time without a reason"
    )
    parser.usage = f"tools/dev.py mutate [--survivors] [{'|'.join(MODULES)} ...]"


def run(args) -> int:
    environment.ensure("dev", "proof")
    chosen = args.module or list(MODULES)
    FOLDER.mkdir(parents=True, exist_ok=True)
    listed = _listed(chosen)
    accepted = REASONS.read_text(encoding="utf-8") if REASONS.exists() else ""
    if args.survivors:
        listed = {
            module: [m for m in mutants if _was_survivor(module, m) and not _is_explained(module, m, accepted)]
            for module, mutants in listed.items()
        }
    start = time.monotonic()
    outcomes = _try(listed)
    total = killed = explained = 0
    for module, mutants in listed.items():
        survivors = [m for m, outcome in zip(mutants, outcomes[module], strict=True) if not outcome["killed"]]
        if not args.survivors:
            (FOLDER / f"{module}.json").write_text(json.dumps([[m["old"], m["new"]] for m in survivors]))
        hanging = sum("hangs" in outcome.get("by", "") for outcome in outcomes[module])
        reasons = sum(_is_explained(module, m, accepted) for m in survivors)
        total += len(mutants)
        killed += len(mutants) - len(survivors)
        explained += reasons
        print(
            f"{module:12} {len(mutants):4} mutants, {len(mutants) - len(survivors):4} killed ({hanging} of them hang), "
            f"{len(survivors)} survive ({reasons} explained)"
        )
        for mutant in survivors:
            if not _is_explained(module, mutant, accepted):
                print(f"    {module}.py:{mutant['line']}: `{mutant['old']}` -> `{mutant['new']}`")
    print(f"{killed} of {total} killed, {100 * killed / max(total, 1):.1f} % ({time.monotonic() - start:.0f} s)")
    return 0 if args.survivors or killed >= LEAST * (total - explained) else 1


def _is_explained(module: str, mutant: dict, accepted: str) -> bool:
    return f"- {module} `{mutant['old']}` -> `{mutant['new']}`" in accepted


def _was_survivor(module: str, mutant: dict) -> bool:
    path = FOLDER / f"{module}.json"
    return [mutant["old"], mutant["new"]] in (json.loads(path.read_text()) if path.exists() else [])


def _listed(modules: list[str]) -> dict[str, list[dict]]:
    library = environment.ROOT / "lib" / "buslock"
    command = [str(environment.python()), "-m", "tools.mutation.listing"]
    path = f"{environment.FOLDERS['proof']}:{environment.ROOT}"
    (FOLDER / "setup.cfg").write_text("[mutmut]\nsource_paths=lib\n")  # mutmut must be told, though nothing uses it
    done = subprocess.run(
        [*command, *(str(library / f"{module}.py") for module in modules)],
        cwd=FOLDER,
        env={**os.environ, "PYTHONPATH": path},
        stdout=subprocess.PIPE,
        check=True,
    )
    return json.loads(done.stdout)


def _tests(module: str) -> list[dict]:
    names = dict.fromkeys((*MODULES[module], *UNIT, *MORE))
    files = [testfile.read(environment.ROOT / "tests" / f"test_{name}.py") for name in names]
    return [
        {"module": f.name, "clock": f.clock, "names": [name for name in f.tests if not f.is_slow(name)]} for f in files
    ]


def _try(listed: dict[str, list[dict]]) -> dict[str, list[dict]]:
    """The outcome of each mutant."""
    work = FOLDER / "+".join(listed)  # more than one of these commands may run
    shutil.rmtree(work, ignore_errors=True)
    copy = work / "lib"
    shutil.copytree(
        environment.ROOT / "lib" / "buslock", copy / "buslock", ignore=shutil.ignore_patterns("__pycache__")
    )
    compileall.compile_dir(copy, quiet=2)
    # So that nobody who works on the tests meanwhile kills or saves a mutant.
    tests = work / "tests"
    shutil.copytree(environment.ROOT / "tests", tests, ignore=shutil.ignore_patterns("__pycache__", "host", "drivers"))
    compileall.compile_dir(tests, quiet=2)
    for module in listed:  # its compiled form would be taken for that of the mutant
        for stale in (copy / "buslock" / "__pycache__").glob(f"{module}.*"):
            stale.unlink()
    manifest = work / "manifest.json"
    manifest.write_text(json.dumps({m: {"tests": _tests(m), "mutants": mutants} for m, mutants in listed.items()}))
    return _followed(copy, manifest, listed)


def _followed(copy: Path, manifest: Path, listed: dict[str, list[dict]]) -> dict[str, list[dict]]:
    outcomes: dict[str, list[dict]] = {module: [] for module in listed}
    process = subprocess.Popen(
        [str(environment.python()), "-m", "tools.mutation.trial", str(copy), str(manifest)],
        cwd=environment.ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    with process:
        for line in process.stdout:
            outcome = json.loads(line)
            done = outcomes[outcome["module"]]
            done.append(outcome)
            if len(done) % 20 == 0:
                environment.say(f"{outcome['module']}: {len(done)} of {len(listed[outcome['module']])}")
    if process.returncode:
        raise SystemExit("the tests must pass before mutants are tried")
    return outcomes
