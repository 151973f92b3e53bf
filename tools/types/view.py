"""Writes the library's sources with the types of its stubs in them, so that the type checker can check the sources.

A checker that finds a stub beside a source believes the stub and guesses about the source. In what is written here
each source has the annotations that the stubs give to its parameters, results and attributes, and each class has the
methods that it loads on first use. Where no stub says anything, an attribute that begins as None may become anything,
and what a base class leaves to its subclasses is taken to be there if one of them has it. All of that is inserted
within lines, so that line numbers stay.
"""

import ast
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

LIBRARY = Path(__file__).resolve().parents[2] / "lib" / "buslock"
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
        self.loaded: tuple[str, ...] = ()  # the functions that classes load from here
        for node in self.tree.body:
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "METHODS":
                self.loaded = ast.literal_eval(node.value)
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
        for module in loaded_modules(node):
            known = functions(sources[module].tree)
            for name in sources[module].loaded:
                self.loaded.setdefault(name, (sources[module], known.get(name)))

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


def loaded_modules(cls: ast.ClassDef) -> tuple[str, ...]:
    """The modules that a class names as homes of methods: in `_modules`, or in its call of rare()."""
    for node in ast.walk(cls):
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "_modules":
            return ast.literal_eval(node.value)
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "rare" and isinstance(node.args[-1], ast.Tuple):
            return ast.literal_eval(node.args[-1])
    return ()


def annotate(source: Source, function: Function, stub: Function | None, first: str | None = None) -> None:
    """Parameters by name, and the result; `first` is the type of the first parameter."""
    own = parameters(function)
    known = {} if stub is None else {arg.arg: arg.annotation for arg in parameters(stub) if arg.annotation is not None}
    types = {name: ast.unparse(type_) for name, type_ in known.items()}
    if first is not None:
        types[own[0].arg] = first
    for arg in own:
        if arg.annotation is None and arg.arg in types:
            source.annotate(arg, types[arg.arg])
    if stub is not None and stub.returns is not None and function.returns is None:
        inside = [*own, *function.args.defaults, *(value for value in function.args.kw_defaults if value is not None)]
        after = max([source.end(node) for node in inside], default=source.text.index(b"(", source.start(function)))
        source.insert(source.text.index(b")", after) + 1, f' -> "{ast.unparse(stub.returns)}"')


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


def merge(sources: dict[str, Source]) -> None:
    everything = family(sources)
    for source in sources.values():
        stubs = functions(source.stub)
        for name, function in functions(source.tree).items():
            if name in stubs:
                annotate(source, function, stubs[name])
        for node in ast.walk(source.tree):
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and is_open(node.value):
                source.annotate(node.targets[0], "list[Any]")
    for cls in everything:
        merge_stub(cls)
    named = set().union(*(names_of_types(source.stub) for source in sources.values()))
    for cls in everything:
        used = set().union(*(attributes(function, me, ast.Load) for me, function in cls.bodies()))
        # What is typed as the base class may be used as any of the others; one that only lends methods is not.
        left_out = cls.below() if cls.name in named else cls.below() & used
        for name in sorted(set(functions(cls.stub)) | left_out):
            if not name.startswith("__") and name not in cls.all_names():
                cls.declared[name] = "Any"
        for me, function in cls.bodies():
            if me != "self":
                own = functions(cls.node)
                inherited = set().union(*(base.all_names() for base in cls.bases))
                for name in attributes(function, me, ast.Store) - inherited:
                    if name not in own and not has_value(cls, name):
                        cls.declared.setdefault(name, "Any")
    for source in sources.values():
        for name in source.loaded:
            merge_loaded(source, name, [cls for cls in everything if cls.loaded.get(name, (None,))[0] is source])
    for cls in everything:
        write_head(cls)


def has_value(cls: Class, name: str) -> bool:
    """Whether the class or one of its own methods gives the attribute a value."""
    for node in cls.node.body:
        if isinstance(node, ast.Assign) and name in [ast.unparse(target) for target in node.targets]:
            return True
    return any(name in attributes(function, "self", ast.Store) for function in functions(cls.node).values())


def merge_stub(cls: Class) -> None:
    """The types of methods and attributes, and of those that begin as None."""
    own = functions(cls.node)
    for name, stub in functions(cls.stub).items():
        if name in own:
            annotate(cls.source, own[name], stub)
    types = {
        ast.unparse(node.target): ast.unparse(node.annotation)
        for node in cls.stub.body
        if isinstance(node, ast.AnnAssign)
    }
    first = {ast.unparse(node.targets[0]): node for node in reversed(assignments(cls))}
    for target, node in first.items():
        name = target.removeprefix("self.")
        if name in types:
            cls.source.annotate(node.targets[0], types.pop(name))
        elif ast.unparse(node.value) in ("None", "()") or is_open(node.value):
            cls.source.annotate(node.targets[0], "Any")
    cls.declared.update(types)
    for base in cls.stub.bases:
        if isinstance(base, ast.Subscript):
            merge_base(cls, ast.unparse(base.value), ast.unparse(base.slice))


