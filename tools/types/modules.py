"""Modules and classes of the library, as view.py reads them: with their stubs, and with what loads on first use."""

import ast
from collections.abc import Iterator
from pathlib import Path

Function = ast.FunctionDef | ast.AsyncFunctionDef


class Source:
    """A module, its stub if it has one, and what is to be inserted where."""

    def __init__(self, path: Path):
        self.name = path.stem
        self.text = path.read_bytes()
        self.tree = ast.parse(self.text)
        stub = path.with_suffix(".pyi")
        self.stub = ast.parse(stub.read_bytes() if stub.exists() else b"")
        self.insertions: list[tuple[int, str]] = []
        self.header = ["from typing import Any", *header_of(self.stub)]
        self.directory: dict[str, str] = {}  # of methods that classes load: the module of each
        for node in self.tree.body:
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "METHODS":
                self.directory = homes(ast.literal_eval(node.value))
        self._starts = [0]
        for line in self.text.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))

    def start(self, node) -> int:
        return self._starts[node.lineno - 1] + node.col_offset

    def end(self, node) -> int:
        return self._starts[node.end_lineno - 1] + node.end_col_offset

    def insert(self, where: int, text: str) -> None:
        self.insertions.append((where, text))

    def annotate(self, target, type_: str) -> None:
        self.insert(self.end(target), f': "{type_}"')

    def result(self) -> bytes:
        text = self.text
        # Backwards, so that the places still to come stay where they are; what is for one place goes in order.
        left = sorted(self.insertions, key=lambda insertion: insertion[0])
        while left:
            where, new = left.pop()
            text = text[:where] + new.encode() + text[where:]
        return "".join(line + "; " for line in dict.fromkeys(self.header)).encode() + text


class Class:
    """A class with what its bases, its stub and the functions that it loads add to it."""

    def __init__(self, source: Source, node: ast.ClassDef, sources: dict[str, Source]):
        self.source, self.node, self.name = source, node, node.name
        self.stub = classes(source.stub).get(node.name) or ast.ClassDef(node.name, [], [], [], [])
        self.bases: list[Class] = []
        self.subclasses: list[Class] = []
        self.declared: dict[str, str] = {}
        self.loaded: dict[str, tuple[Source, Function | None]] = {}
        for directory in directories(node):
            for name, module in sources[directory].directory.items():
                self.loaded.setdefault(name, (sources[module], functions(sources[module].tree).get(name)))

    def bodies(self) -> Iterator[tuple[str, Function]]:
        """Its methods, each with the name of the parameter that is the object."""
        for function in functions(self.node).values():
            if parameters(function):
                yield parameters(function)[0].arg, function
        for _, function in self.loaded.values():
            if function is not None and self.is_meant_by(parameters(function)[0].arg):
                yield parameters(function)[0].arg, function

    def is_meant_by(self, name: str) -> bool:
        """Whether the first parameter of a function that it loads can be one of it: `device`, not in a session's case.

        In `me` each class that loads the function is meant.
        """
        return name == "me" or self.name.lower().endswith(name)

    def names(self) -> set[str]:
        """What it has, without what its bases have."""
        found = {*functions(self.node), *self.loaded, *self.declared, *classes(self.node)}
        for node in self.node.body:
            if isinstance(node, ast.Assign):
                found.update(ast.unparse(target) for target in node.targets)
        for me, function in self.bodies():
            found.update(attributes(function, me, ast.Store))
        return found

    def all_names(self) -> set[str]:
        return self.names().union(*(base.all_names() for base in self.bases))

    def below(self) -> set[str]:
        """What some subclass has."""
        return set().union(*(cls.names() | cls.below() for cls in self.subclasses))


def header_of(stub: ast.Module) -> list[str]:
    """What the annotations of a stub need: its imports, without classes that only stubs have, and type variables."""
    lines = []
    for node in stub.body:
        if isinstance(node, ast.ImportFrom):
            names = [alias.name for alias in node.names if not (node.level and alias.name.startswith("_"))]
            if names:
                lines.append(f"from {'.' * node.level}{node.module} import {', '.join(names)}")
        elif isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            lines.append(ast.unparse(node))
    return lines


def names_of_types(stub: ast.Module) -> set[str]:
    """The names in the annotations of a stub."""
    found = [node.annotation for node in ast.walk(stub) if isinstance(node, ast.arg | ast.AnnAssign)]
    found += [node.returns for node in ast.walk(stub) if isinstance(node, Function)]
    inside = [node for annotation in found if annotation is not None for node in ast.walk(annotation)]
    return {node.id for node in inside if isinstance(node, ast.Name)}


def functions(scope) -> dict[str, Function]:
    """By name; those with several signatures, or a setter, are left out."""
    found = [node for node in scope.body if isinstance(node, Function)]
    names = [node.name for node in found]
    return {node.name: node for node in found if names.count(node.name) == 1}


def classes(scope) -> dict[str, ast.ClassDef]:
    return {node.name: node for node in scope.body if isinstance(node, ast.ClassDef)}


def parameters(function: Function) -> list[ast.arg]:
    a = function.args
    return [arg for arg in (*a.posonlyargs, *a.args, a.vararg, *a.kwonlyargs, a.kwarg) if arg is not None]


def attributes(function: Function, me: str, context) -> set[str]:
    """Names of attributes of the object `me` that the function sets (ast.Store) or uses (ast.Load)."""
    return {
        node.attr
        for node in ast.walk(function)
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, context) and ast.unparse(node.value) == me
    }


def homes(directory: str) -> dict[str, str]:
    """The module of each name in "module name name ,module name "."""
    return {name: module for module, *names in (line.split() for line in directory.split(",")) for name in names}


def directories(cls: ast.ClassDef) -> tuple[str, ...]:
    """The modules that tell where the methods of a class are: in `_directories`, or in its call of rare()."""
    for node in ast.walk(cls):
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "_directories":
            return ast.literal_eval(node.value)
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "rare" and isinstance(node.args[-1], ast.Tuple):
            return ast.literal_eval(node.args[-1])
    return ()


def family(sources: dict[str, Source]) -> list[Class]:
    """All classes, with their bases and subclasses."""
    found = {}
    for source in sources.values():
        for name, node in classes(source.tree).items():
            found[source.name, name] = Class(source, node, sources)
    for (module, _), cls in found.items():
        homes = {
            alias.name: node.module
            for node in sources[module].tree.body
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        }
        for name in [ast.unparse(base) for base in cls.node.bases]:
            base = found.get((homes.get(name, module), name))
            if base is not None:
                cls.bases.append(base)
                base.subclasses.append(cls)
    return list(found.values())
