"""The explorer must be able to fail: each wrong variant of the library is found by the scenario that is named with it."""

import shutil
from pathlib import Path

import pytest
from explore import catalogue
from explore.library import Library
from explore.search import Search, replay
from explore.variants import VARIANTS

SOURCE = Path(__file__).resolve().parents[2] / "lib" / "buslock"


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: variant.name)
def test_is_found(variant, tmp_path):
    shutil.copytree(SOURCE, tmp_path / "buslock", ignore=shutil.ignore_patterns("__pycache__", "*.pyi"))
    for name, text, instead in variant.edits:
        path = tmp_path / "buslock" / name
        source = path.read_text()
        assert source.count(text) == 1, f"{name} has changed, the variant must be made anew: {text!r}"
        path.write_text(source.replace(text, instead))
    runtime, any_order = catalogue.MODES[variant.mode]
    build = catalogue.scenario(variant.scenario)
    library = Library(runtime, str(tmp_path))
    result = Search(build, library, any_order, limit=50000).run()
    assert result.failure is not None, f"{variant.scenario} does not find it"
    print(f"{variant.scenario} {variant.mode}: {result.failure.problem}; trace: {result.failure.trace}")
    assert result.failure.problem.startswith(variant.finds)
    # And its trace alone shows it again.
    assert replay(build, library, result.failure.trace, any_order, verbose=False) == result.failure.problem


def test_each_has_a_name_of_its_own():
    names = [variant.name for variant in VARIANTS]
    assert len(names) == len(set(names))
