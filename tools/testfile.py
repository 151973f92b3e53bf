"""A test module as the host sees it: read, never imported, because it may import what only a board has.

Constants at its top level choose how it is run:

    RUNTIMES = ("micropython", "cpython")   where (default: every runtime that is default)
    CLOCK = "virtual"                       or "wrap", see tests/support/clock.py (default: "real")
    SLOW = ("test_name",)                   run only with --all; True: all of them
    TIME_LIMIT = 120                        seconds for one test (default: 60)
    LEFT_OUT = {"pico": {"why": ("test_name",)}}   on this runtime, and those whose names begin with it and a dash, these
                                            tests are skipped, with what is missing there; "why" alone: all of them
    ALONE = True                            nothing else runs at the same time: for tests that measure time
    HEAP = "1M"                             of the MicroPythons (default: what tests of thousands of tasks need)
    EACH = {"over": ("lock", "key")}        a test that takes the argument `over` is an item for each: test_fifo[lock]
    HOST = True                             an ordinary pytest module, as all below tests/host are
"""

import ast
from dataclasses import dataclass
from pathlib import Path

TIME_LIMIT = 60.0
HEAP = "32M"
CLOCKS = ("real", "virtual", "wrap")
CONSTANTS = {
    "RUNTIMES": tuple,
    "CLOCK": str,
    "SLOW": (tuple, bool),
    "TIME_LIMIT": (int, float),
    "LEFT_OUT": dict,
    "ALONE": bool,
    "HEAP": str,
    "EACH": dict,
}


class TestFileError(Exception):
    """The module's own mistake, told as file:line: what."""


@dataclass
class TestFile:
    path: Path
    source: str
    tests: dict[str, int]  # name, with what it is run for in brackets: line
    constants: dict

    __test__ = False  # not a class of tests, whatever its name

    @property
    def name(self) -> str:
        return self.path.stem

    @property
    def clock(self) -> str:
        return self.constants.get("CLOCK", "real")

    @property
    def runtimes(self) -> tuple[str, ...] | None:
        return self.constants.get("RUNTIMES")

    @property
    def time_limit(self) -> float:
        return float(self.constants.get("TIME_LIMIT", TIME_LIMIT))

    @property
    def alone(self) -> bool:
        return self.constants.get("ALONE", False)

    @property
    def heap(self) -> str:
        return self.constants.get("HEAP", HEAP)

    @property
    def is_host(self) -> bool:
        return self.path.parent.name == "host" or self.constants.get("HOST", False)

    def left_out(self, test: str, runtime: str) -> str | None:
        """Why this test is not run there."""
        for name, reasons in self.constants.get("LEFT_OUT", {}).items():
            if f"{runtime}-".startswith(f"{name}-"):
                if isinstance(reasons, str):
                    return reasons
                for reason, tests in reasons.items():
                    if test.partition("[")[0] in tests:
                        return reason
        return None

    def is_slow(self, test: str) -> bool:
        slow = self.constants.get("SLOW", ())
        return slow if isinstance(slow, bool) else test.partition("[")[0] in slow


def read(path: Path) -> TestFile:
    source = path.read_text(encoding="utf-8")
    try:
        tree = ast.parse(source, str(path))
    except SyntaxError as e:
        raise TestFileError(f"{path}:{e.lineno}: {e.msg}") from None
    file = TestFile(path, source, {}, {})
    if file.is_host or any(_is_host_mark(node) for node in tree.body):
        file.constants["HOST"] = True  # pytest's business from here on
        return file
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name = node.targets[0].id
            if name in CONSTANTS:
                file.constants[name] = _constant(file, name, node)
    names = set()
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
            names.add(node.name)
            file.tests.update(dict.fromkeys(_items(file, node), node.lineno))
    slow = file.constants.get("SLOW", ())
    named = [("SLOW", name) for name in (slow if isinstance(slow, tuple) else ())]
    for reasons in file.constants.get("LEFT_OUT", {}).values():
        tests = reasons.values() if isinstance(reasons, dict) else ()
        if not all(isinstance(some, tuple) for some in tests):
            raise TestFileError(f"{path}: LEFT_OUT says why first, and then of which tests: a tuple of names")
        named += [("LEFT_OUT", name) for some in tests for name in some]
    for constant, name in named:
        if name not in names:
            raise TestFileError(f"{path}: {constant} names {name!r}, and there is no such test")
    if file.clock not in CLOCKS:
        raise TestFileError(f"{path}: CLOCK is {file.clock!r}; it may be one of {CLOCKS}")
    return file


def _is_host_mark(node) -> bool:
    return isinstance(node, ast.Assign) and ast.unparse(node) == "HOST = True"


def _items(file: TestFile, node) -> list[str]:
    """The test, or one for each of what its argument stands for."""
    where = f"{file.path}:{node.lineno}: {node.name}"
    if node.decorator_list:
        raise TestFileError(f"{where} is decorated; marks are constants of the module, see tools/testfile.py")
    arguments = node.args
    names = [argument.arg for argument in arguments.args]
    if not (names or arguments.posonlyargs or arguments.kwonlyargs or arguments.vararg or arguments.kwarg):
        return [node.name]
    each = file.constants.get("EACH", {})
    if len(names) != 1 or names[0] not in each or len(ast.unparse(arguments)) != len(names[0]):
        raise TestFileError(f"{where} takes arguments; tests that run on the device side have no fixtures, but EACH")
    return [f"{node.name}[{one}]" for one in each[names[0]]]


def _constant(file: TestFile, name: str, node):
    where = f"{file.path}:{node.lineno}: {name}"
    try:
        value = ast.literal_eval(node.value)
    except ValueError:
        raise TestFileError(f"{where} is read without running the module: write it out") from None
    if not isinstance(value, CONSTANTS[name]):
        raise TestFileError(f"{where} is a {type(value).__name__}; see tools/testfile.py")
    return value
