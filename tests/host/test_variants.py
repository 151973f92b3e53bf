"""What tries the library must be able to fail: each wrong variant is found by the scenario that is named with it, and
those of the table by random sessions too.
"""

import shutil
import sys

import pytest

from tools import environment

sys.path[:0] = [str(environment.ROOT / "lib"), str(environment.ROOT / "tests")]

from explore import catalogue  # noqa: E402
from explore.library import Library  # noqa: E402
from explore.play import play  # noqa: E402
from explore.search import Search, replay  # noqa: E402
from explore.variants import VARIANTS  # noqa: E402

SOURCE = environment.ROOT / "lib" / "buslock"


SESSIONS = 200


def copy_of_library(variant, folder):
    """The library with the variant's edits."""
    shutil.copytree(SOURCE, folder / "buslock", ignore=shutil.ignore_patterns("__pycache__", "*.pyi"))
    for name, text, instead in variant.edits:
        path = folder / "buslock" / name
        source = path.read_text(encoding="utf-8")
        assert source.count(text) == 1, f"{name} has changed, the variant must be made anew: {text!r}"
        path.write_text(source.replace(text, instead), encoding="utf-8")
    return Library(catalogue.MODES[variant.mode][0], str(folder))


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: variant.name)
def test_is_found(variant, tmp_path):
    library = copy_of_library(variant, tmp_path)
    any_order = catalogue.MODES[variant.mode][1]
    build = catalogue.scenario(variant.scenario)
    result = Search(build, library, any_order, limit=50000).run()
    assert result.failure is not None, f"{variant.scenario} does not find it"
    print(f"{variant.scenario} {variant.mode}: {result.failure.problem}; trace: {result.failure.trace}")
    assert result.failure.problem.startswith(variant.finds)
    # And its trace alone shows it again.
    assert replay(build, library, result.failure.trace, any_order, verbose=False) == result.failure.problem


@pytest.mark.parametrize(
    "variant", [variant for variant in VARIANTS if variant.in_sessions], ids=lambda variant: variant.name
)
def test_is_found_by_a_session(variant, tmp_path):
    library = copy_of_library(variant, tmp_path)
    with pytest.raises(AssertionError, match="session: ") as caught:
        for seed in range(SESSIONS):
            play(library, seed)
    print(caught.value)


def test_each_has_a_name_of_its_own():
    names = [variant.name for variant in VARIANTS]
    assert len(names) == len(set(names))
