"""Setting up: what is there is left alone, and what cannot be had is explained."""

import re
import subprocess
import sys

import pytest

from tools import environment, runtimes


@pytest.fixture
def bare(tmp_path, monkeypatch):
    """A checkout in which nothing is installed yet, on a machine for which there is no wheel of the VM."""
    monkeypatch.setattr(environment, "VENV", tmp_path / ".venv")
    monkeypatch.setattr(environment, "has_vm_wheel", lambda: False)
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


def test_no_micropython_says_how_to_get_one(bare, capsys):
    with pytest.raises(SystemExit) as ended:
        environment.ensure("demo")
    assert "ports/unix" in str(ended.value.code)
    assert "on PATH" in str(ended.value.code)
    assert not (bare / ".venv").exists()
    assert "no MicroPython" in str(runtimes.ALL["micropython"].missing())


def test_micropython_on_path_is_used_where_there_is_no_wheel(bare):
    vm = bare / "micropython"
    vm.write_text("#!/bin/sh\n")
    vm.chmod(0o755)
    environment.ensure("demo")
    assert environment.vm() == [str(vm)]
    assert not (bare / ".venv").exists()


def test_what_is_installed_is_not_installed_again(monkeypatch):
    def fail(*args, **kwargs):
        raise AssertionError("started a process")

    environment.ensure("dev")
    monkeypatch.setattr(subprocess, "run", fail)
    environment.ensure("dev")


def test_a_changed_lock_file_is_installed(tmp_path, monkeypatch):
    installed = []
    locks = tmp_path / "locks"
    locks.mkdir()
    (locks / "adafruit.txt").write_text("changed\n")
    monkeypatch.setattr(environment, "LOCKS", locks)
    monkeypatch.setattr(environment, "_install", installed.append)
    environment.ensure("adafruit")
    assert installed == ["adafruit"]


@pytest.mark.parametrize("lock", sorted(environment.WHAT))
def test_lock_files_pin_with_hashes_and_name_no_host(lock):
    text = (environment.LOCKS / f"{lock}.txt").read_text()
    requirements = re.findall(r"^[a-z0-9][^\s=]*==\S+", text, re.MULTILINE)
    assert requirements
    assert text.count("--hash=sha256:") >= len(requirements)
    assert "://" not in text


def test_an_example_that_is_not_there():
    done = subprocess.run(
        [sys.executable, "tools/dev.py", "demo", "no_such_example"],
        cwd=environment.ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert "There is no examples/no_such_example.py" in done.stderr


def test_every_lock_file_says_what_it_is():
    """Whichever command comes first in a fresh checkout: none depends on another one's module for that."""
    program = "from tools import environment; print(*sorted(environment.WHAT))"
    done = subprocess.run([sys.executable, "-c", program], cwd=environment.ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split() == sorted(path.stem for path in environment.LOCKS.glob("*.txt"))
