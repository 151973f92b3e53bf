"""A copy of the library that notes which of its statements have run: for VMs that cannot trace."""

import ast
import json
import shutil
from pathlib import Path

NAME = "_seen_"


def copy(library: Path, folder: Path) -> dict[str, list[int]]:
    """Writes the copy of the package; the lines of each module that have a statement."""
    lines = {}
    target = folder / library.name
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    for path in sorted(library.glob("*.py")):
        source, lines[path.name] = marked(path.read_text(encoding="utf-8"), path.stem)
        (target / path.name).write_text(source, encoding="utf-8")
    return lines


def marked(source: str, name: str) -> tuple[str, list[int]]:
    tree = ast.parse(source)
    lines: list[int] = []
    for node in list(ast.walk(tree)):
        for field in ("body", "orelse", "finalbody"):
            statements = getattr(node, field, None)
            if isinstance(statements, list):
                setattr(node, field, _with_marks(statements, lines))
    tree.body[_after_docstring(tree.body) : 0] = ast.parse(
        f"{NAME} = __import__('support.marks', None, None, ('of',)).of({name!r}, {len(lines)})"
    ).body
    return ast.unparse(ast.fix_missing_locations(tree)), lines


def _after_docstring(statements: list) -> int:
    first = statements[0] if statements else None
    return int(isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant))


def _with_marks(statements: list, lines: list[int]) -> list:
    """Each statement with one before it that notes it in a bytearray, which allocates nothing."""
    result = []
    for i, statement in enumerate(statements):
        declares = isinstance(statement, ast.Global | ast.Nonlocal)
        if isinstance(statement, ast.stmt) and not declares and (i or not _after_docstring(statements)):
            result += ast.parse(f"{NAME}[{len(lines)}] = 1").body
            lines.append(statement.lineno)
        result.append(statement)
    return result


def missing(folder: Path, lines: dict[str, list[int]]) -> dict[str, dict[str, list[int]]]:
    """runtime: {module: the lines of which no process has seen a statement}."""
    seen: dict[str, dict[str, set[int]]] = {}
    for path in folder.glob("*.json"):
        found = json.loads(path.read_text())
        modules = seen.setdefault(found["runtime"], {})
        for name, bits in found["seen"].items():
            modules.setdefault(f"{name}.py", set()).update(i for i, bit in enumerate(bits) if bit == "1")
    return {
        runtime: {
            name: sorted({line for i, line in enumerate(all_) if i not in modules.get(name, ())})
            for name, all_ in lines.items()
        }
        for runtime, modules in sorted(seen.items())
    }


def block(source: str, header: str) -> range:
    """The lines below the one that is this header, as far as they are indented more."""
    lines = source.splitlines()
    first = [line.strip() for line in lines].index(header)
    indent = len(lines[first]) - len(lines[first].lstrip())
    last = first + 1
    while last < len(lines) and (not lines[last].strip() or len(lines[last]) - len(lines[last].lstrip()) > indent):
        last += 1
    return range(first + 2, last + 1)
