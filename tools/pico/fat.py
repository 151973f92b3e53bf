"""A FAT12 file system as CircuitPython has it in its flash: made from files, with long names, never read back."""

SECTOR = 512
SECTORS = 4096  # 2 MiB
FATS = 1
FAT_SECTORS = 12
ROOT_ENTRIES = 512
FIRST_DATA = 1 + FATS * FAT_SECTORS + ROOT_ENTRIES * 32 // SECTOR  # a cluster is one sector, and the first is number 2
DIRECTORY = 0x10
LONG_NAME = 0x0F
END_OF_CHAIN = 0xFFF


class FatError(Exception):
    """The files do not fit."""


def image(files: dict[str, bytes]) -> bytes:
    """A file system with {"/lib/buslock/lock.py": data}."""
    tree: dict = {}
    for path, data in sorted(files.items()):
        folder = tree
        *folders, name = path.strip("/").split("/")
        for part in folders:
            folder = folder.setdefault(part, {})
        folder[name] = data
    return _Image(tree).content()


class _Image:
    def __init__(self, tree: dict):
        self._fat = [0xFF8, END_OF_CHAIN]
        self._data = bytearray()
        self._root = self._directory(tree)
        if len(self._root) > ROOT_ENTRIES * 32 or FIRST_DATA + len(self._data) // SECTOR > SECTORS:
            raise FatError(f"the files need more than the {SECTORS * SECTOR // 1024} KB of CircuitPython's disk")

    def content(self) -> bytes:
        fat = bytearray(FAT_SECTORS * SECTOR)
        for number, value in enumerate(self._fat):
            at = number * 3 // 2
            pair = int.from_bytes(fat[at : at + 2], "little") | (value << 4 if number & 1 else value)
            fat[at : at + 2] = pair.to_bytes(2, "little")
        root = bytes(self._root).ljust(ROOT_ENTRIES * 32, b"\0")
        return (_boot_sector() + fat * FATS + root + self._data).ljust(SECTORS * SECTOR, b"\0")

    def _store(self, data: bytes) -> int:
        """The number of the first cluster, 0 if there is nothing to store."""
        count = -(-len(data) // SECTOR)
        first = len(self._fat)
        self._fat += [*range(first + 1, first + count), END_OF_CHAIN] if count else []
        self._data += data.ljust(count * SECTOR, b"\0")
        return first if count else 0

    def _directory(self, tree: dict, parent: int | None = None) -> bytearray:
        """The entries of a folder. Its own clusters come before those of what is in it, which names them as ".."."""
        entries = bytearray()
        for number, (name, content) in enumerate(tree.items()):
            if isinstance(content, dict):
                cluster, size, kind = self._folder(content, parent or 0), 0, DIRECTORY
            else:
                cluster, size, kind = self._store(content), len(content), 0
            short = f"F{number:07}   ".encode()  # never shown: every entry has its long name
            entries += _long(name, short) + _entry(short, kind, cluster, size)
        return entries

    def _folder(self, tree: dict, parent: int) -> int:
        length = 64 + sum(32 + 32 * -(-len(name) // 13) for name in tree)
        cluster = self._store(bytes(length))
        at = (cluster - 2) * SECTOR
        dots = _entry(b".          ", DIRECTORY, cluster, 0) + _entry(b"..         ", DIRECTORY, parent, 0)
        self._data[at : at + length] = dots + self._directory(tree, cluster)
        return cluster


def _boot_sector() -> bytes:
    numbers = ((SECTOR, 2), (1, 1), (1, 2), (FATS, 1), (ROOT_ENTRIES, 2), (SECTORS, 2), (0xF8, 1), (FAT_SECTORS, 2))
    geometry = b"".join(value.to_bytes(size, "little") for value, size in numbers)
    rest = (63).to_bytes(2, "little") + (255).to_bytes(2, "little") + bytes(8) + b"\x80\0\x29" + b"BUS0"
    head = b"\xeb\xfe\x90MSDOS5.0" + geometry + rest + b"CIRCUITPY  " + b"FAT     "
    return head.ljust(510, b"\0") + b"\x55\xaa"


def _entry(short: bytes, kind: int, cluster: int, size: int) -> bytes:
    return short + bytes((kind,)) + bytes(14) + cluster.to_bytes(2, "little") + size.to_bytes(4, "little")


def _long(name: str, short: bytes) -> bytes:
    """The entries with the long name, its last part first."""
    checksum = 0
    for byte in short:
        checksum = ((checksum >> 1) + ((checksum & 1) << 7) + byte) & 0xFF
    units = name.encode("utf-16-le")
    count = -(-len(units) // 26)
    if len(units) < count * 26:
        units = (units + b"\0\0").ljust(count * 26, b"\xff")
    entries = b""
    for number in range(count, 0, -1):
        part = units[(number - 1) * 26 : number * 26]
        order = number | (0x40 if number == count else 0)
        head = bytes((order,)) + part[:10] + bytes((LONG_NAME, 0, checksum))
        entries += head + part[10:22] + bytes(2) + part[22:]
    return entries
