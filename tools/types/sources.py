"""Checks the library's sources with the types of its stubs in them (see view.py), as code of a board: with the stubs of
MicroPython's rp2 port. What a peripheral of that port has is checked along with it."""

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from tools.types import view

ROOT = Path(__file__).resolve().parents[2]
CONFIGURATION = ROOT / "tools" / "types" / "rp2.json"
# What the checker takes for wrong although it is not, and why: (file, message).
NOT_WRONG = {
    ("chipselect.py", r'Argument of type "Pin \| Unknown" .* in function "__init__"'): "no machine.Pin gets there",
    ("scanning.py", r'Cannot access attribute "_transfer" for class "I2CDevice"'): "what is not its own device is a session",
    ("buscalls.py", r'"Never" is not awaitable'): "a bus of another kind returns a coroutine there",
    ("transaction.py", r'"object" is not iterable'): "callable() makes the checker forget what the function returns",
}


def main() -> int:
    # A folder of its own for each run, because two may run at the same time.
    with tempfile.TemporaryDirectory(prefix="buslock-types-") as name:
        return check(Path(name).resolve())


def check(folder: Path) -> int:
    view.write(folder)
    more = {"extends": str(CONFIGURATION), "include": [str(folder), str(ROOT / "tests/types/machine_peripherals.py")]}
    (folder / "rp2.json").write_text(json.dumps(more))
    command = [sys.executable, "-m", "basedpyright", "-p", str(folder / "rp2.json"), "--outputjson"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    try:
        found = json.loads(done.stdout)["generalDiagnostics"]
    except ValueError:
        print(done.stdout + done.stderr)
        return 1
    bad = 0
    unused = set(NOT_WRONG)
    for item in found:
        path = Path(item["file"])
        known = {(name, text) for name, text in NOT_WRONG if name == path.name and re.match(text, item["message"])}
        unused -= known
        if item["severity"] == "error" and not known:
            bad += 1
            if folder in path.parents:
                path = ROOT / "lib" / path.relative_to(folder)
            start = item["range"]["start"]["line"] + 1
            print(f"{path.relative_to(ROOT)}:{start}: {item['message']} ({item.get('rule', 'syntax')})")
    for name, text in sorted(unused):
        print(f"tools/types/sources.py: {name} has no longer a message like {text}")
    if bad:
        print("An attribute that a class is given from outside is declared in the stub of its module.")
    print(f"{bad} errors")
    return 1 if bad or unused else 0


if __name__ == "__main__":
    sys.exit(main())
