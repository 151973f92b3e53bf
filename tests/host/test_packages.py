"""What installers read: package-*.json for mip, manifest.py for freezing, and the layout of a CircuitPython bundle."""

import json
import os
import shutil
import subprocess
import sys
import tomllib
import zipfile

import pytest

from tools import deploy_build, deploy_circuitpython, deploy_packages, environment, package

WAY_OUT = "package-*.json is out of date: python3 tools/deploy_packages.py"
ROOT = environment.ROOT


@pytest.mark.parametrize("feature", deploy_build.features())
def test_package_file_lists_exactly_what_its_feature_needs(feature):
    path = deploy_packages.path(feature)
    assert path.exists(), WAY_OUT
    assert path.read_text() == deploy_packages.text(feature), WAY_OUT
    listed = json.loads(path.read_text())
    for name, url in listed["urls"]:
        assert url == f"lib/{name}"
        assert (ROOT / url).is_file()


def test_there_is_no_package_file_without_a_feature():
    wanted = {deploy_packages.path(feature) for feature in deploy_build.features()}
    assert set(ROOT.glob("package-*.json")) == wanted, WAY_OUT


def test_every_module_belongs_to_the_library_and_none_is_needed_that_is_missing():
    """What is imported by a module of the library is a module of the library."""
    everything = deploy_build.closure(deploy_build.modules())
    assert sorted(everything) == deploy_build.modules()


def test_closure_knows_modules_that_are_loaded_on_first_use():
    assert "refusals" in deploy_build.closure(["lock"])
    assert "refusals" not in deploy_build.closure(["lock"], lazily=False)


def test_closure_puts_a_module_after_those_that_its_import_needs():
    order = deploy_build.closure(deploy_build.modules())
    for module in order:
        for needed in deploy_build.needs(module, lazily=False):
            assert order.index(needed) < order.index(module), f"{module} imports {needed} at its top"


def test_the_locks_need_no_bus():
    assert not {"bus", "i2c", "spi", "uart"} & set(deploy_build.chosen(["lock"]))


def test_modules_of_public_names():
    assert deploy_build.home("Lock") == "lock"
    assert deploy_build.home("I2CBus") == "i2c"
    assert deploy_build.home("__version__") == "__init__"
    assert deploy_build.home("no_such_name") is None


def test_modules_that_a_program_asks_for(tmp_path):
    program = tmp_path / "program.py"
    program.write_text("from buslock import I2CBus, deadline\nimport buslock.errors\n")
    assert sorted(deploy_build.imported_by(program)) == ["errors", "i2c", "timeouts"]
    program.write_text("import buslock\nlock = buslock.Lock()\n")
    assert deploy_build.imported_by(program) == ["lock"]
    program.write_text("from buslock import Lokc\n")
    with pytest.raises(deploy_build.BuildError, match="imports Lokc from buslock, which has no such name"):
        deploy_build.imported_by(program)


def test_only_takes_features_modules_and_programs(tmp_path):
    assert "i2c" in deploy_build.chosen(["i2c"])
    assert deploy_build.chosen(["errors"]) == ["__init__", "errors"]
    assert set(deploy_build.chosen([])) == set(deploy_build.modules())
    with pytest.raises(deploy_build.BuildError, match="--only nonsense: it takes lock"):
        deploy_build.chosen(["nonsense"])
    with pytest.raises(deploy_build.BuildError, match="there is no program"):
        deploy_build.chosen([str(tmp_path / "gone.py")])


def test_everything_compiles_to_the_version_that_boards_read():
    compiled = deploy_build.compiled(deploy_build.sources(deploy_build.modules()))
    assert all(name.endswith(".mpy") for name in compiled)
    assert {data[:2] for data in compiled.values()} == {b"M\x06"}


def test_a_syntax_error_names_the_file():
    with pytest.raises(deploy_build.BuildError, match=r"cannot compile buslock/x\.py"):
        deploy_build.compiled({"buslock/x.py": b"def f(:\n"})


def test_manifest_freezes_the_library():
    """manifest.py keeps to the documented functions of manifest files, with their documented arguments."""
    packages, told = [], []

    def freeze_package(package_path, files=None, base_path=".", opt=None):
        packages.append((package_path, files, base_path))

    def metadata(description=None, version=None, license=None, author=None):
        assert not packages, "metadata() comes first"
        told.append((description, version, license))

    exec((ROOT / "manifest.py").read_text(), {"package": freeze_package, "metadata": metadata})
    assert packages == [("buslock", None, "lib")]
    assert (ROOT / "lib" / "buslock" / "__init__.py").is_file()
    [(description, version, license)] = told
    assert description
    assert version == package.version(), "manifest.py has another version than lib/buslock/__init__.py"
    assert license == "MIT"


BOARD = """
from buslock_sim import BusioI2C, Thermometer, Wire
wire = Wire()
wire.attach(0x48, Thermometer(21.5))

def I2C():
    return BusioI2C(wire)
"""


@pytest.fixture(scope="module")
def bundle(tmp_path_factory):
    folder = tmp_path_factory.mktemp("circuitpython")
    deploy_circuitpython.write(folder)
    return folder


def test_circuitpython_layout(bundle):
    """What circuitpython-build-tools look for: a package at the top that pyproject.toml names; requirements."""
    told = tomllib.loads((bundle / "pyproject.toml").read_text())
    assert told["tool"]["setuptools"]["packages"] == ["buslock"]
    assert told["project"]["version"] == package.version()
    assert told["project"]["dependencies"] == (bundle / "requirements.txt").read_text().split()
    assert {path.stem for path in (bundle / "buslock").iterdir()} == set(deploy_build.modules())
    examples = [path.name for path in (bundle / "examples").iterdir()]
    assert "buslock_simpletest.py" in examples
    assert all(name.startswith("buslock_") for name in examples)


