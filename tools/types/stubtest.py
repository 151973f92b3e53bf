"""Compares the stubs of lib/buslock with what the modules have on CPython: names, parameters, defaults, async or not.

Methods that a class loads on first use are loaded before, so that they are compared like any other.
"""

import importlib
import re
import sys
from pathlib import Path

from mypy import stubtest
from mypy.options import Options

from tools.types.modules import homes

LIB = Path(__file__).resolve().parents[2] / "lib"
# Where a stub knowingly says something else than the module, and why.
ALLOWED = {
    r"buslock\..*\.(held|keys|waiters) is not present at runtime": "answered by __getattr__, which is cheaper there",
    r"buslock\.transaction\.Transaction\..* is not present at runtime": "its __getattr__ queues what the stub names",
    r"buslock\.waitqueue\.WaitQueue\._.* is not present at runtime": "what is left to subclasses",
    r"buslock\.bus\.Bus\.call is not present at runtime": "it is found with _end_call, which each kind of bus has its own of",
    r"buslock\._rt\..* is .*": "the stub says what the runtimes have in common; each does it in its own way",
}


def main() -> int:
    sys.path.insert(0, str(LIB))
    stubs = sorted((LIB / "buslock").glob("*.pyi"))
    names = [_name(path) for path in stubs if path.with_suffix(".py").exists()]
    load_rare([importlib.import_module(name) for name in names])
    options = Options()
    options.incremental = False
    options.mypy_path = [str(LIB)]
    try:
        stubtest.build_stubs(names, options)
    except stubtest.StubtestFailure as failure:
        print(failure)
        return 1
    exported = exported_names()
    package = stubtest.get_stub("buslock")
    known = set() if package is None else set(package.names)
    said = [f"buslock.{name} is not present in stub" for name in exported if name not in known]
    unused = set(ALLOWED)
    for name in names:
        for error in stubtest.test_module(name):
            if is_inside(error, error.object_desc.removeprefix(name).split(".")[1:], exported):
                continue
            allowed = {text for text in ALLOWED if re.match(text, f"{error.object_desc} {error.message}")}
            unused -= allowed
            if not allowed:
                said.append(error.get_description(concise=True))
    said += [f"{text}: allowed in tools/types/stubtest.py, but does not occur" for text in sorted(unused)]
    print("\n".join([*said, f"{len(names)} stubs, {len(said)} differences"]))
    return 1 if said else 0


def is_inside(error, path: list[str], exported: list[str]) -> bool:
    """Whether it concerns the library alone: `path` is the name within the module."""
    if error.is_private_type_check_only_related() or 'parameter "self" differs' in error.message:
        return True
    if error.is_missing_stub() and len(path) == 1:
        return True  # a function or class of which the users hear nothing
    return path[1:] == ["__init__"] and path[0] not in exported  # only the library makes such an object


def exported_names() -> list[str]:
    """What `from buslock import NAME` finds."""
    directory = homes(vars(importlib.import_module("buslock"))["_HOMES"])
    return [name for name, module in directory.items() if (LIB / "buslock" / f"{module}.py").exists()]


def load_rare(modules) -> None:
    """Has each class load all its methods, as a first use of each would."""
    rare = []
    for path in sorted((LIB / "buslock").glob("*.py")):
        if re.search(r"^METHODS = ", path.read_text(encoding="utf-8"), re.MULTILINE):
            rare += homes(importlib.import_module(_name(path)).METHODS)
    for module in modules:
        for cls in list(vars(module).values()):
            found = getattr(cls, "__getattr__", None)
            if isinstance(cls, type) and found is not None and "rare" in found.__code__.co_names:
                bare = object.__new__(cls)
                for name in rare:
                    getattr(bare, name, None)


def _name(path: Path) -> str:
    return "buslock" if path.stem == "__init__" else f"buslock.{path.stem}"


if __name__ == "__main__":
    sys.exit(main())
