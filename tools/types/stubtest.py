"""Compares the stubs of lib/buslock with what the modules have on CPython: names, parameters, defaults, async or not.

Methods that a class loads on first use are loaded before, so that they are compared like any other.
"""

import importlib
import re
import sys
from pathlib import Path

from mypy import stubtest
from mypy.options import Options

LIB = Path(__file__).resolve().parents[2] / "lib"
STUB_ONLY = ("buslock.peripherals",)
# Where a stub knowingly says something else than the module, and why.
ALLOWED = {
    r"buslock\.holding\.Hold\.keys": "each kind of hold has its own",
    r"buslock\.tablemore\.ManyHold\.keys": "a plain attribute there",
    r"buslock\.groups\.Grouped\..*": "its __getattr__ makes them of those of the session",
    r"buslock\.waitqueue\.WaitQueue\._.*": "what is left to subclasses",
    r"buslock\._rt\..*": "the stub says what the runtimes have in common; each does it in its own way",
}


def main() -> int:
    sys.path.insert(0, str(LIB))
    names = [_name(path) for path in sorted((LIB / "buslock").glob("*.pyi"))]
    names = [name for name in names if name not in STUB_ONLY]
    load_rare([importlib.import_module(name) for name in names])
    options = Options()
    options.incremental = False
    options.mypy_path = [str(LIB)]
    bad = 0
    unused = set(ALLOWED)
    try:
        stubtest.build_stubs(names, options)
    except stubtest.StubtestFailure as failure:
        print(failure)
        return 1
    for name in names:
        for error in stubtest.test_module(name):
            if error.is_private_type_check_only_related() or 'parameter "self" differs' in error.message:
                continue
            if error.is_missing_stub() and error.object_desc.count(".") == 2:
                continue  # inside a module are functions and classes that are nobody else's business
            allowed = {text for text in ALLOWED if re.fullmatch(text, error.object_desc)}
            unused -= allowed
            if not allowed:
                print(error.get_description(concise=True))
                bad += 1
    for text in unused:
        print(f"tools/types/stubtest.py allows {text}, which does not occur")
    print(f"{len(names)} stubs, {bad} differences")
    return 1 if bad or unused else 0


def load_rare(modules) -> None:
    """Has each class load all its methods, as a first use of each would."""
    rare = []
    for path in sorted((LIB / "buslock").glob("*.py")):
        if re.search(r"^METHODS = ", path.read_text(encoding="utf-8"), re.MULTILINE):
            rare += importlib.import_module(_name(path)).METHODS
    for module in modules:
        for cls in list(vars(module).values()):
            if isinstance(cls, type) and hasattr(cls, "__getattr__"):
                bare = cls.__new__(cls)
                for name in rare:
                    getattr(bare, name, None)


def _name(path: Path) -> str:
    return "buslock" if path.stem == "__init__" else f"buslock.{path.stem}"


if __name__ == "__main__":
    sys.exit(main())
