"""The command `package`: package.json, from which mip installs the library on a board."""

import ast
import json
from pathlib import Path

from tools import environment

HELP = "Writes package.json anew, so that mip installs every file of lib/buslock and nothing else."
PACKAGE = environment.ROOT / "package.json"
LIBRARY = environment.ROOT / "lib" / "buslock"


def add_arguments(parser):
    pass


def run(args) -> int:
    PACKAGE.write_text(text())
    # One package file for each feature. Imported here: that module asks this one for the version.
    from tools import deploy_packages

    deploy_packages.write()
    environment.say(f"package.json lists {len(files())} files of buslock {version()}")
    return 0


def files() -> list[str]:
    """The library's files as they are named on the board, which is also how they are named below lib/."""
    return sorted(path.relative_to(LIBRARY.parent).as_posix() for path in LIBRARY.rglob("*.py"))


def version() -> str:
    """__version__, read without importing the package."""
    return _assigned(LIBRARY / "__init__.py", "__version__")


def text() -> str:
    """What package.json has to hold. Its paths are relative to itself, so it works in any clone or mirror."""
    package = {"urls": [[name, f"lib/{name}"] for name in files()], "deps": [], "version": version()}
    return json.dumps(package, indent=2) + "\n"


def _assigned(path: Path, name: str) -> str:
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id == name:
            return ast.literal_eval(node.value)
    raise ValueError(f"{path} assigns no {name}")
