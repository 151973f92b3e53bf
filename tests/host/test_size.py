"""The budgets of RAM are kept: on the emulated Pico if there is one, and on Unix MicroPython always."""

import pytest

from tools import size
from tools.pico.available import needs_pico


@pytest.fixture(scope="module")
def unix(tmp_path_factory):
    return size.Unix(tmp_path_factory.mktemp("size"))


@pytest.fixture(scope="module")
def modules(unix):
    """What each use with a budget loads."""
    return {use: size.loaded_by(unix, use) for use in size.BUDGETS}


@pytest.mark.parametrize("use", size.BUDGETS)
def test_budget_on_unix(use, unix, modules):
    assert size.over_budget(use, unix, size.measure(unix, modules[use])) is None


@pytest.mark.parametrize("use", size.BUDGETS)
def test_budget_on_the_pico(use, unix, modules, request):
    needs_pico()
    if use == "every module loaded" and not request.config.getoption("--all"):
        pytest.skip("importing everything takes the emulated Pico minutes; it is measured with --all")
    pico = size.Pico()
    found = size.measure(pico, modules[use], each=False)
    assert size.over_budget(use, pico, found) is None
    # What makes the budget of Unix a safe one.
    assert size.measure(unix, modules[use]).total >= size.FACTOR * found.total


def test_a_use_over_its_budget_is_told():
    found = size.Use({"buslock": 100, "buslock.lock": 7168})
    told = size.over_budget("Lock", size.Pico(), found)
    assert told == "Lock keeps 7268 bytes on Pico; its budget there is 7168"
    assert size.over_budget("Lock, waited for", size.Pico(), found) is None


def test_lock_alone_does_not_load_the_buses(modules):
    assert not {"buslock.i2c", "buslock.bus", "buslock.table"} & set(modules["Lock"])


def test_report_names_every_module_and_use(unix):
    names = ["buslock", "buslock.errors"]
    use = size.measure(unix, names)
    text = size.report({"Unix": {"Lock": use, "every module loaded": use}})
    assert all(word in text for word in ("__init__", "errors", "Lock", "every module loaded", "7168"))
    assert use.total > 0
