"""Lists the mutants of modules, by mutmut's operators; runs where mutmut is: `python -m tools.mutation.listing FILE...`.

mutmut itself puts all mutants of a function behind a switch, which the explorer would take for a part of every state.
Here each mutant is a source file of its own, so that what is tried is as plain as the library.
"""

import difflib
import json
import sys
from pathlib import Path

from mutmut.mutation.file_mutation import create_mutations, deep_replace  # pyright: ignore[reportMissingImports]


def mutants(path: Path) -> list[dict]:
    """Each with the line, what stood there, what stands there now, and the whole source."""
    source = path.read_text(encoding="utf-8")
    module, mutations, _, _ = create_mutations(str(path), source)
    listed = []
    seen = {source}
    for mutation in mutations:
        mutated = deep_replace(module, mutation.original_node, mutation.mutated_node).code
        if mutated not in seen:
            seen.add(mutated)
            line, old, new = difference(source, mutated)
            listed.append({"line": line, "old": old, "new": new, "source": mutated})
    return listed


def difference(source: str, mutated: str) -> tuple[int, str, str]:
    """The first line that differs, and the lines that differ, as one text each and without comments."""
    before, after = source.splitlines(), mutated.splitlines()
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    changed = [code for code in matcher.get_opcodes() if code[0] != "equal"]
    first, last = changed[0], changed[-1]
    return first[1] + 1, _one_line(before[first[1] : last[2]]), _one_line(after[first[3] : last[4]])


def _one_line(lines: list[str]) -> str:
    return " ".join(line.split("  #")[0].strip() for line in lines)


if __name__ == "__main__":
    print(json.dumps({Path(name).stem: mutants(Path(name)) for name in sys.argv[1:]}))
