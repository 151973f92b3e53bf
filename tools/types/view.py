"""Writes the library's sources with the types of its stubs in them, for the type checker to check the sources.

    python -m tools.types.view FOLDER

A checker that finds a stub beside a source looks at the one or the other, never at both. In FOLDER/buslock each source
has the annotations that its stub gives to parameters, results and attributes, and each class has the methods that it
loads on first use. All insertions are within lines, so that the line numbers stay.
"""

import ast
import shutil
import sys
from pathlib import Path

LIBRARY = Path(__file__).resolve().parents[2] / "lib" / "buslock"


class Source:
    """A module, its stub if it has one, and what is to be inserted where."""

    def __init__(self, path: Path):
        self.name = path.stem
        self.text = path.read_bytes()
        self.tree = ast.parse(self.text)
        stub = path.with_suffix(".pyi")
        self.stub = ast.parse(stub.read_bytes() if stub.exists() else b"")
        self.edits: list[tuple[int, int, str]] = []
        self._starts = [0]
        for line in self.text.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))

    def at(self, node, end: bool = True) -> int:
        line, column = (node.end_lineno, node.end_col_offset) if end else (node.lineno, node.col_offset)
        return self._starts[line - 1] + column

    def insert(self, where: int, text: str, instead_of: int = 0) -> None:
        self.edits.append((where, instead_of, text))

    def methods(self) -> tuple[str, ...]:
        """The functions that classes load from here."""
        for node in self.tree.body:
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "METHODS":
                return ast.literal_eval(node.value)
        return ()

    def header(self) -> list[str]:
        """What the annotations of the stub need: its imports and its type variables."""
        lines = []
        for node in self.stub.body:
            if isinstance(node, ast.ImportFrom):
                # Classes that are only in stubs have private names.
                names = [alias.name for alias in node.names if not (node.level and alias.name.startswith("_"))]
                if names:
                    lines.append(f"from {'.' * node.level}{node.module} import {', '.join(names)}")
            elif isinstance(node, ast.Assign | ast.Import):
                lines.append(ast.unparse(node))
        return lines

    def result(self) -> bytes:
        text = self.text
        for where, length, new in sorted(self.edits, key=lambda edit: edit[0], reverse=True):
            text = text[:where] + new.encode() + text[where + length :]
        return text


