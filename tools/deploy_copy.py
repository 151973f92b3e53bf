"""Copying a package onto a board so that a half of it can never be imported.

It is copied under a name that no import finds, read back, and only then renamed; the old one goes last. Whatever
interrupts this, the board has the old package, the new one, or none; the next copying clears up.
"""
# pyright: reportMissingImports=false

import errno
import hashlib

from mpremote.transport import TransportExecError

from tools.deploy_board import LOST, Board, DeployError

CHUNK = 1024

FREE = """
import os
v = os.statvfs({lib!r})
sizes = []
try:
    sizes = [os.stat({target!r} + "/" + entry[0])[6] for entry in os.ilistdir({target!r})]
except OSError:
    pass
print(v[0], v[3], sum([(size + v[0] - 1) // v[0] for size in sizes]))
"""
REMOVE = """
import os
def remove(path):
    try:
        directory = os.stat(path)[0] & 0x4000
    except OSError:
        return
    if directory:
        for entry in os.ilistdir(path):
            remove(path + "/" + entry[0])
        os.rmdir(path)
    else:
        os.remove(path)
remove({path!r})
"""
# Not by name alone: an older file may be there as .py and as .mpy, and the .py would win. A line for each file, because
# mpremote takes a board that says nothing for 10 s for a dead one.
HASHES = """
import os, hashlib, binascii
def of(path):
    h = hashlib.sha256()
    with open(path, "rb") as f:
        while True:
            block = f.read(512)
            if not block:
                return binascii.hexlify(h.digest()).decode()
            h.update(block)
try:
    names = [entry[0] for entry in os.ilistdir({folder!r}) if not entry[1] & 0x4000]
except OSError:
    names = []
for name in names:
    print(repr((name, of({folder!r} + "/" + name))))
"""
MAKE_FOLDER = """
import os
try:
    os.mkdir({path!r})
except OSError as e:
    if e.errno != {there}:
        raise
"""
RENAME = """
import os
os.rename({old!r}, {new!r})
"""


class Copy:
    """One package for one board: files by their names in the package's folder, {"lock.mpy": data}."""

    def __init__(self, board: Board, package: str, files: dict[str, bytes], say, lib: str = "/lib"):
        self.board, self.package, self.files, self.say, self.lib = board, package, files, say, lib
        self.target = f"{lib}/{package}"
        self.new = f"{self.target}.new"
        self.old = f"{self.target}.old"

    def run(self) -> bool:
        """False if the board had exactly this already. DeployError: the old package, or none, is there."""
        self._make_folder(self.lib)
        self._remove(self.new)  # what an interrupted copying has left
        self._remove(self.old)
        wanted = {name: hashlib.sha256(data).hexdigest() for name, data in self.files.items()}
        there = self._hashes(self.target)
        if there == wanted:
            return False
        replaces = self._make_room()
        self._make_folder(self.new)
        try:
            self._write()
            self._verify(wanted)
        except DeployError:
            self._remove_quietly(self.new)
            raise
        if replaces:
            self.board.run(RENAME.format(old=self.target, new=self.old))
        self.board.run(RENAME.format(old=self.new, new=self.target))
        self._remove(self.old)
        return True

    def _make_room(self) -> bool:
        """Whether there is an old package to be replaced at the end, and not removed at once to make room."""
        block, free, used = map(int, self.board.run(FREE.format(lib=self.lib, target=self.target)).split())
        needed = sum(-(-len(data) // block) for data in self.files.values()) + 2
        if needed > free + used:
            kilobytes = f"it needs {needed * block // 1024} KB and {(free + used) * block // 1024} KB are free"
            raise self._full(kilobytes + (", without the package that is there" if used else ""))
        there = bool(self._hashes(self.target))
        if not there or needed <= free:
            return there
        self.say("no room for two: removing the old one first")
        # First under a name that no import finds, so that half of it cannot be imported either.
        self.board.run(RENAME.format(old=self.target, new=self.old))
        self._remove(self.old)
        return False

    def _full(self, text: str) -> DeployError:
        return DeployError(
            f"the board's disk is full: {text}. Copy less, such as --only i2c, or delete files on the board "
            f"(`mpremote connect {self.board.port.device} ls`, `… rm NAME`)"
        )

    def _write(self) -> None:
        done, total = 0, sum(map(len, self.files.values())) or 1
        for number, (name, data) in enumerate(sorted(self.files.items()), 1):
            place = f"{number:3}/{len(self.files)} {done * 100 // total:3}%"
            self.say(f"{place} {self.package}/{name} ({len(data)} bytes)", True)
            try:
                self.board.transport.fs_writefile(f"{self.new}/{name}", data, chunk_size=CHUNK)
            except TransportExecError as e:
                raise DeployError(f"the board could not write {name}:\n{e.error_output}") from None
            except OSError as e:
                if e.errno == errno.ENOSPC:
                    raise self._full(f"it ended at {name}") from None
                if e.errno == errno.EROFS:
                    raise DeployError("the board's file system is read-only; is it mounted on this computer?") from None
                raise self.board.lost(e) from None
            except LOST as e:
                raise self.board.lost(e) from None
            done += len(data)

    def _verify(self, wanted: dict[str, str]) -> None:
        there = self._hashes(self.new)
        bad = sorted(name for name in wanted if there.get(name) != wanted[name])
        if bad:
            raise DeployError(f"the board has not stored {', '.join(bad)} as sent; try again")

    def _hashes(self, folder: str) -> dict[str, str]:
        import ast

        return dict(map(ast.literal_eval, self.board.run(HASHES.format(folder=folder)).strip().splitlines()))

    def _make_folder(self, path: str) -> None:
        self.board.run(MAKE_FOLDER.format(path=path, there=errno.EEXIST))

    def _remove(self, path: str) -> None:
        self.board.run(REMOVE.format(path=path))

    def _remove_quietly(self, path: str) -> None:
        """After an error, which is the one to be told."""
        try:
            self._remove(path)
        except DeployError:
            self.say(f"{path} is left on the board; no import finds it, and the next copying removes it")
