"""The package files for mip that install one feature each, as package.json installs everything.

    python3 tools/deploy_packages.py      writes them anew from the sources

The one of the locks is package-locks.json, because package-lock.json is what npm writes.
"""

import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
if __name__ == "__main__":
    sys.path[0] = str(ROOT)

from tools import deploy_build, package  # noqa: E402

NAMES = {"lock": "locks"}


def path(feature: str) -> Path:
    return ROOT / f"package-{NAMES.get(feature, feature)}.json"


def text(feature: str) -> str:
    """What the file has to hold: the feature's modules and all that they need. Its paths are relative to itself."""
    names = sorted(deploy_build.sources(deploy_build.closure(deploy_build.features()[feature])))
    contents = {"urls": [[name, f"lib/{name}"] for name in names], "deps": [], "version": package.version()}
    return json.dumps(contents, indent=2) + "\n"


def write() -> None:
    for feature in deploy_build.features():
        path(feature).write_text(text(feature))


if __name__ == "__main__":
    write()