def test_circuitpython_mpy_files(tmp_path, monkeypatch):
    """By the compiler that the variable names, which must be CircuitPython's: here one that only says that it is."""
    sources = deploy_build.sources(["__init__", "errors"])
    monkeypatch.delenv(deploy_build.CIRCUITPYTHON_VARIABLE, raising=False)
    with pytest.raises(deploy_build.BuildError, match="set CIRCUITPYTHON_MPY_CROSS to CircuitPython's own mpy-cross"):
        deploy_build.compiled(sources, circuit=True)
    monkeypatch.setenv(deploy_build.CIRCUITPYTHON_VARIABLE, str(tmp_path / "none"))
    with pytest.raises(deploy_build.BuildError, match="none, which is no program"):
        deploy_build.compiled(sources, circuit=True)
    monkeypatch.setenv(deploy_build.CIRCUITPYTHON_VARIABLE, deploy_build.mpy_cross())
    with pytest.raises(deploy_build.BuildError, match=r"makes \.mpy files for MicroPython"):
        deploy_build.compiled(sources, circuit=True)
    compiler = tmp_path / "mpy-cross"
    compiler.write_text('#!/bin/sh\nprintf "C\\006 %s" "$2" > "$4"\n')
    compiler.chmod(0o755)
    monkeypatch.setenv(deploy_build.CIRCUITPYTHON_VARIABLE, str(compiler))
    deploy_circuitpython.write_mpy(tmp_path)
    found = {path.name: path.read_bytes() for path in (tmp_path / "mpy" / "buslock").iterdir()}
    assert sorted(found) == sorted(f"{name}.mpy" for name in deploy_build.modules())
    assert found["lock.mpy"] == b"C\x06 /lib/buslock/lock.mpy"


def test_circuitpythons_own_compiler():
    if not os.environ.get(deploy_build.CIRCUITPYTHON_VARIABLE):
        pytest.skip(f"{deploy_build.CIRCUITPYTHON_VARIABLE} names no mpy-cross of CircuitPython")
    compiled = deploy_build.compiled(deploy_build.sources(deploy_build.modules()), circuit=True)
    assert {data[:2] for data in compiled.values()} == {b"C\x06"}


def git(folder, *arguments):
    identity = ("-c", "user.name=nobody", "-c", "user.email=nobody@example.com")
    done = subprocess.run(["git", *identity, *arguments], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_circuitpython_build_tools_make_a_bundle_of_it(bundle, tmp_path):
    """As the community bundle's continuous integration does it. They take names and versions from a git checkout."""
    environment.ensure("bundle")
    library = tmp_path / "CircuitPython_buslock"
    shutil.copytree(bundle, library)
    git(library, "init", "--quiet")
    git(library, "add", ".")
    git(library, "commit", "--quiet", "--message", "all")
    git(library, "tag", package.version())
    git(library, "remote", "add", "origin", "https://example.com/somebody/CircuitPython_buslock.git")
    (tmp_path / "stand-ins").mkdir()
    (tmp_path / "stand-ins" / "requests.py").write_text("")  # for downloads of mpy-cross
    options = ["--filename_prefix", "buslock", "--library_location", ".", "--output_directory", str(tmp_path)]
    done = subprocess.run(
        [sys.executable, "-c", BUILD, *options, "-o", "py", "-o", "example", "-o", "json"],
        cwd=library,
        env={**os.environ, "PYTHONPATH": f"{environment.FOLDERS['bundle']}:{tmp_path / 'stand-ins'}"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "legacy" not in done.stdout
    version = package.version()
    [(name, told)] = json.loads((tmp_path / f"buslock-{version}.json").read_text()).items()
    assert name == "buslock" and told["package"] and told["version"] == version
    assert told["path"] == "lib/buslock"
    assert told["external_dependencies"] == list(deploy_circuitpython.REQUIREMENTS)
    with zipfile.ZipFile(tmp_path / f"buslock-py-{version}.zip") as archive:
        inside = [file.partition("/lib/")[2] for file in archive.namelist() if "/lib/" in file]
    assert sorted(inside) == sorted(deploy_build.sources(deploy_build.modules()))
    with zipfile.ZipFile(tmp_path / f"buslock-examples-{version}.zip") as archive:
        assert [file.rsplit("/", 1)[1] for file in archive.namelist()] == ["buslock_simpletest.py"]


BUILD = "from circuitpython_build_tools.scripts.build_bundles import build_bundles; build_bundles()"


def test_circuitpython_simpletest_runs(bundle, tmp_path):
    """With Adafruit's asyncio, and a `board` whose I2C is a simulated busio.I2C."""
    (tmp_path / "board.py").write_text(BOARD)
    environment.ensure("demo", "adafruit")
    folders = [bundle, tmp_path, ROOT / "lib", environment.FOLDERS["adafruit"], ".frozen"]
    done = subprocess.run(
        [*environment.vm(), str(bundle / "examples" / "buslock_simpletest.py")],
        env={**os.environ, "MICROPYPATH": ":".join(map(str, folders))},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("temperature b'\\n\\xc0'") == 3
    assert done.stdout.count("identity b'\\x01\\x17'") == 3
