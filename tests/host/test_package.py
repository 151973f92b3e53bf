"""package.json: what mip puts on a board."""

import json

from tools import package

WAY_OUT = "package.json is out of date: python3 tools/dev.py package"


def test_package_json_lists_exactly_the_files_of_the_library():
    assert package.PACKAGE.exists(), WAY_OUT
    listed = json.loads(package.PACKAGE.read_text())
    assert package.files(), "lib/buslock has no files"
    assert sorted(name for name, _ in listed["urls"]) == package.files(), WAY_OUT
    for name, url in listed["urls"]:
        assert url == f"lib/{name}", WAY_OUT


def test_package_json_has_the_version_of_the_library():
    assert json.loads(package.PACKAGE.read_text())["version"] == package.version(), WAY_OUT
