"""What a program needs on the board besides the library: the file of boards/ for that board."""

import ast
from pathlib import Path

from tools import environment
from tools.deploy_board import Board, DeployError

BOARDS = environment.ROOT / "boards"


def imports_boards(program: Path) -> bool:
    tree = ast.parse(program.read_text(encoding="utf-8"), str(program))
    names = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            names.append(node.module or "")
    return any(name.split(".")[0] == "boards" for name in names)


def put_boards(board: Board, program: Path, say) -> None:
    """/lib/boards with the file of this board, if the program imports `boards` and the file on it is not the user's."""
    if not imports_boards(program):
        return
    import boards

    info = board.info
    try:
        name = boards.pick(info.name, info.platform, info.machine, None)
    except RuntimeError as e:
        raise DeployError(str(e)) from None
    there = board.run("import os\ntry:\n print(*os.listdir('/lib/boards'))\nexcept OSError:\n print()").split()
    if f"{name}.py" in there:
        say(f"/lib/boards/{name}.py is on the board already, and stays as it is")
        return
    board.run("import os\ntry:\n os.mkdir('/lib/boards')\nexcept OSError:\n pass")
    for file in ("__init__.py", f"{name}.py"):
        board.transport.fs_writefile(f"/lib/boards/{file}", (BOARDS / file).read_bytes(), chunk_size=1024)
    say(f"/lib/boards: {name}")
