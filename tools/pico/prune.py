"""A module with only what is asked for: the statements at its top level that the named things use, on the lines they had.

A function, a class, an import or an assignment stays if something that stays uses one of its names. Statements that give
no name, such as calls and conditions, stay always, except docstrings.
"""

import ast


def prune(source: str, wanted: set[str]) -> str:
    """The module's source with what defines `wanted`, and what that needs; every line keeps its number."""
    tree = ast.parse(source)
    lines = source.splitlines()
    statements = [node for node in tree.body if not _is_docstring(node)]
    given = [_given(node) for node in statements]
    used = set(wanted)
    kept: set[int] = set()
    while True:
        more = {
            i
            for i, names in enumerate(given)
            if i not in kept and (not names or names & used or _is_kept(statements[i], lines))
        }
        if not more:
            break
        kept |= more
        for i in more:
            used |= _used(statements[i])
    result = [""] * len(lines)
    for i in sorted(kept):
        node = statements[i]
        if isinstance(node, ast.Import | ast.ImportFrom) and not _is_kept(node, lines):
            result[node.lineno - 1] = _of_import(node, used)
        else:
            decorators = getattr(node, "decorator_list", [])
            first = min([node.lineno, *(it.lineno for it in decorators)])
            result[first - 1 : node.end_lineno] = lines[first - 1 : node.end_lineno]
    return "\n".join(result).rstrip() + "\n"


def for_some(sources: dict[str, str], module: str, tests: set[str]) -> dict[str, str]:
    """Of modules that import each other, {"test_lock.py": source}: what some tests of one of them need."""
    pruned = {f"{module}.py": prune(sources[f"{module}.py"], tests)}
    waiting = list(pruned)
    whole = set()
    while waiting:
        name = waiting.pop()
        for other in sources:
            if other == name or other in whole:
                continue
            taken: set[str] | None = set()
            for source in pruned.values():
                names = _taken(source, other.removesuffix(".py"))
                taken = None if taken is None or names is None else taken | names
            source = sources[other] if taken is None else prune(sources[other], taken)
            if taken is None:
                whole.add(other)
            if taken != set() and pruned.get(other) != source:
                pruned[other] = source
                waiting.append(other)
    return pruned


def _taken(source: str, module: str) -> set[str] | None:
    """What the source takes from a module, by `from module import`; None if it may take anything."""
    names = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.module == module:
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.Import) and any(alias.name == module for alias in node.names):
            return None
    return names


def _is_docstring(node) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _is_kept(node, lines) -> bool:
    """An import for its effect only."""
    return isinstance(node, ast.Import | ast.ImportFrom) and "noqa: F401" in lines[(node.end_lineno or node.lineno) - 1]


def _given(node) -> set[str]:
    """The names that a statement gives the module; none if it also does something else."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return {node.name}
    if isinstance(node, ast.Import | ast.ImportFrom):
        return {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
    if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        inside = [part for target in targets for part in ast.walk(target)]
        if any(isinstance(part, ast.Attribute | ast.Subscript) for part in inside):
            return set()
        return {part.id for part in inside if isinstance(part, ast.Name)}
    if isinstance(node, ast.If | ast.Try):
        names = set()
        for part in ast.iter_child_nodes(node):
            if isinstance(part, ast.ExceptHandler):
                inner = part.body
            elif isinstance(part, ast.stmt):
                inner = [part]
            else:
                continue
            for statement in inner:
                one = _given(statement)
                if not one and not isinstance(statement, ast.Pass):
                    return set()
                names |= one
        return names
    return set()


def _used(node) -> set[str]:
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


def _of_import(node: ast.Import | ast.ImportFrom, used: set[str]) -> str:
    left = [alias for alias in node.names if (alias.asname or alias.name).partition(".")[0] in used]
    if any(alias.name.startswith("_") for alias in left):
        left = node.names  # a module that the others load; asked for first it would not be found
    return ast.unparse(
        ast.Import(left) if isinstance(node, ast.Import) else ast.ImportFrom(node.module, left, node.level)
    )