def functions(body) -> dict[str, ast.FunctionDef | ast.AsyncFunctionDef]:
    """By name; those with several signatures are left out."""
    found = [node for node in body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    names = [node.name for node in found]
    return {node.name: node for node in found if names.count(node.name) == 1}


def classes(body) -> dict[str, ast.ClassDef]:
    return {node.name: node for node in body if isinstance(node, ast.ClassDef)}


def parameters(function) -> list[ast.arg]:
    a = function.args
    return [arg for arg in (*a.posonlyargs, *a.args, a.vararg, *a.kwonlyargs, a.kwarg) if arg is not None]


def annotate(source: Source, function, stub, first: str | None = None) -> None:
    """The parameters by name, and the result; `first` is the type of the first parameter."""
    known = {arg.arg: ast.unparse(arg.annotation) for arg in parameters(stub) if arg.annotation} if stub else {}
    own = parameters(function)
    if first is not None:
        known[own[0].arg] = first
    for arg in own:
        if arg.annotation is None and arg.arg in known:
            source.insert(source.at(arg), f': "{known[arg.arg]}"')
    if stub is not None and stub.returns is not None and function.returns is None:
        inside = [*own, *function.args.defaults, *(d for d in function.args.kw_defaults if d is not None)]
        start = max((source.at(node) for node in inside), default=source.text.index(b"(", source.at(function, False)))
        source.insert(source.text.index(b")", start) + 1, f' -> "{ast.unparse(stub.returns)}"')


def declare(source: Source, cls: ast.ClassDef, name: str, type_: str) -> None:
    """An attribute: where the class gives its value, else where a method does, else at the head of the class."""
    bodies = [cls.body, *(function.body for function in functions(cls.body).values())]
    for body, target in zip(bodies, [name, *["self." + name] * len(bodies)], strict=False):
        for node in [inner for outer in body for inner in ast.walk(outer)] if body is not cls.body else body:
            if isinstance(node, ast.Assign) and len(node.targets) == 1 and ast.unparse(node.targets[0]) == target:
                source.insert(source.at(node.targets[0]), f': "{type_}"')
                return
    source.insert(source.at(cls.body[0]), f'; {name}: "{type_}"')


def loaded_by(cls: ast.ClassDef) -> tuple[str, ...]:
    """The modules from which the class loads methods on first use."""
    for node in ast.walk(cls):
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "_modules":
            return ast.literal_eval(node.value)
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "rare" and isinstance(node.args[-1], ast.Tuple):
            return ast.literal_eval(node.args[-1])
    return ()


def merge(sources: dict[str, Source]) -> None:
    everything = {(s.name, cls.name): cls for s in sources.values() for cls in classes(s.stub.body).values()}
    stubs = {name: cls for (_, name), cls in everything.items()}
    users: dict[str, list[tuple[Source, ast.ClassDef]]] = {}
    for source in sources.values():
        for name, function in functions(source.tree.body).items():
            stub = functions(source.stub.body).get(name)
            if stub is not None:
                annotate(source, function, stub)
        for name, cls in classes(source.tree.body).items():
            stub_class = classes(source.stub.body).get(name)
            if stub_class is not None:
                merge_class(source, cls, stub_class)
            taken: set[str] = set()
            for module in loaded_by(cls):
                users.setdefault(module, []).append((source, cls))
                names = [name for name in sources[module].methods() if name not in taken]
                taken.update(names)
                source.insert(source.at(cls.body[0]), f"; from .{module} import {', '.join(names)}")
            if taken:
                for function in cls.body:
                    if isinstance(function, ast.FunctionDef) and function.name == "__getattr__":
                        source.insert(source.at(function, False), "def __getatt__", len("def __getattr__"))
    for module, having in users.items():
        merge_loaded(sources[module], having, stubs)
    for source in sources.values():
        header = [*dict.fromkeys(source.header())]
        for home, cls in users.get(source.name, ()):
            header += [*home.header(), f"from .{home.name} import {cls.name}"]
        source.insert(0, "".join(line + "; " for line in dict.fromkeys(header)))


def merge_class(source: Source, cls: ast.ClassDef, stub: ast.ClassDef) -> None:
    ours = functions(cls.body)
    for name, function in functions(stub.body).items():
        if name in ours:
            annotate(source, ours[name], function)
    for node in stub.body:
        if isinstance(node, ast.AnnAssign):
            declare(source, cls, ast.unparse(node.target), ast.unparse(node.annotation))
    for base in stub.bases:
        if isinstance(base, ast.Subscript):
            same = [own for own in cls.bases if ast.unparse(own) == ast.unparse(base.value)]
            if same:
                source.insert(source.at(same[0]), ast.unparse(base)[len(ast.unparse(base.value)) :])
            elif cls.bases:
                source.insert(source.at(cls.bases[-1]), ", " + ast.unparse(base))
            else:
                name_end = source.at(cls, False) + len(f"class {cls.name}")
                source.insert(name_end, f"({ast.unparse(base)})")


def merge_loaded(source: Source, having, stubs: dict[str, ast.ClassDef]) -> None:
    """Functions that become methods: their first parameter is one of the classes that load them."""
    own = functions(source.stub.body)
    names = [cls.name for _, cls in having]
    # A subclass that names the same module inherits them.
    tops = [cls for _, cls in having if not any(ast.unparse(base) in names for base in cls.bases)]
    for name, function in functions(source.tree.body).items():
        if name in source.methods() and name not in own:
            first = parameters(function)[0].arg
            types = [cls.name for cls in tops if cls.name.lower().endswith(first)] or [cls.name for cls in tops]
            found = None
            for cls in tops:
                found = found or method_of(cls.name, name, stubs)
            annotate(source, function, found, " | ".join(types))


def method_of(cls: str, name: str, stubs: dict[str, ast.ClassDef]):
    """The method in the stub of the class or of its bases."""
    stub = stubs.get(cls)
    if stub is None:
        return None
    found = functions(stub.body).get(name)
    for base in stub.bases:
        found = found or method_of(ast.unparse(base), name, stubs)
    return found


def main() -> int:
    folder = Path(sys.argv[1]) / "buslock"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    sources = {path.stem: Source(path) for path in sorted(LIBRARY.glob("*.py"))}
    runtime = [name for name in sources if name.startswith("_rt")]
    for name in runtime:
        del sources[name]
    merge(sources)
    for name, source in sources.items():
        (folder / f"{name}.py").write_bytes(source.result())
    for name in ("_rt.pyi", "peripherals.pyi"):
        shutil.copy(LIBRARY / name, folder / name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
