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
from pathlib import Path

from tools.types.modules import (
    Class,
    Function,
    Source,
    attributes,
    classes,
    family,
    functions,
    names_of_types,
    parameters,
)

LIBRARY = Path(__file__).resolve().parents[2] / "lib" / "buslock"


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
        for name in dict.fromkeys(name for cls in everything for name in cls.loaded):
            having = [cls for cls in everything if cls.loaded.get(name, (None,))[0] is source]
            if having:
                merge_loaded(source, name, having)
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
        source.header += [*cls.source.header, f"from .{cls.source.name} import {', '.join(classes(cls.source.tree))}"]


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
    if found is not None and "__getattr__" not in functions(cls.stub) and (cls.loaded or cls.stub.body):
        # The checker would take it for a promise that everything is there.
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
    known = names_of(Source(LIBRARY / "_rt.py").stub)
    inside = set().union(*(names_of(ast.parse(path.read_bytes())) for path in LIBRARY.glob("_rt*.py")))
    with open(folder / "_rt.pyi", "a") as runtime:
        runtime.writelines(f"{name}: Any\n" for name in sorted(inside - known) if name.isidentifier())


def names_of(module: ast.Module) -> set[str]:
    """What a module defines or imports at its top, or in an `if` there."""
    found: set[str] = set()
    waiting = list(module.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, Function | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.ImportFrom | ast.Import):
            found.update(alias.asname or alias.name for alias in node.names)
        elif isinstance(node, ast.Assign):
            found.update(ast.unparse(target) for target in node.targets)
        elif isinstance(node, ast.AnnAssign):
            found.add(ast.unparse(node.target))
        else:
            waiting += [inner for inner in ast.iter_child_nodes(node) if isinstance(inner, ast.stmt)]
    return found
