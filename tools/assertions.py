"""Rewrites the assertions of a test module, so that a failing one shows its values on VMs that show none.

    assert a == b, "message"   becomes   assert _check_("==", (a), (b), 'a == b'), _note_("message")

The names are defined in tests/support/checks.py. Only what is inside functions is rewritten, because the names are
given to the module after its import. Every line keeps its number.
"""

import ast

OPERATORS = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Is: "is",
    ast.IsNot: "is not",
    ast.In: "in",
    ast.NotIn: "not in",
}
LONGEST = 200  # characters of a condition's source


def rewrite(source: str) -> str:
    """The module's source with its assertions rewritten."""
    tree = ast.parse(source)
    lines = source.encode().splitlines(keepends=True)
    starts = [0]  # of the lines, in bytes, as the columns of ast are
    for line in lines:
        starts.append(starts[-1] + len(line))
    text = b"".join(lines)

    def span(node) -> tuple[int, int]:
        return starts[node.lineno - 1] + node.col_offset, starts[node.end_lineno - 1] + node.end_col_offset

    def cut(node) -> str:
        begin, end = span(node)
        return text[begin:end].decode()

    for node in sorted(_assertions(tree), key=lambda node: span(node), reverse=True):
        begin, end = span(node)
        new = _rewritten(node, cut)
        if new is not None:
            # What stood between the parts has gone, with its line ends: they are made up for inside the last bracket.
            missing = text[begin:end].count(b"\n") - new.count("\n")
            if missing >= 0:
                text = text[:begin] + (new[:-1] + "\n" * missing + new[-1]).encode() + text[end:]
    return text.decode()


def _assertions(tree):
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            for node in _own_statements(function):
                if isinstance(node, ast.Assert):
                    yield node


def _own_statements(function):
    """What is in the function, without what is in functions inside it: those come by themselves."""
    waiting = list(ast.iter_child_nodes(function))
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            waiting.extend(ast.iter_child_nodes(node))


def _rewritten(node: ast.Assert, cut) -> str | None:
    condition = node.test
    if isinstance(condition, ast.Constant):
        return None  # assert False, "message": nothing to show
    # As one line; it also must not hold anything that the VM's parser would see as other than text.
    source = " ".join(cut(condition).split())
    source = ascii(source if len(source) <= LONGEST else source[:LONGEST] + "...")
    if isinstance(condition, ast.Compare) and len(condition.ops) == 1:
        operator = OPERATORS[type(condition.ops[0])]
        left, right = cut(condition.left), cut(condition.comparators[0])
        check = f'_check_("{operator}", ({left}), ({right}), {source})'
    elif isinstance(condition, ast.UnaryOp) and isinstance(condition.op, ast.Not):
        check = f"_false_(({cut(condition.operand)}), {source})"
    else:
        check = f"_true_(({cut(condition)}), {source})"
    note = f"_note_(({cut(node.msg)}))" if node.msg else "_note_()"
    return f"assert {check}, {note}"