def is_open(value) -> bool:
    """[None] or [None] * n: a list that will hold other things too."""
    return ast.unparse(value).startswith("[None]")


def assignments(cls: Class) -> list[ast.Assign]:
    """Those to a single attribute, in the class and in its methods."""
    found = [node for node in cls.node.body if isinstance(node, ast.Assign)]
    for function in functions(cls.node).values():
        found += [node for node in ast.walk(function) if isinstance(node, ast.Assign)]
    names = [ast.unparse(node.targets[0]) for node in found]
    in_class = [name for name, node in zip(names, found, strict=True) if node in cls.node.body]
    return [
        node
        for name, node in zip(names, found, strict=True)
        if len(node.targets) == 1
        and (node in cls.node.body or (name.startswith("self.") and name.removeprefix("self.") not in in_class))
        and name.removeprefix("self.").isidentifier()
    ]


def merge_base(cls: Class, base: str, parameter: str) -> None:
    """A generic base: the stub says of what."""
    source = cls.source
    same = [node for node in cls.node.bases if ast.unparse(node) == base]
    if same:
        source.insert(source.end(same[0]), f"[{parameter}]")
    elif cls.node.bases:
        source.insert(source.end(cls.node.bases[-1]), f", {base}[{parameter}]")
    else:
        source.insert(source.start(cls.node) + len(f"class {cls.name}"), f"({base}[{parameter}])")


def merge_loaded(source: Source, name: str, having: list[Class]) -> None:
    """A function that is loaded as a method: its first parameter is one of the classes that load it."""
    function = functions(source.tree).get(name)
    if function is None or name in functions(source.stub) or not having:
        return
    tops = [cls for cls in having if not any(base in having for base in cls.bases)]
    me = parameters(function)[0].arg
    types = [cls.name for cls in tops if cls.is_meant_by(me)]
    stub = next((found for cls in tops if (found := method_of(cls, name))), None)
    annotate(source, function, stub, " | ".join(types) or None)
    for cls in tops:
        source.header += [*cls.source.header, f"from .{cls.source.name} import {cls.name}"]


def method_of(cls: Class, name: str) -> Function | None:
    """The method in the stub of the class, or of a base that only the stub has."""
    if name in functions(cls.stub):
        return functions(cls.stub)[name]
    for base in cls.stub.bases:
        for scope in (cls.source.stub, *(other.source.stub for other in cls.bases)):
            only = classes(scope).get(ast.unparse(base))
            if only is not None and name in functions(only):
                return functions(only)[name]
    return None


def write_head(cls: Class) -> None:
    """What the class has besides what its source says, behind its first statement; and no __getattr__ any more."""
    text = [f'{name}: "{type_}"' for name, type_ in cls.declared.items()]
    text += [f"from .{source.name} import {name}" for name, (source, _) in cls.loaded.items()]
    head = cls.node.body[0]
    if not isinstance(head, Function):
        cls.source.insert(cls.source.end(head), "".join("; " + part for part in text))
    elif text:
        # No statement to go behind: say it of the object, in the method that comes first.
        first = head.body[0]
        if cls.loaded or hasattr(first, "body") or not parameters(head):
            sys.exit(f"lib/buslock/{cls.source.name}.py: {cls.name} needs a docstring, behind which more is inserted")
        cls.source.insert(cls.source.start(first), "".join(f"{parameters(head)[0].arg}.{part}; " for part in text))
    found = functions(cls.node).get("__getattr__")
    if found is not None and (cls.loaded or any(base.loaded for base in cls.bases)):
        cls.source.insert(cls.source.start(found) + len("def __getattr"), "_of_")


def write(where: Path) -> None:
    folder = where / "buslock"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    # The files of `_rt` see the insides of each runtime, for which there are no stubs: the others see its stub only.
    sources = {path.stem: Source(path) for path in sorted(LIBRARY.glob("*.py")) if not path.stem.startswith("_rt")}
    merge(sources)
    for name, source in sources.items():
        (folder / f"{name}.py").write_bytes(source.result())
    for stub in LIBRARY.glob("*.pyi"):
        if stub.stem not in sources:
            shutil.copy(stub, folder)
