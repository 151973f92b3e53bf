"""What is loaded on first use is where the directories of its package and classes say."""

import ast

import pytest

from tools import deploy_build
from tools.types import modules, view

SOURCES = {path.stem: modules.Source(path) for path in sorted(view.LIBRARY.glob("*.py"))}
DIRECTORIES = [name for name, source in SOURCES.items() if source.directory]


def defined(module: str) -> set[str]:
    return {node.name for node in SOURCES[module].tree.body if isinstance(node, modules.Function)}


def text_of(directory: str) -> str:
    return next(
        ast.literal_eval(node.value)
        for node in SOURCES[directory].tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "METHODS"
    )


@pytest.mark.parametrize("directory", DIRECTORIES)
def test_each_name_stands_between_spaces(directory):
    """What _home() looks for."""
    assert all(line.endswith(" ") and "  " not in line for line in text_of(directory).split(","))


def test_there_are_directories():
    assert {"busmore", "i2cbus", "spibus", "uartbus", "devicemore", "tablemore"} <= set(DIRECTORIES)


@pytest.mark.parametrize("directory", DIRECTORIES)
def test_each_method_is_a_function_of_its_module(directory):
    missing = [
        f"{module}.{name}"
        for name, module in SOURCES[directory].directory.items()
        if module not in SOURCES or name not in defined(module)
    ]
    assert missing == []


@pytest.mark.parametrize("directory", DIRECTORIES)
def test_no_method_has_two_homes_in_one_directory(directory):
    names = [name for line in text_of(directory).split(",") for name in line.split()[1:]]
    assert sorted(names) == sorted(set(names))


def test_every_private_function_of_a_home_is_called_or_listed():
    """A function whose name begins with `_` is a method that some directory lists, or its own module uses it."""
    listed = {(module, name) for source in SOURCES.values() for name, module in source.directory.items()}
    unused = []
    for module, source in SOURCES.items():
        used = {node.id for node in ast.walk(source.tree) if isinstance(node, ast.Name)}
        imported = {
            alias.name
            for other in SOURCES.values()
            for node in ast.walk(other.tree)
            if isinstance(node, ast.ImportFrom) and node.module == module
            for alias in node.names
        }
        unused += [
            f"{module}.{name}"
            for name in defined(module)
            if name[0] == "_" and name[:2] != "__" and name not in used | imported and (module, name) not in listed
        ]
    assert unused == []


def test_every_exported_name_is_defined_where_the_package_looks_for_it():
    for name in deploy_build.exported():
        module = deploy_build.home(name)
        assert module is not None, name
